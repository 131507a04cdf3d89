//! Clients that take turns.

use fedround_ir::Loc;
use fedround_ir::fed::{FedOp, Kind, Type};

use crate::Cohort;
use crate::graph::only;
use crate::loop_state::LoopState;
use crate::loops::{StagedLoop, stage_loop};

/// The clients of a cohort one after the other; see [`Cohort::in_turn`].
#[derive(Clone, Debug)]
pub struct InTurn {
    cohort: Cohort,
    loc: Loc,
}

impl Cohort {
    /// The clients of this cohort one after the other, in its order, each as a cohort of one. What a turn
    /// assigns, the next one starts from:
    ///
    /// ```ignore
    /// for client in s_t.in_turn() {
    ///     w = w.broadcast(&client).map(|k, w| self.client_update(k, w)).mean();
    /// }
    /// ```
    ///
    /// A `for` loop over it is staged, and so needs `#[federated]` on the impl around it.
    #[track_caller]
    pub fn in_turn(&self) -> InTurn {
        InTurn {
            cohort: self.clone(),
            loc: Loc::caller(),
        }
    }
}

impl StagedLoop for InTurn {
    type Item = Cohort;

    fn stage<C: LoopState>(self, carried: C, body: impl Fn(Cohort, C) -> C) -> C {
        let (graph, loc) = (&self.cohort.graph, self.loc);
        let one = Type::server(Kind::Cohort);
        let head = (FedOp::InTurn, vec![self.cohort.value], vec![one]);
        stage_loop(graph, head, carried, loc, |own, carried| {
            body(Cohort::new(graph, only(own)), carried)
        })
    }
}
