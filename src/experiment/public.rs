//! Examples that the server and every client have.

use std::sync::Arc;

use fedround_data::{Dataset, Examples};
use fedround_exec::Program;
use fedround_ir::fed::{FedOp, Op, OpKind};
use fedround_random::{Purpose, StreamKey, permutation};
use fedround_simulation::RunError;

use super::input_checks::check_column;
use super::{ExperimentError, InputError};

/// Sets a share of the training examples aside, rounded, but at least one and never all; gives the dataset
/// with the others, in their order, and those.
pub(super) fn set_aside(
    data: Arc<Dataset>,
    share: f64,
    seed: u64,
) -> (Arc<Dataset>, Option<Examples>) {
    let n = data.train.len();
    let most = n.saturating_sub(1);
    let count = ((share * n as f64).round() as usize).clamp(1.min(most), most);
    let key = StreamKey::new(seed, Purpose::Public).with(0);
    let mut public = permutation(n, key);
    let mut rest = public.split_off(count);
    public.sort_unstable();
    rest.sort_unstable();
    let examples = data.train.subset(&public);
    let groups = data.groups.as_ref();
    let data = Dataset {
        train: data.train.subset(&rest),
        groups: groups.map(|groups| rest.iter().map(|&i| groups[i]).collect()),
        ..Dataset::clone(&data)
    };
    (Arc::new(data), (!examples.is_empty()).then_some(examples))
}

/// What messages call them.
pub(super) const NAME: &str = "public examples";

/// Fails for an algorithm that reads public examples where there are none, and for public examples of other
/// columns or classes than the training examples.
pub(super) fn check(
    program: &Program,
    data: &Dataset,
    public: Option<&Examples>,
) -> Result<(), ExperimentError> {
    let Some(public) = public else {
        let reads = |op: &&Op| matches!(op.kind, OpKind::Fed(FedOp::Public(..)));
        let phases = program.phases();
        let mut reading = phases.into_iter().filter_map(|(_, phase)| {
            let op = phase.linked().all_ops().find(reads)?;
            Some(op.loc)
        });
        return match reading.next() {
            Some(loc) => Err(RunError::NoPublic { loc }.into()),
            None => Ok(()),
        };
    };
    if public.is_empty() {
        return Err(InputError::NoPublicExamples.into());
    }
    for own in data.train.columns() {
        check_column(NAME, own, public.column(own.name()))?;
    }
    Ok(data.check_labels("public", public)?)
}
