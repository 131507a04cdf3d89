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
}
