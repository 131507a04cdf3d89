//! Sending a value from the server to the clients of a cohort.

use fedround_ir::Loc;
use fedround_ir::fed::FedOp;

use crate::wire::Wire;
use crate::{Clients, Cohort, Server};

impl<T: Wire> Server<T> {
    /// Sends the value to every client of a cohort.
    #[track_caller]
    pub fn broadcast(&self, cohort: &Cohort) -> Clients<T> {
        let loc = Loc::caller();
        self.graph.same(&cohort.graph, "broadcast", loc);
        let operands = [self.value, cohort.value];
        Clients::of_op(&self.graph, FedOp::Broadcast, &operands, loc)
    }

    /// Sends the value to the clients that begin in this round, and gives each client of a cohort of
    /// [`arrivals`](crate::ServerCx::arrivals) what it was sent when it began: the value of that round.
    #[track_caller]
    pub fn dispatch(&self, arrivals: &Cohort) -> Clients<T> {
        let loc = Loc::caller();
        self.graph.same(&arrivals.graph, "dispatch", loc);
        let operands = [self.value, arrivals.value];
        Clients::of_op(&self.graph, FedOp::Dispatch, &operands, loc)
    }
}
