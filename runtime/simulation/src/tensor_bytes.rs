//! Converts tensors on devices to bytes, and back, bit for bit.

use burn::tensor::DispatchTensor;
use burn_backend::TensorMetadata;
use burn_dispatch::DispatchDevice;
use fedround_exec::ExecError;
use fedround_exec::tensor::{dtype, floats, from_floats, from_ints, read_all, read_ints};
use fedround_ir::tensor::DType;
use fedround_store::{ElementType, TensorBytes};

/// The bytes of tensors; `None` if one of them is a mask.
///
/// # Errors
///
/// The device that holds them has failed.
pub(crate) fn to_bytes(tensors: &[DispatchTensor]) -> Result<Option<Vec<TensorBytes>>, ExecError> {
    if tensors.iter().any(|t| dtype(t) == DType::Bool) {
        return Ok(None);
    }
    let is_float = |t: &DispatchTensor| dtype(t) == DType::F32;
    let elsewhere = tensors
        .iter()
        .filter(|t| is_float(t) && floats(t).is_none());
    // Read together, so that the host waits for the GPU once.
    let mut elsewhere = read_all(elsewhere.cloned().collect())?.into_iter();
    let bytes = tensors.iter().map(|t| {
        let shape = t.shape();
        let shape = shape.as_slice();
        Ok(match floats(t) {
            Some(values) => TensorBytes::of_floats(values, shape),
            None if is_float(t) => {
                TensorBytes::of_floats(&elsewhere.next().unwrap_or_default(), shape)
            }
            None => TensorBytes::of_ints(&read_ints(t.clone())?, shape),
        })
    });
    bytes.collect::<Result<_, _>>().map(Some)
}

/// A tensor on a device from its bytes; `None` if their number does not match the shape.
pub(crate) fn from_bytes(bytes: &TensorBytes, device: &DispatchDevice) -> Option<DispatchTensor> {
    Some(match bytes.element {
        ElementType::F32 => from_floats(bytes.floats()?, &bytes.shape, device),
        ElementType::I32 => from_ints(bytes.ints()?, &bytes.shape, device),
        // Only sums over clients are in 64 bits, and they never become tensors.
        ElementType::F64 => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_bit_comes_back() {
        let device = DispatchDevice::default();
        let odd = f32::from_bits(0x7fc0_1234);
        let floats = vec![
            odd,
            -0.0,
            f32::MIN_POSITIVE / 2.0,
            f32::NEG_INFINITY,
            0.1,
            1.0,
        ];
        let tensors = [
            from_floats(floats, &[2, 3], &device),
            from_ints(vec![i32::MIN, -1], &[2], &device),
            from_floats(vec![], &[0, 4], &device),
        ];
        let bytes = to_bytes(&tensors).unwrap().unwrap();
        assert_eq!(bytes[0].data[..4], 0x7fc0_1234_u32.to_le_bytes());
        let back: Vec<_> = bytes
            .iter()
            .map(|b| from_bytes(b, &device).unwrap())
            .collect();
        assert_eq!(to_bytes(&back).unwrap().unwrap(), bytes);
    }

    #[test]
    fn bytes_of_another_shape_are_no_tensor() {
        for shape in [vec![3], vec![2, 2], vec![usize::MAX, 2], vec![]] {
            let bytes = TensorBytes {
                element: ElementType::F32,
                shape,
                data: vec![0; 8],
            };
            assert!(from_bytes(&bytes, &DispatchDevice::default()).is_none());
        }
    }
}
