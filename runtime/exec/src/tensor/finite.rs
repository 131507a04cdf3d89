//! Whether tensors hold only finite numbers.
//!
//! In host memory each number is looked at. On a GPU each tensor is summed there, and the sums are read
//! together: a sum is finite only if all its terms are. Shader languages may assume that no operand is
//! NaN, so a comparison on the GPU would not do.

use burn::tensor::DispatchTensor;
use burn_backend::ops::FloatTensorOps;
use burn_dispatch::Dispatch;
use fedround_ir::tensor::DType;

use super::host::{is_host, values};
use super::{dtype, floats, read_all};
use crate::device::ExecError;

/// Numbers that are looked at before it is asked whether one of them was not finite.
const BLOCK: usize = 4096;

/// The bits of an exponent: all are set in infinities and NaNs alone.
const EXPONENT: u32 = 0x7f80_0000;

/// Whether all numbers of some tensors are finite. Integers and masks always are.
///
/// # Errors
///
/// A device that holds some of them has failed.
pub fn all_finite<'t>(
    tensors: impl IntoIterator<Item = &'t DispatchTensor>,
) -> Result<bool, ExecError> {
    let mut sums = vec![];
    for t in tensors {
        if dtype(t) != DType::F32 {
            continue;
        }
        if let Some(known) = floats(t) {
            if !finite(known) {
                return Ok(false);
            }
        } else if is_host(t) {
            if !values(t).is_none_or(|values| finite(&values)) {
                return Ok(false);
            }
        } else {
            sums.push(Dispatch::float_sum(t.clone()));
        }
    }
    Ok(read_all(sums)?.iter().all(|sum| finite(sum)))
}

/// In blocks without an early exit, which the compiler makes vector instructions of.
fn finite(values: &[f32]) -> bool {
    let broken = |block: &[f32]| {
        let special = |x: &f32| x.to_bits() & EXPONENT == EXPONENT;
        block.iter().fold(false, |any, x| any | special(x))
    };
    !values.chunks(BLOCK).any(broken)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tensor::{from_floats, from_ints};

    #[test]
    fn one_number_that_is_not_finite_is_found_anywhere() {
        let device = Default::default();
        let with = |at: usize, x: f32| {
            let mut values = vec![f32::MAX; 3 * BLOCK + 7];
            values[at] = x;
            from_floats(values, &[3 * BLOCK + 7], &device)
        };
        let good = [with(0, f32::MIN), with(1, 0.0), with(2, f32::MIN_POSITIVE)];
        assert!(all_finite(&good).unwrap());
        assert!(all_finite(&[]).unwrap());
        assert!(all_finite(&[from_ints(vec![i32::MAX], &[1], &device)]).unwrap());
        for at in [0, BLOCK - 1, BLOCK, 3 * BLOCK + 6] {
            for x in [f32::NAN, -f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
                let all = [good[0].clone(), with(at, x)];
                assert!(!all_finite(&all).unwrap(), "{x} at {at}");
            }
        }
    }

    #[test]
    fn views_are_looked_at_too() {
        let t = from_floats(vec![1.0, f32::NAN, 2.0, 3.0], &[2, 2], &Default::default());
        let turned = Dispatch::float_transpose(t);
        assert!(!all_finite(&[turned]).unwrap());
    }
}
