//! Checks of operands that several typing rules share: their number, type, rank and size.

use super::shapes::broadcast;
use super::{DType, TensorType};

/// The result types of an op, or a description of the operands that it expected.
pub(super) type Inferred = Result<Vec<TensorType>, String>;

pub(super) fn expect<T>(value: Option<T>, expected: impl Into<String>) -> Result<T, String> {
    value.ok_or_else(|| expected.into())
}

pub(super) fn check(fits: bool, expected: impl Into<String>) -> Result<(), String> {
    expect(fits.then_some(()), expected)
}

pub(super) fn one(dtype: DType, shape: impl Into<Vec<usize>>) -> Inferred {
    Ok(vec![TensorType::new(dtype, shape)])
}

pub(super) fn operands<'a, const N: usize>(
    ins: &'a [&TensorType],
) -> Result<[&'a TensorType; N], String> {
    let found: Option<&[&TensorType; N]> = ins.try_into().ok();
    expect(found.copied(), format!("{N} operand(s)"))
}

pub(super) fn floats<'a, const N: usize>(
    ins: &'a [&TensorType],
) -> Result<[&'a TensorType; N], String> {
    let found = operands::<N>(ins).ok();
    let found = found.filter(|ins| ins.iter().all(|t| t.dtype == DType::F32));
    expect(found, format!("{N} float operand(s)"))
}

/// The two operands of a product: floats of one type, 16-bit ones included.
pub(super) fn factors<'a>(ins: &'a [&TensorType]) -> Result<[&'a TensorType; 2], String> {
    let found = operands::<2>(ins).ok();
    let float = |t: &TensorType| t.dtype == DType::F32 || t.dtype.is_short();
    let found = found.filter(|[a, b]| a.dtype == b.dtype && float(a));
    expect(found, "2 float operand(s) of one type")
}

pub(super) fn broadcast_of(ins: &[&TensorType]) -> Result<Vec<usize>, String> {
    let mut shape = Some(ins[0].shape.clone());
    for t in &ins[1..] {
        shape = shape.and_then(|s| broadcast(&s, &t.shape));
    }
    expect(shape, "shapes of equal rank that broadcast")
}

/// Whether a shape repeats to another, missing leading dimensions counting as 1.
pub(super) fn repeats(from: &[usize], to: &[usize]) -> bool {
    let missing = to.len().checked_sub(from.len());
    missing.is_some_and(|n| from.iter().zip(&to[n..]).all(|(a, b)| a == b || *a == 1))
}

pub(super) fn dim(a: &TensorType, d: usize) -> Result<(), String> {
    check(
        d < a.shape.len(),
        format!("an operand with a dimension {d}"),
    )
}

pub(super) fn reduced(a: &TensorType, d: usize) -> Result<Vec<usize>, String> {
    dim(a, d)?;
    let mut shape = a.shape.clone();
    shape[d] = 1;
    Ok(shape)
}

pub(super) fn sizes(ranges: &[(usize, usize)]) -> Vec<usize> {
    ranges.iter().map(|(a, b)| b - a).collect()
}
