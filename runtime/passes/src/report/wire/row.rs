//! A row of the wire table: a value that is sent, what protects it, and how many bytes it is.

use std::collections::BTreeSet;
use std::fmt;

use fedround_ir::Loc;
use fedround_ir::fed::{Direction, Kind, Topology, Value};

use super::derivation::Derivation;
use crate::fed::analysis::{Encoded, Leaves};

/// What protects single clients from being recognised in a value, and why the value may leave a client.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Protection {
    /// Its norm is bounded on the client.
    pub clipped: bool,
    /// Who adds noise to it.
    pub noise: Option<Noise>,
    /// The stated reasons for its release, if it was derived from examples.
    pub released: BTreeSet<String>,
}

/// Who adds noise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Noise {
    /// The client, before it sends the value.
    Local,
    /// The server, to every aggregate of the value before anything else reads the aggregate.
    Central,
}

/// A value that is sent in each round, once for each client.
#[derive(Clone, Debug)]
pub struct Wire {
    /// The value: the result of a broadcast or scatter, or the operand of a reduction or gather.
    pub value: Value,
    /// The op that sends it, such as `fed.broadcast`.
    pub op: String,
    /// Whether it goes to the clients or to the server.
    pub direction: Direction,
    /// [`Kind::Params`], [`Kind::Scalar`], [`Kind::Tensor`] or [`Kind::Labels`].
    pub kind: Kind,
    /// The parameters that are not sent, because the receiver has them.
    pub without: Leaves,
    /// How it is encoded, if it is.
    pub encoded: Option<Encoded>,
    /// Whether it is read only as the first value of a client's state. That is the initial model, which
    /// everyone can compute from the seed, so that no bytes are sent.
    pub initial: bool,
    /// Whether it is sent once for each of the `m` clients whose values visit other clients.
    pub visits: bool,
    /// The topology along whose edges clients send it to each other, if they do.
    pub peers: Option<Topology>,
    /// What it is derived from.
    pub derived: Derivation,
    /// What protects it.
    pub protection: Protection,
    /// The cohort that it is exchanged with: the result of the op that makes it.
    pub cohort: Option<Value>,
    /// How often a round sends it: loops of the server around it have so many turns.
    pub times: u64,
    /// The number of the exchange in the round, from 1; in a loop, of its last turn. What is sent in an exchange may depend on what the
    /// server received in the one before.
    pub exchange: usize,
    /// The place in the algorithm that sends it.
    pub loc: Loc,
}

/// What bytes on the wire depend on. A function that counts the parameters that are not in a set of leaves
/// is one: of a model with one tensor.
pub trait Sizes {
    /// Counts the model's parameters that are not in a set of leaves.
    fn parameters_without(&self, leaves: &Leaves) -> usize;

    /// The shapes of the model's tensors.
    fn shapes(&self) -> Vec<Vec<usize>>;
}

impl<F: Fn(&Leaves) -> usize> Sizes for F {
    fn parameters_without(&self, leaves: &Leaves) -> usize {
        self(leaves)
    }

    fn shapes(&self) -> Vec<Vec<usize>> {
        vec![vec![self(&Leaves::default())]]
    }
}

/// The sizes of a model.
pub type Count<'a> = &'a dyn Sizes;

impl Wire {
    /// What it is: `parameters`, `number`, `features` or `labels`.
    pub fn noun(&self) -> &'static str {
        match self.kind {
            Kind::Params => "parameters",
            Kind::Tensor => "features",
            Kind::Labels => "labels",
            _ => "number",
        }
    }

    /// Bytes per client of the cohort and round, in `f32` unless it is encoded. `None` for features and
    /// labels, whose size depends on the model and the batch, and for visits, whose number depends on the
    /// size of the cohort.
    pub fn bytes(&self, parameters: Count<'_>) -> Option<usize> {
        let once = match self.kind {
            _ if self.initial => 0,
            _ if self.visits => return None,
            _ if self.peers.is_some_and(|peers| peers.degree().is_none()) => return None,
            Kind::Params => self.parameter_bytes(parameters),
            Kind::Scalar => 4,
            _ => return None,
        };
        Some(once.saturating_mul(self.times as usize))
    }

    /// Bytes of one value, if it is parameters.
    pub fn parameter_bytes(&self, parameters: Count<'_>) -> usize {
        match &self.encoded {
            _ if self.initial => 0,
            Some(encoded) => encoded.codec.bytes(&parameters.shapes()),
            None => 4 * parameters.parameters_without(&self.without),
        }
    }

    /// [`Wire::bytes`] as a formula in `P`, the number of parameters, `P[head]`, that of a part's,
    /// `F`, the number of features, `L`, the number of labels, `m`, the number of visits or of clients, and
    /// `e`, that of the edges from a client that a matrix has; and of what is encoded, its codec:
    /// `top-k(P, share)`.
    pub fn formula(&self) -> String {
        match self.initial {
            true => "0, the initial model".to_owned(),
            false if self.is_known() => "0".to_owned(),
            false => match (&self.encoded, self.times) {
                (Some(encoded), 1) => encoded.formula.clone(),
                (Some(encoded), times) => format!("{times}·{}", encoded.formula),
                (None, times) => format!("{}{}", times.saturating_mul(4), self.symbol()),
            },
        }
    }

    /// Whether the other side has all of it.
    pub(crate) fn is_known(&self) -> bool {
        self.initial || (self.kind == Kind::Params && self.without == Leaves::all())
    }

    /// What is counted: `P`, `(P − P[head])`, `F`, `L` or nothing, and `m`, `(m − 1)` or `e` times that.
    pub(crate) fn symbol(&self) -> String {
        let one = match self.kind {
            Kind::Params => self.without.outside(),
            Kind::Scalar => String::new(),
            Kind::Labels => "L".to_owned(),
            _ => "F".to_owned(),
        };
        match self.peers {
            _ if self.visits => format!("m{one}"),
            Some(Topology::Matrix) => format!("e{one}"),
            Some(Topology::Complete) => format!("(m − 1){one}"),
            _ => one,
        }
    }
}

impl fmt::Display for Protection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A bound alone hides nobody.
        let clip = (self.clipped && self.noise.is_some()).then(|| "clip".to_owned());
        let noise = self.noise.map(|noise| match noise {
            Noise::Local => "noise by the client".to_owned(),
            Noise::Central => "noise by the server".to_owned(),
        });
        let released = self.released.iter().map(|why| format!("released: {why}"));
        let all: Vec<String> = clip.into_iter().chain(noise).chain(released).collect();
        f.write_str(match (all.is_empty(), self.clipped) {
            (true, true) => "none, clipped alone",
            (true, false) => "none",
            (false, _) => "",
        })?;
        f.write_str(&all.join(", "))
    }
}
