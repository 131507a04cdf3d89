//! Whether tensors hold only finite numbers.
//!
//! In host memory each number is looked at. On a GPU all numbers are summed there, and the host waits for
//! the sum alone: it is finite only if all its terms are. Shader languages may assume that no operand is
//! NaN, so a comparison on the GPU would not do.

use burn::tensor::DispatchTensor;
use burn_backend::ops::FloatTensorOps;
use burn_backend::{Scalar, TensorMetadata};
use burn_dispatch::Dispatch;
use fedround_ir::tensor::DType;

use super::host::{is_host, values};
use super::{dtype, floats, read_all};
use crate::device::ExecError;

/// Numbers that are looked at before it is asked whether one of them was not finite.
const BLOCK: usize = 4096;

/// Makes the largest finite numbers so small that no device holds enough of them for an infinite sum:
/// 2⁻⁶⁴, by which a product is exact or tends to 0.
const SCALE: f64 = 1.0 / 18_446_744_073_709_551_616.0;

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
    match finite_sums(tensors) {
        Some(sums) => Ok(read_all(sums)?.iter().all(|sum| finite(sum))),
        None => Ok(false),
    }
}

/// A number for each GPU that holds some of the tensors, which is finite only if all their numbers there
/// are: to be read with others, and looked at by [`finite`]. `None` if one in host memory is not.
pub fn finite_sums<'t>(
    tensors: impl IntoIterator<Item = &'t DispatchTensor>,
) -> Option<Vec<DispatchTensor>> {
    let mut sums: Vec<DispatchTensor> = vec![];
    for t in tensors {
        if dtype(t) != DType::F32 {
            continue;
        }
        if let Some(known) = floats(t) {
            if !finite(known) {
                return None;
            }
        } else if is_host(t) {
            if !values(t).is_none_or(|values| finite(&values)) {
                return None;
            }
        } else {
            let small = Dispatch::float_mul_scalar(t.clone(), Scalar::Float(SCALE));
            add(&mut sums, Dispatch::float_sum(small));
        }
    }
    Some(sums)
}

/// Adds a sum to the one of its device.
fn add(sums: &mut Vec<DispatchTensor>, sum: DispatchTensor) {
    match sums.iter_mut().find(|known| known.device() == sum.device()) {
        Some(known) => *known = Dispatch::float_add(known.clone(), sum),
        None => sums.push(sum),
    }
}

/// Whether all of some numbers are finite.
pub fn finite(values: &[f32]) -> bool {
    // Without an early exit in a block, which the compiler makes vector instructions of.
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
