//! Checks that an evaluation makes each client's model without the other clients.

use super::super::{Broken, FedOp, Module, Op, OpKind, VerifyError};
use super::error;

/// 23. A module that [evaluates](Module::evaluates) has no cohort but that of all clients, and no op that
///     combines values of several clients: it runs for a few clients at a time, so that the result of such an
///     op would depend on which.
pub(super) fn clients_do_not_meet(module: &Module) -> Vec<VerifyError> {
    if !module.evaluates {
        return vec![];
    }
    let ops = module.all_ops();
    ops.filter_map(|op| Some(error(op, broken(op)?))).collect()
}

fn broken(op: &Op) -> Option<Broken> {
    let OpKind::Fed(kind) = &op.kind else {
        return None;
    };
    match kind {
        _ if !op.kind.is_collective() => None,
        FedOp::AllClients
        | FedOp::CurrentCohort
        | FedOp::Members
        | FedOp::Restrict
        | FedOp::Broadcast
        | FedOp::Map => None,
        FedOp::Sample
        | FedOp::Within
        | FedOp::Outside
        | FedOp::Rotating
        | FedOp::Reshuffled
        | FedOp::Arrivals
        | FedOp::Choose(_) => Some(Broken::EvaluatesSome),
        FedOp::Gather | FedOp::Scatter => op.visits().then_some(Broken::EvaluationCombines),
        _ => Some(Broken::EvaluationCombines),
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::{Value, verify_linked};
    use super::super::testing::broken as found_in;
    use super::super::testing::{Round, round};
    use super::*;

    fn evaluation(fill: impl FnOnce(&mut Round<'_>, Value) -> Value) -> Module {
        let mut module = round(fill);
        module.evaluates = true;
        module
    }

    /// Every client's value is kept, and the round's argument stays.
    fn mapped(b: &mut Round<'_>, w: Value) -> Value {
        let sent = b.everyone(w);
        b.map(sent, |b, k, w| {
            let _ = b.op(OpKind::Fed(FedOp::SetClientState("own".into())), &[k, w]);
            w
        })
    }

    fn combined(b: &mut Round<'_>, w: Value) -> Value {
        let w_k = mapped(b, w);
        b.mean(w_k)
    }

    #[test]
    fn i23_an_evaluation_combines_no_clients() {
        let each = evaluation(|b, w| {
            mapped(b, w);
            w
        });
        verify_linked(&each).unwrap();
        let found = [("fed.mean".to_owned(), Broken::EvaluationCombines)];
        assert_eq!(found_in(&evaluation(combined)), found);
        assert_eq!(found_in(&round(combined)), []);
    }

    #[test]
    fn i23_an_evaluation_is_of_all_clients() {
        let sampled = evaluation(|b, w| {
            let half = b.number(0.5);
            let cohort = b.op(OpKind::Fed(FedOp::Sample), &[half]);
            let _ = b.op(OpKind::Fed(FedOp::Broadcast), &[w, cohort]);
            w
        });
        let found = [("fed.sample".to_owned(), Broken::EvaluatesSome)];
        assert_eq!(found_in(&sampled), found);
    }
}
