//! The checks of a linked module that need to know where values come from, one file each.

mod cohorts;
mod dp;
mod evaluation;
mod losses;
mod peers;
mod personal;
mod state;
#[cfg(test)]
mod testing;

pub use state::never_set;

use super::{Broken, Module, Op, VerifyError};

/// Invariants 14 to 21 and 23 of [`verify`](super::verify()), of a module that keeps the ones before.
pub(super) fn dataflow(module: &Module) -> Vec<VerifyError> {
    let mut errors = dp::noise_follows_clip(module);
    errors.extend(dp::claims_hold(module));
    errors.extend(dp::trees_are_over_passes(module));
    errors.extend(personal::parts_stay(module));
    errors.extend(state::reads_are_written(module));
    errors.extend(cohorts::values_meet_their_own(module));
    errors.extend(losses::losses_are_of_tensors(module));
    errors.extend(peers::measurements_stay(module));
    errors.extend(evaluation::clients_do_not_meet(module));
    errors
}

fn error(op: &Op, broken: Broken) -> VerifyError {
    VerifyError {
        op: op.kind.name(),
        loc: op.loc,
        broken,
    }
}
