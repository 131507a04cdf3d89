//! What is read of tensors, for which the host waits.

use std::sync::atomic::{AtomicU64, Ordering};

use burn::tensor::{DispatchTensor, Shape, TensorData};
use burn_backend::ops::FloatTensorOps;
use burn_backend::{ExecutionError, TensorMetadata};
use burn_dispatch::{Dispatch, DispatchDevice};

use super::TOGETHER;
use crate::device::quiet::busy;
use crate::error::RunError;
use crate::flex;

/// Elements that are worth a read of their own: it takes longer to carry them than to wait.
const LARGE: usize = 1 << 20;

/// Reads of GPUs by this process.
static READS: AtomicU64 = AtomicU64::new(0);

/// How often this process has waited for a GPU to give it values.
pub fn device_reads() -> u64 {
    READS.load(Ordering::Relaxed)
}

/// Waits for the data of a tensor, in host memory or not.
pub(crate) fn wait(
    on_host: bool,
    data: impl Future<Output = Result<TensorData, ExecutionError>>,
) -> Result<TensorData, RunError> {
    if !on_host {
        READS.fetch_add(1, Ordering::Relaxed);
    }
    busy(|| burn_backend::read_sync(data)).map_err(RunError::device)
}

/// The float values of a tensor, in row-major order; none where its device has failed, which the
/// [`read`] that ends each round and each evaluation says.
pub(crate) fn values(tensor: DispatchTensor) -> Vec<f32> {
    read(tensor).unwrap_or_default()
}

/// The float values of a tensor, in row-major order.
///
/// # Errors
///
/// The device failed here, or at any op since the last read.
pub(crate) fn read(tensor: DispatchTensor) -> Result<Vec<f32>, RunError> {
    if let Some(slice) = flex::floats(&tensor) {
        return Ok(slice.to_vec());
    }
    let on_host = flex::is_host(&tensor);
    let data = wait(on_host, Dispatch::float_into_data(tensor))?;
    let values = data.try_to_vec::<f32>();
    // Data may be fetched here alone, and what failed before is said here.
    values.map_err(|error| RunError::said(&error.to_string()))
}

/// The float values of tensors, each in row-major order. Those of a GPU are joined there, so that the
/// host waits once for several.
///
/// # Errors
///
/// As [`read`].
pub(crate) fn read_all(tensors: Vec<DispatchTensor>) -> Result<Vec<Vec<f32>>, RunError> {
    let mut values = vec![vec![]; tensors.len()];
    let mut gpus: Vec<(DispatchDevice, Vec<(usize, DispatchTensor)>)> = vec![];
    for (i, tensor) in tensors.into_iter().enumerate() {
        if flex::is_host(&tensor) {
            values[i] = read(tensor)?;
            continue;
        }
        let device = tensor.device();
        match gpus.iter_mut().find(|(known, _)| *known == device) {
            Some((_, own)) => own.push((i, tensor)),
            None => gpus.push((device, vec![(i, tensor)])),
        }
    }
    for some in gpus.iter().flat_map(|(_, own)| chunks(own)) {
        let joined = read(join(some.iter().map(|(_, t)| t.clone()).collect()))?;
        let mut rest = &joined[..];
        for (i, tensor) in some {
            let (own, after) = rest.split_at(elements(tensor).min(rest.len()));
            values[*i] = own.to_vec();
            rest = after;
        }
    }
    Ok(values)
}

/// Tensors that are joined where they are, which takes memory for them once more: few, and no large
/// one with others.
fn chunks(mut all: &[(usize, DispatchTensor)]) -> impl Iterator<Item = &[(usize, DispatchTensor)]> {
    std::iter::from_fn(move || {
        let mut size = 0;
        let fits = |(i, (_, tensor)): &(usize, &(usize, DispatchTensor))| {
            size += elements(tensor);
            *i == 0 || (*i < TOGETHER && size <= LARGE)
        };
        let n = all.iter().enumerate().take_while(fits).count();
        let (some, rest) = all.split_at(n);
        all = rest;
        (!some.is_empty()).then_some(some)
    })
}

/// The elements of tensors, one after another.
fn join(mut tensors: Vec<DispatchTensor>) -> DispatchTensor {
    if tensors.len() == 1 {
        return tensors.remove(0);
    }
    let flat = tensors.into_iter().map(|t| {
        let shape = Shape::from(vec![elements(&t)]);
        Dispatch::float_reshape(t, shape)
    });
    Dispatch::float_cat(flat.collect(), 0)
}

fn elements(tensor: &DispatchTensor) -> usize {
    tensor.shape().num_elements()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ops;

    #[test]
    fn tensors_read_together_are_those_read_apart() {
        let device = DispatchDevice::default();
        let tensor = |i: usize| {
            let numbers = (0..2 * i).map(|x| (x * i) as f32).collect();
            ops::tensor(numbers, &[i, 2], &device)
        };
        let mut all: Vec<DispatchTensor> = (1..40).map(tensor).collect();
        let apart: Vec<Vec<f32>> = all.iter().cloned().map(values).collect();
        assert!(read_all(all.clone()).unwrap() == apart);
        let numbered: Vec<_> = all.iter().cloned().enumerate().collect();
        let joined: Vec<usize> = chunks(&numbered).map(<[_]>::len).collect();
        assert_eq!(joined, [TOGETHER, TOGETHER, 39 - 2 * TOGETHER]);
        all.truncate(TOGETHER);
        assert!(values(join(all)) == apart[..TOGETHER].concat());
        assert!(read_all(vec![]).unwrap().is_empty());
        let sizes = [LARGE - 1, 1, 1, LARGE + 5, 2];
        let sized = sizes.map(|n| (0, ops::tensor(vec![0.0; n], &[n], &device)));
        let joined: Vec<usize> = chunks(&sized).map(<[_]>::len).collect();
        assert_eq!(joined, [2, 1, 1, 1]);
    }
}
