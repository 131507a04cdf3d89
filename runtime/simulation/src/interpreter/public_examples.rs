//! Public examples, which the server and every client have: their columns are values with a row for each example.

use fedround_data::augment::{Scratch, Visit};
use fedround_exec::CompileError;
use fedround_exec::tensor::{from_floats, from_ints};
use fedround_ir::fed::{Kind, Op};
use fedround_passes::lowering::{Frontend, LowerError};
use fedround_random::{Purpose, permutation};

use crate::columns::{gather_ids, gather_numbers};
use crate::context::RoundContext;
use crate::error::RunError;
use crate::value::RuntimeValue;

/// `fed.public`: a column of all public examples, or of those that are drawn for the round. Images are augmented as
/// in test batches, without random steps.
pub(crate) fn public_column(
    cx: RoundContext<'_>,
    op: &Op,
    (name, kind): (&str, Kind),
) -> Result<RuntimeValue, RunError> {
    let examples = cx.public.ok_or(RunError::NoPublic { loc: op.loc })?;
    let mut rows: Vec<usize> = (0..examples.len()).collect();
    if let Some(count) = op.operands.first().and_then(|v| cx.program.index(*v)) {
        let key = cx.key(Purpose::Public).with(1);
        rows = permutation(examples.len(), key);
        rows.truncate(count.max(1));
    }
    let ty = cx.program.model().column(name, kind, rows.len());
    let ty = ty.map_err(|source| LowerError::Frontend {
        loc: op.loc,
        source,
    });
    let ty = ty.map_err(CompileError::from)?;
    let device = cx.program.device();
    if kind == Kind::Labels {
        let mut ids = vec![0; ty.len()];
        gather_ids(examples, name, &rows, &mut ids)?;
        return Ok(RuntimeValue::Tensor(from_ints(ids, &ty.shape, device)));
    }
    let mut numbers = vec![0.0; ty.len()];
    let fixed = cx.augment.fixed();
    let augment = (&fixed, Visit::default(), &mut Scratch::default());
    gather_numbers(examples, name, &rows, augment, &mut numbers)?;
    Ok(RuntimeValue::Tensor(from_floats(
        numbers, &ty.shape, device,
    )))
}
