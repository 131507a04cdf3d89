//! Ops on elements, with broadcasting.

use std::f64::consts::PI;

use fedround_ir::tensor::{Cmp, DType, Op, TypeError, Val};

use super::{Parts, Rule};

pub(super) fn apply(r: &mut Rule<'_>) -> Parts {
    let (g, y, ins) = (r.g, r.node.outs[0], r.node.ins.clone());
    match *ins.as_slice() {
        [a] => Ok(vec![unary(r, g, y, a)?]),
        [a, b] => r.each(|r, i| {
            let part = binary(r, g, y, (a, b), i)?;
            r.sum_to(part, if i == 0 { a } else { b })
        }),
        [m, a, b] => Ok(vec![
            None,
            chosen(r, [m, a, b], 1)?,
            chosen(r, [m, a, b], 2)?,
        ]),
        _ => Ok(vec![None; ins.len()]),
    }
}

fn unary(r: &mut Rule<'_>, g: Val, y: Val, a: Val) -> Result<Option<Val>, TypeError> {
    let slope = match r.node.op.clone() {
        Op::AddScalar(_) => return Ok(Some(g)),
        Op::MulScalar(c) => return r.op(Op::MulScalar(c), &[g]).map(Some),
        Op::Neg => return r.op(Op::Neg, &[g]).map(Some),
        Op::Log => return r.op(Op::Div, &[g, a]).map(Some),
        Op::Log1p => {
            let below = r.op(Op::AddScalar(1.0), &[a])?;
            return r.op(Op::Div, &[g, below]).map(Some);
        }
        Op::Sqrt => {
            let q = r.op(Op::Div, &[g, y])?;
            return r.op(Op::MulScalar(0.5), &[q]).map(Some);
        }
        Op::Relu => return r.op(Op::ReluGrad, &[y, g]).map(Some),
        Op::Clamp(low, high) => {
            let above = r.op(Op::CompareScalar(Cmp::GreaterEqual, low), &[a])?;
            let below = r.op(Op::CompareScalar(Cmp::LessEqual, high), &[a])?;
            let within = r.op(Op::And, &[above, below])?;
            let zero = r.zero(a)?;
            return r.op(Op::Where, &[within, g, zero]).map(Some);
        }
        // Between floats a cast changes nothing; integers and masks have no gradient.
        Op::Cast(to) => {
            let float = to == DType::F32 && r.graph.type_of(a).dtype == DType::F32;
            return Ok(float.then_some(g));
        }
        Op::Exp => y,
        // 1 everywhere; the formula below would divide by zero.
        Op::PowScalar(0.0) => return Ok(None),
        Op::PowScalar(c) => {
            let power = r.op(Op::PowScalar(c - 1.0), &[a])?;
            r.op(Op::MulScalar(c), &[power])?
        }
        Op::Abs => r.op(Op::Sign, &[a])?,
        Op::Sin => r.op(Op::Cos, &[a])?,
        Op::Cos => {
            let sin = r.op(Op::Sin, &[a])?;
            r.op(Op::Neg, &[sin])?
        }
        // 1 − y²
        Op::Tanh => {
            let square = r.op(Op::Mul, &[y, y])?;
            let minus = r.op(Op::Neg, &[square])?;
            r.op(Op::AddScalar(1.0), &[minus])?
        }
        // y (1 − y)
        Op::Sigmoid => {
            let minus = r.op(Op::Neg, &[y])?;
            let rest = r.op(Op::AddScalar(1.0), &[minus])?;
            r.op(Op::Mul, &[y, rest])?
        }
        // 2 / √π e^(−a²)
        Op::Erf => {
            let square = r.op(Op::Mul, &[a, a])?;
            let minus = r.op(Op::Neg, &[square])?;
            let bell = r.op(Op::Exp, &[minus])?;
            r.op(Op::MulScalar(2.0 / PI.sqrt()), &[bell])?
        }
        _ => return Ok(None),
    };
    r.op(Op::Mul, &[g, slope]).map(Some)
}

/// The gradient of operand `i` in the shape of the result.
fn binary(
    r: &mut Rule<'_>,
    g: Val,
    y: Val,
    (a, b): (Val, Val),
    i: usize,
) -> Result<Val, TypeError> {
    match (&r.node.op, i) {
        (Op::Sub, 1) => r.op(Op::Neg, &[g]),
        (Op::Mul, _) => r.op(Op::Mul, &[g, if i == 0 { b } else { a }]),
        (Op::Div, 0) => r.op(Op::Div, &[g, b]),
        // −g / b · y
        (Op::Div, _) => {
            let q = r.op(Op::Div, &[g, b])?;
            let product = r.op(Op::Mul, &[q, y])?;
            r.op(Op::Neg, &[product])
        }
        // g · b · a^(b − 1)
        (Op::Pow, 0) => {
            let less = r.op(Op::AddScalar(-1.0), &[b])?;
            let base = base_where_flat(r, a, b, Cmp::Equal)?;
            let power = r.op(Op::Pow, &[base, less])?;
            let slope = r.op(Op::Mul, &[b, power])?;
            r.op(Op::Mul, &[g, slope])
        }
        // g · y · ln a
        (Op::Pow, _) => {
            let base = base_where_flat(r, a, b, Cmp::GreaterEqual)?;
            let log = r.op(Op::Log, &[base])?;
            let slope = r.op(Op::Mul, &[y, log])?;
            r.op(Op::Mul, &[g, slope])
        }
        // Linear in `g`, which is its second operand; flat in the mask.
        (Op::ReluGrad, 1) => r.op(Op::ReluGrad, &[a, g]),
        (Op::ReluGrad, _) => r.zeros(a),
        _ => Ok(g),
    }
}

/// The base `a` of a power, with 1 in place of 0 where the exponent `b` compares with 0 so. The power is flat
/// there, but its slope with a base of 0 would be `0 · ∞`. As the base is masked and not the slope, the slope can
/// be differentiated again.
fn base_where_flat(r: &mut Rule<'_>, a: Val, b: Val, cmp: Cmp) -> Result<Val, TypeError> {
    let rank = r.shape(a).len();
    let one = r.op(Op::Full(1.0, vec![1; rank]), &[])?;
    let zero = r.op(Op::CompareScalar(Cmp::Equal, 0.0), &[a])?;
    let nonzero = r.op(Op::Where, &[zero, one, a])?;
    let flat = r.op(Op::CompareScalar(cmp, 0.0), &[b])?;
    r.op(Op::Where, &[flat, nonzero, a])
}

/// The gradient of operand `i` of a `where`.
fn chosen(r: &mut Rule<'_>, ins: [Val; 3], i: usize) -> Result<Option<Val>, TypeError> {
    if !r.wants(i) {
        return Ok(None);
    }
    let zero = r.zero(r.g)?;
    let [then, other] = if i == 1 { [r.g, zero] } else { [zero, r.g] };
    let part = r.op(Op::Where, &[ins[0], then, other])?;
    r.sum_to(part, ins[i]).map(Some)
}
