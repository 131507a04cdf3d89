//! Loops: the values that they carry from one iteration to the next, and repetitions.

use fedround_exec::tensor::floats;
use fedround_ir::fed::{Op, Value};
use fedround_passes::schedule::{Block, Control};

use super::{Walker, known, walk};
use crate::context::{RoundContext, missing};
use crate::error::RunError;
use crate::value::{Env, RtVal};

/// The operands after the first `skip`: a loop's initial values. They stay in the environment,
/// because the body may read them too, as FedProx reads what it received.
pub(crate) fn carried(
    cx: RoundContext<'_>,
    control: &Control,
    skip: usize,
    env: &Env,
) -> Result<Vec<RtVal>, RunError> {
    let operands = control.op.operands[skip..].iter();
    let values: Option<Vec<RtVal>> = operands.map(|v| known(cx, *v, env)).collect();
    values.ok_or_else(|| missing(&control.op, "initial value"))
}

/// The values that a loop body yields. Its own are moved out of the environment, so that the next
/// step may write them in place.
pub(crate) fn next(
    cx: RoundContext<'_>,
    body: &Block,
    op: &Op,
    env: &mut Env,
) -> Result<Vec<RtVal>, RunError> {
    let take = |(v, &moves): (&Value, &bool)| {
        let value = env.read(*v, if moves { std::slice::from_ref(v) } else { &[] });
        value.or_else(|| cx.program.real(*v).map(RtVal::Host))
    };
    let yields = body.yields.iter().zip(&body.moves);
    let values: Option<Vec<RtVal>> = yields.map(take).collect();
    values.ok_or_else(|| missing(op, "yielded value"))
}

/// `opt.repeat`, on the server and on clients alike. It ends once its result is settled, where that can be
/// seen without waiting for the device.
pub(crate) fn repeat(
    walker: &mut impl Walker,
    cx: RoundContext<'_>,
    control: &Control,
    body: &Block,
    env: &mut Env,
) -> Result<(), RunError> {
    let op = &control.op;
    let times = cx.program.index(op.operands[0]);
    let times = times.ok_or_else(|| missing(op, "count"))?;
    let mut values = carried(cx, control, 1, env)?;
    let drawn = match control.settles {
        Some(_) => walker.draws().to_vec(),
        None => vec![],
    };
    for done in 1..=times {
        for (arg, value) in body.args.iter().zip(values) {
            env.set(*arg, value);
        }
        walk(walker, cx, body, env)?;
        values = next(cx, body, op, env)?;
        let settled = control.settles.and_then(|i| values.get(i));
        if settled.is_some_and(is_positive) {
            // Later draws must not depend on when a loop ended.
            let (done, left) = (done as u64, (times - done) as u64);
            for (draws, before) in walker.draws().iter_mut().zip(&drawn) {
                *draws += (*draws - before) / done * left;
            }
            break;
        }
    }
    for (result, value) in op.results.iter().zip(values) {
        env.set(*result, value);
    }
    Ok(())
}

/// Whether a number is positive, for all clients of a group; `false` for one in the memory of another device,
/// which would have to be waited for.
fn is_positive(value: &RtVal) -> bool {
    match value {
        RtVal::Tensor(t) => floats(t).is_some_and(|x| x.iter().all(|x| *x > 0.0)),
        RtVal::Each(value) => is_positive(value),
        _ => false,
    }
}
