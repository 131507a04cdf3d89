//! The values of clients that one operation reads together.

use std::borrow::Cow;
use std::sync::Arc;

use fedround_ir::fed::{Op, Value};

use crate::context::missing;
use crate::error::RunError;
use crate::value::{Env, RuntimeValue};

/// Clients, and values of these clients.
type Operands<'e> = (Arc<[usize]>, Vec<Cow<'e, RuntimeValue>>);

/// The operands of a map or reduction, with a value for each client that all of them have.
pub(super) fn operands<'e>(op: &Op, env: &'e Env) -> Result<Operands<'e>, RunError> {
    let values = op.operands.iter().filter_map(|v| env.peek(*v));
    let ids = RuntimeValue::common_clients(values).ok_or_else(|| missing(op, "cohort"))?;
    let of_cohort = |v: &Value| env.peek(*v).and_then(|value| value.of_clients(&ids));
    let operands = op.operands.iter().map(of_cohort).collect::<Option<_>>();
    let operands = operands.ok_or_else(|| missing(op, "value of each client"))?;
    Ok((ids, operands))
}
