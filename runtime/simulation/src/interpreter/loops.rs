//! Loops: the values that they carry from one iteration to the next, and the operation `opt.repeat`.

use fedround_exec::tensor::floats;
use fedround_ir::fed::{Op, Value};
use fedround_passes::schedule::{Block, Control};

use super::{Interpreter, run_block};
use crate::context::{RoundContext, missing, read_or_constant, value_or_constant};
use crate::error::RunError;
use crate::value::{Env, RuntimeValue};

/// The initial values of a loop: its operands after the first `skip`. They stay in the environment, because the body
/// may read them too, as FedProx's does with the received model.
pub(crate) fn initial_values(
    cx: RoundContext<'_>,
    control: &Control,
    skip: usize,
    env: &Env,
) -> Result<Vec<RuntimeValue>, RunError> {
    let operands = control.op.operands[skip..].iter();
    let values: Option<Vec<RuntimeValue>> =
        operands.map(|v| value_or_constant(cx, *v, env)).collect();
    values.ok_or_else(|| missing(&control.op, "initial value"))
}

/// The values that a loop's body yields. Values that the body has computed are moved out of the environment, so that
/// the next step can update them in place.
pub(crate) fn yielded_values(
    cx: RoundContext<'_>,
    body: &Block,
    op: &Op,
    env: &mut Env,
) -> Result<Vec<RuntimeValue>, RunError> {
    let yielded = |(v, &moves): (&Value, &bool)| {
        let last_uses = if moves { std::slice::from_ref(v) } else { &[] };
        read_or_constant(cx, *v, env, last_uses)
    };
    let yields = body.yields.iter().zip(&body.moves);
    let values: Option<Vec<RuntimeValue>> = yields.map(yielded).collect();
    values.ok_or_else(|| missing(op, "yielded value"))
}

/// `opt.repeat`, on the server and on clients. It ends early once its result no longer changes, if that can be known
/// without waiting for the device.
pub(crate) fn repeat(
    interpreter: &mut impl Interpreter,
    cx: RoundContext<'_>,
    control: &Control,
    body: &Block,
    env: &mut Env,
) -> Result<(), RunError> {
    let values = initial_values(cx, control, 1, env)?;
    repeat_from(interpreter, cx, (control, body), env, values)
}

/// As [`repeat`], for a loop that begins with `values`.
pub(crate) fn repeat_from(
    interpreter: &mut impl Interpreter,
    cx: RoundContext<'_>,
    (control, body): (&Control, &Block),
    env: &mut Env,
    mut values: Vec<RuntimeValue>,
) -> Result<(), RunError> {
    let op = &control.op;
    let times = cx.count(op, 0)?;
    let counts_before = match control.settles {
        Some(_) => interpreter.draw_counts().to_vec(),
        None => vec![],
    };
    for done in 1..=times {
        env.set_all(&body.args, values);
        run_block(interpreter, cx, body, env)?;
        values = yielded_values(cx, body, op, env)?;
        let settled = control.settles.and_then(|i| values.get(i));
        if settled.is_some_and(is_positive) {
            // Counts the draws of the iterations that are left out, so that later draws do not depend on when the
            // loop ended.
            let (done, left) = (done as u64, (times - done) as u64);
            for (draws, before) in interpreter.draw_counts().iter_mut().zip(&counts_before) {
                *draws += (*draws - before) / done * left;
            }
            break;
        }
    }
    env.set_all(&op.results, values);
    Ok(())
}

/// Whether a number is positive for all clients of a group. `false` if it is in the memory of a GPU, for which the
/// host would have to wait.
fn is_positive(value: &RuntimeValue) -> bool {
    match value {
        RuntimeValue::Tensor(t) => floats(t).is_some_and(|x| x.iter().all(|x| *x > 0.0)),
        RuntimeValue::Stacked(value) => is_positive(value),
        _ => false,
    }
}
