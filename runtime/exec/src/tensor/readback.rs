//! Reads tensors into host memory. The host waits for a GPU that holds them.

use std::sync::atomic::{AtomicU64, Ordering};

use burn::tensor::{DispatchTensor, Shape, TensorData};
use burn_backend::ops::{FloatTensorOps, IntTensorOps};
use burn_backend::{ExecutionError, TensorMetadata};
use burn_dispatch::{Dispatch, DispatchDevice};

use super::CONCAT_LIMIT;
use super::host::{is_host, values};
use crate::device::{ExecError, busy};

/// A tensor with more elements is read alone: copying it takes longer than waiting once more.
const LARGE: usize = 1 << 20;

/// How often this process has read from a GPU.
static READS: AtomicU64 = AtomicU64::new(0);

/// How often this process has waited for values from a GPU.
pub fn device_reads() -> u64 {
    READS.load(Ordering::Relaxed)
}

/// Waits for the data of a tensor, and counts the wait if it is not in host memory.
pub(crate) fn wait(
    on_host: bool,
    data: impl Future<Output = Result<TensorData, ExecutionError>>,
) -> Result<TensorData, ExecError> {
    if !on_host {
        READS.fetch_add(1, Ordering::Relaxed);
    }
    busy(|| burn_backend::read_sync(data)).map_err(ExecError::from)
}

/// The values of a tensor of floats, in row-major order.
///
/// # Errors
///
/// The device failed in this read, or in any op since the last one.
pub fn read(tensor: DispatchTensor) -> Result<Vec<f32>, ExecError> {
    if let Some(values) = values(&tensor) {
        return Ok(values);
    }
    let data = wait(is_host(&tensor), Dispatch::float_into_data(tensor))?;
    let values = data.try_to_vec::<f32>();
    // Data may be fetched only here; then an earlier failure is reported here.
    values.map_err(|error| ExecError::from_message(&error.to_string()))
}

/// The values of tensors of floats, each in row-major order. The tensors of a GPU are concatenated
/// there first, so that the host waits once for several.
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
        match gpus.iter_mut().find(|(known, _)| *known == device) {
            Some((_, own)) => own.push((i, tensor)),
            None => gpus.push((device, vec![(i, tensor)])),
        }
    }
    for some in gpus.iter().flat_map(|(_, own)| chunks(own)) {
        let joined = match some {
            [(_, one)] => one.clone(),
            _ => join(some.iter().map(|(_, t)| flat(t)).collect()),
        };
        let joined = read(joined)?;
        let mut rest = &joined[..];
        for (i, tensor) in some {
            let (own, after) = rest.split_at(elements(tensor).min(rest.len()));
            values[*i] = own.to_vec();
            rest = after;
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
    let data = wait(is_host(&tensor), Dispatch::int_into_data(tensor))?;
    Ok(data.iter::<i32>().collect())
}

/// Splits tensors into groups that are concatenated on their device, which takes as much memory
/// again: no large one with others.
fn chunks(mut all: &[(usize, DispatchTensor)]) -> impl Iterator<Item = &[(usize, DispatchTensor)]> {
    std::iter::from_fn(move || {
        let mut size = 0;
        let fits = |(i, (_, tensor)): &(usize, &(usize, DispatchTensor))| {
            size += elements(tensor);
            *i == 0 || size <= LARGE
        };
        let n = all.iter().enumerate().take_while(fits).count();
        let (some, rest) = all.split_at(n);
        all = rest;
        (!some.is_empty()).then_some(some)
    })
}

/// The elements of a tensor, in row-major order.
fn flat(tensor: &DispatchTensor) -> DispatchTensor {
    let shape = Shape::from(vec![elements(tensor)]);
    Dispatch::float_reshape(tensor.clone(), shape)
}

/// Flat tensors, one after another: few at a time, and what that gives again.
fn join(mut flat: Vec<DispatchTensor>) -> DispatchTensor {
    while flat.len() > 1 {
        let some = flat.chunks(CONCAT_LIMIT).map(|some| match some {
            [one] => one.clone(),
            _ => Dispatch::float_cat(some.to_vec(), 0),
        });
        flat = some.collect();
    }
    flat.remove(0)
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
            let some = all.iter().take(n).map(flat).collect();
            assert!(read(join(some)).unwrap() == apart[..n].concat(), "{n}");
        }
        assert!(read_all(vec![]).unwrap().is_empty());
        let sizes = [LARGE - 1, 1, 1, LARGE + 5, 2];
        let sized = sizes.map(|n| (0, from_floats(vec![0.0; n], &[n], &device)));
        let joined: Vec<usize> = chunks(&sized).map(<[_]>::len).collect();
        assert_eq!(joined, [2, 1, 1, 1]);
    }
}
