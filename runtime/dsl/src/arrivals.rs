//! Asynchronous rounds: updates that arrive one by one or in buffers.

use fedround_ir::Loc;
use fedround_ir::fed::FedOp;

use crate::{Cohort, Count, Gathered, Scalar, ServerCx};

impl ServerCx {
    /// The next `buffer` clients whose updates arrive, of `in_flight` clients that train at the same time. The
    /// order is that of the virtual clock (`--speed`, `--bandwidth`); of updates that arrive at once, those of
    /// clients that began earlier come first, and then those of lower numbers.
    ///
    /// A round is then one step of the server: first, clients drawn at random from those that do not train
    /// begin, until `in_flight` do, each with what the server [dispatches](crate::Server::dispatch) in this round;
    /// then the server takes the updates of this cohort. The others go on training.
    #[track_caller]
    pub fn arrivals(&self, in_flight: impl Count, buffer: impl Count) -> Cohort {
        let (in_flight, buffer) = (in_flight.into_index(), buffer.into_index());
        self.numbered(FedOp::Arrivals, in_flight, buffer, Loc::caller())
    }
}

impl Cohort {
    /// For each client of a cohort of [`arrivals`](ServerCx::arrivals), how many rounds were completed since
    /// it began: `t − τ`.
    #[track_caller]
    pub fn staleness(&self) -> Gathered<Scalar> {
        Gathered::of_op(&self.graph, FedOp::Staleness, &[self.value], Loc::caller())
    }
}
