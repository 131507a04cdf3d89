//! Public examples, which the server and every client have: their columns are values with a row for each example.

use fedround_data::augment::{Scratch, Visit};
use fedround_exec::CompileError;
use fedround_exec::tensor::{from_floats, from_ints};
use fedround_ir::fed::{Kind, Op};
use fedround_passes::lowering::{Frontend, LowerError};
use fedround_random::{Purpose, permutation};

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
    let column = || match name {
        "x" => Ok(examples.x()),
        name => {
            let column = examples.column(name);
            column.ok_or_else(|| RunError::Column(name.to_owned()))
        }
    };
    if kind == Kind::Labels {
        let mut ids = vec![0; ty.len()];
        match name {
            "y" => examples.gather_labels_into(&rows, &mut ids),
            _ => column()?.gather_ids_into(&rows, &mut ids)?,
        }
        return Ok(RuntimeValue::Tensor(from_ints(ids, &ty.shape, device)));
    }
    let mut numbers = vec![0.0; ty.len()];
    let fixed = cx.augment.fixed();
    if name == "x" && !fixed.is_empty() {
        let (visit, scratch) = (Visit::default(), &mut Scratch::default());
        fixed.gather_into(column()?, &rows, visit, scratch, &mut numbers)?;
    } else {
        column()?.gather_into(&rows, &mut numbers)?;
    }
    Ok(RuntimeValue::Tensor(from_floats(
        numbers, &ty.shape, device,
    )))
}
