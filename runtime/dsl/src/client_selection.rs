//! Cohorts that the server chooses: at random, by scores, or by a choice that clients reported.

use fedround_ir::Loc;
use fedround_ir::fed::{Choice, FedOp, Value};

use crate::clients::mapped;
use crate::gathered::AllOnServer;
use crate::graph::{Graph, only};
use crate::rate::Rate;
use crate::wire::{Computed, Upload, Wire};
use crate::{Clients, Cohort, Gathered, PerClientCx, Scalar, Server, ServerCx};

/// A number of the server.
fn number(graph: &Graph, n: impl Rate, loc: Loc) -> Value {
    n.rate(loc).value_in(graph, loc)
}

impl ServerCx {
    #[track_caller]
    fn choose(&self, choice: Choice, operands: &[Value]) -> Cohort {
        let op = FedOp::Choose(choice);
        Cohort::of_op(&self.graph, op, operands, Loc::caller())
    }

    /// Each client takes part with probability `p`, from 0 to 1, independently of all others. If nobody
    /// does, a round that sends something to the cohort is skipped.
    #[track_caller]
    pub fn bernoulli(&self, p: impl Rate) -> Cohort {
        let p = number(&self.graph, p, Loc::caller());
        self.choose(Choice::Bernoulli, &[p])
    }

    /// As [`bernoulli`](Self::bernoulli), of the clients of a cohort, each with its own probability.
    #[track_caller]
    pub fn bernoulli_by(&self, p: &Gathered<Scalar>) -> Cohort {
        self.choose(Choice::Bernoulli, &[p.value])
    }

    /// Draws `count` clients without replacement, each next one with probability proportional to its score
    /// among those that are left. A client whose score is 0 or less is never drawn; if there are fewer
    /// others, all of them are. The count is rounded.
    #[track_caller]
    pub fn sample_by(&self, scores: &Gathered<Scalar>, count: impl Rate) -> Cohort {
        let count = number(&self.graph, count, Loc::caller());
        self.choose(Choice::SampleBy, &[scores.value, count])
    }

    /// The `count` clients with the largest scores; of equal ones, those with the smaller numbers. The count
    /// is rounded.
    #[track_caller]
    pub fn top(&self, scores: &Gathered<Scalar>, count: impl Rate) -> Cohort {
        let count = number(&self.graph, count, Loc::caller());
        self.choose(Choice::Top, &[scores.value, count])
    }

    /// The clients whose number is above 0.
    #[track_caller]
    pub fn clients_where(&self, numbers: &Gathered<Scalar>) -> Cohort {
        self.choose(Choice::Where, &[numbers.value])
    }
}

impl Cohort {
    /// The clients of either cohort, each once.
    #[must_use]
    #[track_caller]
    pub fn union(&self, other: &Self) -> Self {
        let loc = Loc::caller();
        self.graph.same(&other.graph, "union", loc);
        let operands = [self.value, other.value];
        Self::of_op(&self.graph, FedOp::Choose(Choice::Union), &operands, loc)
    }

    /// Runs code on the server, once for each client of the cohort, with what the server keeps for it:
    /// `server.all_clients().map_on_server(|k| k.scalar_state("loss"))`. Nothing is sent.
    #[track_caller]
    pub fn map_on_server<U: Computed>(
        &self,
        body: impl FnOnce(&PerClientCx) -> U,
    ) -> U::At<AllOnServer> {
        let (op, loc) = (FedOp::Members, Loc::caller());
        let numbers = Gathered::<Scalar>::of_op(&self.graph, op, &[self.value], loc);
        numbers.map(|k, _| body(k))
    }
}

impl Gathered<Scalar> {
    /// The `n`-th largest of the numbers, from 1; of fewer numbers the smallest.
    #[track_caller]
    pub fn nth_largest(&self, n: impl Rate) -> Server<Scalar> {
        let loc = Loc::caller();
        let operands = [self.value, number(&self.graph, n, loc)];
        Server::of_op(&self.graph, FedOp::NthLargest, &operands, loc)
    }
}

impl<T: Wire> Gathered<T> {
    /// The values of the clients of a cohort, all of whom must have one.
    #[must_use]
    #[track_caller]
    pub fn restrict(&self, cohort: &Cohort) -> Self {
        let loc = Loc::caller();
        self.graph.same(&cohort.graph, "restrict", loc);
        let operands = [self.value, cohort.value];
        Self::of_op(&self.graph, FedOp::Restrict, &operands, loc)
    }
}

impl<T: Wire + Upload> Clients<T> {
    /// The values of the clients of a cohort, all of whom must have one: what a client that is not among
    /// them has computed is never sent.
    #[must_use]
    #[track_caller]
    pub fn restrict(&self, cohort: &Cohort) -> Self {
        let (graph, loc) = (&self.graph, Loc::caller());
        graph.same(&cohort.graph, "restrict", loc);
        let operands = [self.value, cohort.value];
        let kept = graph.op(FedOp::Restrict, &operands, loc);
        // They come from a map of their own, so that they are added up one by one.
        let sent = mapped(graph, &[kept], &[T::KIND], loc, |_, x| {
            T::bind(graph, only(x))
        });
        Self::new(graph, only(&sent))
    }
}
