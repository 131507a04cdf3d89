//! `opt.*`: batches, rows, loops and gradients.

use super::super::Place;
use super::effect::Effect;
use crate::text::codecs::Count;
use crate::text::ops;

/// An op of local training.
#[derive(Clone, Debug, PartialEq)]
pub enum OptOp {
    /// `opt.for_batches`: `(client, index epochs, index size, T…) -> T…`; the region's arguments
    /// are the batch and the carried values, its yields the next carried values.
    ForBatches,
    /// `opt.batch`: `(client, index size) -> batch`; one batch, drawn anew at each use.
    OneBatch,
    /// `opt.collect`: `(client, index size) -> tensor | labels…`; the region's argument is a batch, its
    /// yields have a row for each of its examples. Every example of the client is in exactly one batch,
    /// and the results are the rows of all batches.
    Collect,
    /// `opt.for_rows`: `(index epochs, index size, tensor | labels…, T…) -> T…`; as
    /// [`OptOp::ForBatches`], over the rows of that many values. The `i`-th rows of all values belong
    /// together.
    ForRows(usize),
    /// `opt.sample_rows`: `(index n | f32 share, tensor | labels…) -> tensor | labels…`; `n` rows or that
    /// share of them at random, the same rows of each value, drawn anew at each use. If there are fewer
    /// rows, all of them.
    SampleRows,
    /// `opt.smallest_rows`: `(index n, tensor key, tensor | labels…) -> tensor | labels…`; the `n` rows of
    /// each value with the smallest keys, in ascending order of the key; of equal keys, the earlier row
    /// comes first. If there are fewer rows, all of them.
    SmallestRows,
    /// `opt.repeat`: `(index n, T…) -> T…`; the region's arguments and yields are the carried values.
    Repeat,
    /// `opt.grad`: `(T) -> T, f32` for parameters or a tensor; gradient and value of the region, a
    /// function of them to one scalar.
    Grad,
}

ops! { OptOp {
    "opt.for_batches" = ForBatches [];
    "opt.batch" = OneBatch [];
    "opt.collect" = Collect [];
    "opt.for_rows" = ForRows [rows: Count];
    "opt.sample_rows" = SampleRows [];
    "opt.smallest_rows" = SmallestRows [];
    "opt.repeat" = Repeat [];
    "opt.grad" = Grad [];
} }

impl OptOp {
    pub(super) fn place(&self) -> Option<Place> {
        match self {
            Self::ForBatches | Self::OneBatch | Self::Collect => Some(Place::Client),
            Self::ForRows(_)
            | Self::SampleRows
            | Self::SmallestRows
            | Self::Repeat
            | Self::Grad => None,
        }
    }

    pub(super) fn effect(&self) -> Effect {
        match self {
            Self::OneBatch | Self::SampleRows => Effect::Draws,
            Self::SmallestRows => Effect::Pure,
            Self::ForBatches | Self::Collect | Self::ForRows(_) | Self::Repeat | Self::Grad => {
                Effect::Regions
            }
        }
    }

    /// The position of a loop's carried values: how many operands, and how many arguments of its region,
    /// stand before them.
    pub fn carried_from(&self) -> Option<(usize, usize)> {
        match self {
            Self::ForBatches => Some((3, 1)),
            Self::ForRows(n) => Some((2 + n, *n)),
            Self::Repeat => Some((1, 0)),
            Self::OneBatch | Self::Collect | Self::SampleRows | Self::SmallestRows | Self::Grad => {
                None
            }
        }
    }
}
