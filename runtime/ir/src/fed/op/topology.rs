//! The graphs of clients that send to each other.

use fedround_names::nearest;

use crate::text::attribute::{AttributeText, Codec, Piece, TextAttributes};
use crate::text::codecs::Quoted;

/// The edges of a `fed.mix` over the `m` clients of a cohort, by their places in it, and the weights. The
/// weights of what a client sends, and of what it keeps, sum to 1.
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
}

impl Topology {
    /// Every topology.
    pub const ALL: [Self; 5] = [
        Self::Ring,
        Self::Torus,
        Self::Complete,
        Self::Exponential,
        Self::Random,
    ];

    /// Its name in text.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ring => "ring",
            Self::Torus => "torus",
            Self::Complete => "complete",
            Self::Exponential => "exponential",
            Self::Random => "random",
        }
    }

    /// To how many others a client sends, in cohorts with so many others at least; `None` is all of them.
    pub const fn degree(self) -> Option<usize> {
        match self {
            Self::Ring => Some(2),
            Self::Torus => Some(4),
            Self::Complete => None,
            Self::Exponential | Self::Random => Some(1),
        }
    }
}

/// `"ring"` and the others.
pub(super) struct TopologyName;

impl Codec<Topology> for TopologyName {
    fn write(value: &Topology, label: &'static str, to: &mut AttributeText) {
        Quoted::write(&value.name().to_owned(), label, to);
    }

    fn read(_: &'static str, from: &mut TextAttributes) -> Result<Topology, String> {
        let names = || Topology::ALL.into_iter().map(Topology::name);
        let mut found = String::new();
        let topology = from.plain(|piece| match piece {
            Piece::Text(name) => {
                found.clone_from(name);
                Topology::ALL
                    .into_iter()
                    .find(|topology| topology.name() == name)
            }
            _ => None,
        });
        topology.ok_or_else(|| match nearest(&found, names()) {
            Some(name) => format!("a topology (did you mean `\"{name}\"`?)"),
            None => {
                let names: Vec<String> = names().map(|name| format!("`\"{name}\"`")).collect();
                format!("a topology, one of {}", names.join(", "))
            }
        })
    }
}
