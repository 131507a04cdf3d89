//! Clients that send to each other.

use fedround_ir::Loc;
use fedround_ir::fed::{FedOp, Topology, Value};

use crate::clients::{Clients, Zipped};
use crate::graph::only;
use crate::map_operands::MapOperands;
use crate::wire::Wire;
use crate::{Params, Server};

impl<T: Wire> Clients<T> {
    /// Each client sends its parameters or its number to the neighbours that it has in a topology, and has
    /// the weighted sum of its own and what it receives. Nothing goes through the server.
    #[must_use]
    #[track_caller]
    pub fn mix(&self, topology: Topology) -> Self {
        let op = FedOp::Mix(topology);
        Self::of_op(&self.graph, op, &[self.value], Loc::caller())
    }
}

impl<A: Wire, B: Wire> Zipped<Clients<A>, Clients<B>> {
    /// As [`Clients::mix`]: both values along the same edges.
    #[must_use]
    #[track_caller]
    pub fn mix(&self, topology: Topology) -> (Clients<A>, Clients<B>) {
        let loc = Loc::caller();
        let graph = self.graph();
        let operands = self
            .operands(graph, loc)
            .into_iter()
            .map(|(value, _)| value);
        let operands: Vec<Value> = operands.collect();
        let mixed = graph.with(|builder| builder.push(FedOp::Mix(topology), &operands, loc));
        let second = only(mixed.get(1..).unwrap_or_default());
        (
            Clients::new(graph, only(&mixed)),
            Clients::new(graph, second),
        )
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
