//! Cohorts: the clients that take part in a round.

use fedround_ir::Loc;
use fedround_ir::fed::{FedOp, Value};

use crate::graph::Graph;
use crate::wire::Wire;
use crate::{Count, Index, Scalar, Server, ServerCx};

/// The clients selected for a round.
#[derive(Clone, Debug)]
pub struct Cohort {
    pub(crate) graph: Graph,
    pub(crate) value: Value,
}

impl Cohort {
    pub(crate) fn new(graph: &Graph, value: Value) -> Self {
        Self {
            graph: graph.clone(),
            value,
        }
    }

    /// The result of an op.
    pub(crate) fn of_op(graph: &Graph, op: FedOp, operands: &[Value], loc: Loc) -> Self {
        Self::new(graph, graph.op(op, operands, loc))
    }
}

impl ServerCx {
    /// Samples `max(C·K, 1)` of the `K` clients without replacement; `fraction` is `C`, from 0 to 1. For a number of
    /// clients, see [`rotating`](Self::rotating) and [`reshuffled`](Self::reshuffled).
    #[track_caller]
    pub fn sample(&self, fraction: impl Into<Scalar>) -> Cohort {
        let loc = Loc::caller();
        let fraction = fraction.into().value_in(&self.graph, loc);
        Cohort::of_op(&self.graph, FedOp::Sample, &[fraction], loc)
    }

    /// The clients with the numbers `first` to `first + count − 1`.
    #[track_caller]
    pub fn clients(&self, first: impl Count, count: impl Count) -> Cohort {
        self.numbered(
            FedOp::Within,
            first.into_index(),
            count.into_index(),
            Loc::caller(),
        )
    }

    /// All clients except those with the numbers `first` to `first + count − 1`.
    #[track_caller]
    pub fn clients_except(&self, first: impl Count, count: impl Count) -> Cohort {
        self.numbered(
            FedOp::Outside,
            first.into_index(),
            count.into_index(),
            Loc::caller(),
        )
    }

    /// `size` clients. In each round, `dropped` of them are replaced by other clients at random. With
    /// `dropped = size`, no client takes part in two rounds in a row.
    #[track_caller]
    pub fn rotating(&self, size: impl Count, dropped: impl Count) -> Cohort {
        let (size, dropped) = (size.into_index(), dropped.into_index());
        self.numbered(FedOp::Rotating, size, dropped, Loc::caller())
    }

    /// The next `m` clients of a random order of all. After `⌊K/m⌋` rounds, which are a pass, the clients are
    /// shuffled again. A client takes part at most once in a pass; those that are left over at its end, fewer
    /// than `m`, take no part in it. (Cohorts of random reshuffling.)
    ///
    /// Noise on sums over such cohorts hides a client once a pass: see
    /// [`tree_noise`](crate::Server::tree_noise).
    #[track_caller]
    pub fn reshuffled(&self, m: impl Count) -> Cohort {
        let m = m.into_index().value_in(&self.graph);
        Cohort::of_op(&self.graph, FedOp::Reshuffled, &[m], Loc::caller())
    }

    pub(crate) fn numbered(&self, op: FedOp, first: Index, count: Index, loc: Loc) -> Cohort {
        let operands = [first.value_in(&self.graph), count.value_in(&self.graph)];
        Cohort::of_op(&self.graph, op, &operands, loc)
    }

    /// All clients.
    #[track_caller]
    pub fn all_clients(&self) -> Cohort {
        Cohort::of_op(&self.graph, FedOp::AllClients, &[], Loc::caller())
    }

    /// The cohort that was made last in this round. A plug-in uses it to continue with the clients that the
    /// `round` of its base drew. If there is none, linking the algorithm is an error.
    #[track_caller]
    pub fn current_cohort(&self) -> Cohort {
        Cohort::of_op(&self.graph, FedOp::CurrentCohort, &[], Loc::caller())
    }
}

impl Cohort {
    /// `m`: the number of clients of this cohort whose values the server combines in this round. Clients that
    /// fail or are late do not count. Nothing is sent for it. The number of all clients is
    /// [`ServerCx::num_clients`].
    #[track_caller]
    pub fn num_clients(&self) -> Server<Scalar> {
        Server::of_op(&self.graph, FedOp::CohortSize, &[self.value], Loc::caller())
    }

    /// Samples `max(C·m, 1)` of the `m` clients of this cohort without replacement.
    #[must_use]
    #[track_caller]
    pub fn sample(&self, fraction: impl Into<Scalar>) -> Self {
        let loc = Loc::caller();
        let operands = [fraction.into().value_in(&self.graph, loc), self.value];
        Self::of_op(&self.graph, FedOp::Sample, &operands, loc)
    }
}
