//! The graphs of clients that send to each other.

use super::codec::quoted_name;
use crate::text::attribute::{AttributeText, Codec, TextAttributes};
use crate::text::codecs::{Count, Quoted};

/// The edges of a `fed.mix` over the `m` clients of a cohort, by their places in it, and the weights. The
/// weights of what a client sends, and of what it keeps, sum to 1, except those of a matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Topology {
    /// `"ring"`: the two neighbours in a circle; weights 1/3.
    Ring,
    /// `"torus"`: the four neighbours in a grid whose borders meet; weights 1/5.
    Torus,
    /// `"complete"`: all others; weights `1/m`.
    Complete,
    /// `"exponential"`: in round `t`, client `i` sends to client `i + 2^(t mod p)` with
    /// `p = ⌈log₂ m⌉`; weights 1/2.
    Exponential,
    /// `"random"`: each client sends to one other, drawn anew in each round; weights 1/2. Some receive
    /// from several, others from none, so that only the sum is preserved.
    Random,
    /// `"pairs"`: the clients in pairs, drawn anew in each round, that send to each other; weights 1/2. Of
    /// an odd number of clients, one is alone.
    Pairs,
    /// `"regular" d`: a graph in which each client has `d` neighbours, drawn anew in each round, along
    /// whose edges both send; weights `1/(d + 1)`. If `m d` is odd, some clients have a neighbour fewer
    /// and keep more of their own.
    Regular(usize),
    /// `"matrix"`: the last operand, `tensor@server` of `[m, m]`, has in row `i` the weights of what client
    /// `i` receives, which sum to 1. There is an edge where the weight is not 0.
    Matrix,
}

impl Topology {
    /// Every topology; the regular one with two neighbours.
    pub const ALL: [Self; 8] = [
        Self::Ring,
        Self::Torus,
        Self::Complete,
        Self::Exponential,
        Self::Random,
        Self::Pairs,
        Self::Regular(2),
        Self::Matrix,
    ];

    /// Its name in text.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ring => "ring",
            Self::Torus => "torus",
            Self::Complete => "complete",
            Self::Exponential => "exponential",
            Self::Random => "random",
            Self::Pairs => "pairs",
            Self::Regular(_) => "regular",
            Self::Matrix => "matrix",
        }
    }

    /// To how many others a client sends, in cohorts with so many others at least, if that is known when
    /// the graph is built.
    pub const fn degree(self) -> Option<usize> {
        match self {
            Self::Ring => Some(2),
            Self::Torus => Some(4),
            Self::Complete | Self::Matrix => None,
            Self::Exponential | Self::Random | Self::Pairs => Some(1),
            Self::Regular(degree) => Some(degree),
        }
    }

    /// Whether its edges are drawn anew in each round.
    pub const fn is_random(self) -> bool {
        matches!(self, Self::Random | Self::Pairs | Self::Regular(_))
    }
}

/// `"ring"` and the others; `"regular" 4` with its degree.
pub(super) struct TopologyName;

impl Codec<Topology> for TopologyName {
    fn write(value: &Topology, label: &'static str, to: &mut AttributeText) {
        Quoted::write(&value.name().to_owned(), label, to);
        if let Topology::Regular(degree) = value {
            Count::write(degree, label, to);
        }
    }

    fn read(label: &'static str, from: &mut TextAttributes) -> Result<Topology, String> {
        match quoted_name(from, "a topology", Topology::ALL, Topology::name)? {
            Topology::Regular(_) => Count::read(label, from).map(Topology::Regular),
            topology => Ok(topology),
        }
    }
}
