//! Reductions of a whole cohort's values on the server.

/// How the values of a cohort are reduced to one value on the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reduce {
    /// `Σ x_k`.
    Sum,
    /// `1/m Σ x_k`.
    Mean,
    /// `Σ n_k x_k / Σ n_k`; the op's second operand holds the weights `n_k`.
    WeightedMean,
    /// `Σ n_k x_k`, with weights like those of a weighted mean, which may all be 0.
    WeightedSum,
    /// The median of each entry, of gathered values; of an even number, the mean of the middle two.
    Median,
    /// The mean of each entry without its `⌊β m⌋` smallest and largest values, of gathered values; the
    /// op's second operand is `β`, from 0 to below ½.
    TrimmedMean,
}

impl Reduce {
    /// Whether it is made of sums. A sum is added up value by value, as the values arrive, and by
    /// several parties; what is not needs all values at once.
    pub fn is_sum(self) -> bool {
        match self {
            Self::Sum | Self::Mean | Self::WeightedMean | Self::WeightedSum => true,
            Self::Median | Self::TrimmedMean => false,
        }
    }
}

/// What is measured of each pair of a cohort's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Pairwise {
    /// `‖x_i − x_j‖²`.
    SqDistances,
    /// `⟨x_i, x_j⟩ / (‖x_i‖ ‖x_j‖)`; 0 where a norm is 0.
    Cosines,
}
