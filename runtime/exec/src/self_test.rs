//! The self-test of a device: a small matrix product.

use burn_backend::TensorData;
use burn_backend::ops::FloatTensorOps;
use burn_dispatch::Dispatch;

use crate::device::{Device, DeviceError, catch_panic};
use crate::tensor;

impl Device {
    /// Opens the device, multiplies two small matrices on it, and compares the product with one that is computed
    /// here. The values are small integers, so the products must be equal.
    ///
    /// # Errors
    ///
    /// The device cannot be opened, fails, or gives another product.
    pub fn check(self) -> Result<(), DeviceError> {
        const N: usize = 8;
        let device = self.open()?;
        let values = |step: usize| (0..N * N).map(|i| (i * step % 7) as f32).collect();
        let (a, b): (Vec<f32>, Vec<f32>) = (values(3), values(5));
        let product = |i: usize| (0..N).map(|k| a[i / N * N + k] * b[k * N + i % N]).sum();
        let expected: Vec<f32> = (0..N * N).map(product).collect();
        let on_device = |values: &[f32]| {
            Dispatch::float_from_data(TensorData::new(values.to_vec(), [N, N]), &device)
        };
        let found = catch_panic([&device], || {
            tensor::read(Dispatch::float_matmul(on_device(&a), on_device(&b)))
        });
        match found {
            Ok(found) if found == expected => Ok(()),
            Ok(_) => Err(DeviceError::Wrong { device: self }),
            Err(error) => Err(DeviceError::Fails {
                device: self,
                why: error.to_string(),
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cpu_computes() {
        Device::Cpu.check().unwrap();
        Device::best().check().unwrap();
    }
}
