//! Clients that send to each other.

use fedround_ir::Loc;
use fedround_ir::fed::{FedOp, Topology, Value};

use crate::clients::{Clients, Zipped};
use crate::graph::only;
use crate::map_operands::MapOperands;
use crate::wire::Wire;
use crate::{Count, Params, Server, ServerCx, Tensor};

impl<T: Wire> Clients<T> {
    /// Each client sends its parameters or its number to the neighbours that it has in a topology, and has
    /// the weighted sum of its own and what it receives. Nothing goes through the server.
    #[must_use]
    #[track_caller]
    pub fn mix(&self, topology: Topology) -> Self {
        let op = FedOp::Mix(topology);
        Self::of_op(&self.graph, op, &[self.value], Loc::caller())
    }

    /// As [`mix`](Self::mix), with the weights of a matrix: row `i` has those of what client `i` receives
    /// from each client, and of what it keeps, and sums to 1. A weight of 0 is no edge.
    ///
    /// The matrix has a row and a column for each client of the cohort, in its order. If it has one for
    /// each of all clients, and clients are missing, a client keeps the weights of those.
    #[must_use]
    #[track_caller]
    pub fn mix_by(&self, weights: &Server<Tensor>) -> Self {
        let loc = Loc::caller();
        self.graph.same(&weights.graph, "mix_by", loc);
        let operands = [self.value, weights.value];
        Self::of_op(&self.graph, FedOp::Mix(Topology::Matrix), &operands, loc)
    }
}

impl<A: Wire, B: Wire> Zipped<Clients<A>, Clients<B>> {
    /// As [`Clients::mix`]: both values along the same edges.
    #[must_use]
    #[track_caller]
    pub fn mix(&self, topology: Topology) -> (Clients<A>, Clients<B>) {
        self.mixed(topology, None, Loc::caller())
    }

    /// As [`Clients::mix_by`]: both values along the same edges.
    #[must_use]
    #[track_caller]
    pub fn mix_by(&self, weights: &Server<Tensor>) -> (Clients<A>, Clients<B>) {
        let loc = Loc::caller();
        self.graph().same(&weights.graph, "mix_by", loc);
        self.mixed(Topology::Matrix, Some(weights.value), loc)
    }

    fn mixed(
        &self,
        topology: Topology,
        weights: Option<Value>,
        loc: Loc,
    ) -> (Clients<A>, Clients<B>) {
        let graph = self.graph();
        let values = self.operands(graph, loc).into_iter();
        let operands: Vec<Value> = values.map(|(value, _)| value).chain(weights).collect();
        let mixed = graph.with(|builder| builder.push(FedOp::Mix(topology), &operands, loc));
        let second = only(mixed.get(1..).unwrap_or_default());
        (
            Clients::new(graph, only(&mixed)),
            Clients::new(graph, second),
        )
    }
}

/// A random graph in which each client has so many neighbours, drawn anew in each round: a
/// [`Topology::Regular`] whose degree may be a hyper-parameter.
pub fn regular(degree: impl Count) -> Topology {
    Topology::Regular(degree.into_index().count())
}

impl ServerCx {
    /// A constant matrix, row by row, such as the weights of [`Clients::mix_by`]. It is a part of the graph.
    #[track_caller]
    pub fn matrix(&self, rows: &[impl AsRef<[f32]>]) -> Server<Tensor> {
        let columns = rows.first().map_or(0, |row| row.as_ref().len());
        let each = rows.iter().flat_map(|row| row.as_ref());
        let mut entries: Vec<f64> = each.map(|x| f64::from(*x)).collect();
        if rows.iter().any(|row| row.as_ref().len() != columns) {
            // The verifier refuses a matrix with such an entry.
            entries.push(f64::NAN);
        }
        let op = FedOp::Matrix(columns, entries);
        Server::of_op(&self.graph, op, &[], Loc::caller())
    }
}

impl Clients<Params> {
    /// The mean over the clients, which evaluation tests. It is a measurement of a simulation: nothing is
    /// sent, and a round may only return it. A run reports the consensus distance, the mean squared
    /// distance of the clients' parameters from their mean.
    #[must_use]
    #[track_caller]
    pub fn consensus(&self) -> Server<Params> {
        Server::of_op(&self.graph, FedOp::Consensus, &[self.value], Loc::caller())
    }
}
