//! Reads tensors into host memory. If a GPU holds them, the host waits until it has computed them.

use std::sync::atomic::{AtomicU64, Ordering};

use burn::tensor::{DispatchTensor, Shape, TensorData};
use burn_backend::ops::{FloatTensorOps, IntTensorOps};
use burn_backend::{ExecutionError, TensorMetadata};
use burn_dispatch::{Dispatch, DispatchDevice};

use super::CONCAT_LIMIT;
use super::host::{is_host, values};
use crate::device::{ExecError, with_gpu_access};

/// The largest number of elements that are concatenated for one read. A larger tensor is read alone,
/// because copying it on the device takes longer than waiting once more.
const LARGE: usize = 1 << 20;

/// The number of times that this process has waited for values from a GPU.
static READS: AtomicU64 = AtomicU64::new(0);

/// The number of times that this process has waited for values from a GPU.
pub fn device_reads() -> u64 {
    READS.load(Ordering::Relaxed)
}

/// Waits for the data of a tensor. The wait is counted if the tensor is not in host memory.
pub(crate) fn wait_for_data(
    on_host: bool,
    data: impl Future<Output = Result<TensorData, ExecutionError>>,
) -> Result<TensorData, ExecError> {
    let data = if on_host {
        burn_backend::read_sync(data)
    } else {
        READS.fetch_add(1, Ordering::Relaxed);
        with_gpu_access(|| burn_backend::read_sync(data))
    };
    data.map_err(ExecError::from)
}

/// The values of a tensor of floats, in row-major order.
///
/// # Errors
///
/// The device failed in this read, or in any op since the last read.
pub fn read(tensor: DispatchTensor) -> Result<Vec<f32>, ExecError> {
    if let Some(values) = values(&tensor) {
        return Ok(values);
    }
    let on_host = is_host(&tensor);
    let read = || {
        let data = wait_for_data(on_host, Dispatch::float_into_data(tensor))?;
        let values = data.try_to_vec::<f32>();
        // Some backends fetch the data only in this conversion, which then reports an earlier failure.
        values.map_err(|error| ExecError::from_message(&error.to_string()))
    };
    match on_host {
        true => read(),
        false => with_gpu_access(read),
    }
}

/// The values of tensors of floats, each in row-major order. The tensors on a GPU are concatenated there
/// first, so that the host waits once for several.
///
/// # Errors
///
/// As [`read`].
pub fn read_all(tensors: Vec<DispatchTensor>) -> Result<Vec<Vec<f32>>, ExecError> {
    let mut values = vec![vec![]; tensors.len()];
    let mut gpus: Vec<(DispatchDevice, Vec<(usize, DispatchTensor)>)> = vec![];
    for (i, tensor) in tensors.into_iter().enumerate() {
        if is_host(&tensor) {
            values[i] = read(tensor)?;
            continue;
        }
        let device = tensor.device();
        match gpus.iter_mut().find(|(gpu, _)| *gpu == device) {
            Some((_, tensors)) => tensors.push((i, tensor)),
            None => gpus.push((device, vec![(i, tensor)])),
        }
    }
    for chunk in gpus.iter().flat_map(|(_, tensors)| chunks(tensors)) {
        let concatenated = with_gpu_access(|| match chunk {
            [(_, tensor)] => read(tensor.clone()),
            _ => read(concat_flat(chunk.iter().map(|(_, t)| flatten(t)).collect())),
        })?;
        let mut rest = &concatenated[..];
        for (i, tensor) in chunk {
            let (head, tail) = rest.split_at(elements(tensor).min(rest.len()));
            values[*i] = head.to_vec();
            rest = tail;
        }
    }
    Ok(values)
}

/// The values of a tensor of integers, in row-major order.
///
/// # Errors
///
/// As [`read`].
pub fn read_ints(tensor: DispatchTensor) -> Result<Vec<i32>, ExecError> {
    let data = wait_for_data(is_host(&tensor), Dispatch::int_into_data(tensor))?;
    Ok(data.iter::<i32>().collect())
}

/// Splits tensors into chunks of at most [`LARGE`] elements, which are concatenated on their device. That
/// takes as much memory again, so a larger tensor is a chunk of its own.
fn chunks(
    mut tensors: &[(usize, DispatchTensor)],
) -> impl Iterator<Item = &[(usize, DispatchTensor)]> {
    std::iter::from_fn(move || {
        let mut size = 0;
        let fits = |(i, (_, tensor)): &(usize, &(usize, DispatchTensor))| {
            size += elements(tensor);
            *i == 0 || size <= LARGE
        };
        let n = tensors.iter().enumerate().take_while(fits).count();
        let (chunk, rest) = tensors.split_at(n);
        tensors = rest;
        (!chunk.is_empty()).then_some(chunk)
    })
}

/// The tensor as a vector of its elements, in row-major order.
fn flatten(tensor: &DispatchTensor) -> DispatchTensor {
    let shape = Shape::from(vec![elements(tensor)]);
    Dispatch::float_reshape(tensor.clone(), shape)
}

/// Concatenates vectors, [`CONCAT_LIMIT`] of them in one kernel, then the results of those kernels.
fn concat_flat(mut vectors: Vec<DispatchTensor>) -> DispatchTensor {
    while vectors.len() > 1 {
        let results = vectors.chunks(CONCAT_LIMIT).map(|chunk| match chunk {
            [vector] => vector.clone(),
            _ => Dispatch::float_cat(chunk.to_vec(), 0),
        });
        vectors = results.collect();
    }
    vectors.remove(0)
}

fn elements(tensor: &DispatchTensor) -> usize {
    tensor.shape().num_elements()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tensor::from_floats;

    #[test]
    fn tensors_read_together_are_those_read_apart() {
        let device = DispatchDevice::default();
        let tensor = |i: usize| {
            let numbers = (0..2 * i).map(|x| (x * i) as f32).collect();
            from_floats(numbers, &[i, 2], &device)
        };
        let all: Vec<DispatchTensor> = (1..40).map(tensor).collect();
        let apart: Vec<Vec<f32>> = all.iter().cloned().map(|t| read(t).unwrap()).collect();
        assert!(read_all(all.clone()).unwrap() == apart);
        let numbered: Vec<_> = all.iter().cloned().enumerate().collect();
        let joined: Vec<usize> = chunks(&numbered).map(<[_]>::len).collect();
        assert_eq!(joined, [39]);
        for n in [1, 2, CONCAT_LIMIT, CONCAT_LIMIT + 1, 39] {
            let flat = all.iter().take(n).map(flatten).collect();
            assert!(
                read(concat_flat(flat)).unwrap() == apart[..n].concat(),
                "{n}"
            );
        }
        assert!(read_all(vec![]).unwrap().is_empty());
        let sizes = [LARGE - 1, 1, 1, LARGE + 5, 2];
        let sized = sizes.map(|n| (0, from_floats(vec![0.0; n], &[n], &device)));
        let joined: Vec<usize> = chunks(&sized).map(<[_]>::len).collect();
        assert_eq!(joined, [2, 1, 1, 1]);
    }
}
