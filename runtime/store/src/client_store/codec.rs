//! Tensors as one value of the database, with a checksum over the key and the value.
//!
//! A value is the checksum (CRC-32, 4 bytes), the number of tensors, and for each a name, which is
//! empty, its element type, shape and elements. Numbers are little-endian. The key is part of the
//! checksum, so that a whole value of another client is found out too.

use crate::{ElementType, TensorBytes};

/// The most axes that a tensor of a file may have.
const MOST_AXES: u32 = 64;

/// The value of tensors under a key, and its checksum.
pub(super) fn encode(key: &[u8], tensors: &[TensorBytes]) -> (Vec<u8>, u32) {
    let size = |tensor: &TensorBytes| 9 + 8 * tensor.shape.len() + tensor.data.len();
    let size = 8 + tensors.iter().map(size).sum::<usize>();
    let mut value = Vec::with_capacity(size);
    value.extend([0; 4]);
    value.extend((tensors.len() as u32).to_le_bytes());
    for tensor in tensors {
        value.extend(0_u32.to_le_bytes());
        value.push(match tensor.element {
            ElementType::F32 => 0,
            ElementType::I32 => 1,
            ElementType::F64 => 2,
        });
        value.extend((tensor.shape.len() as u32).to_le_bytes());
        for &n in &tensor.shape {
            value.extend((n as u64).to_le_bytes());
        }
        value.extend_from_slice(&tensor.data);
    }
    let checksum = checksum(key, &value[4..]);
    value[..4].copy_from_slice(&checksum.to_le_bytes());
    (value, checksum)
}

/// The tensors of a value; an error says what was expected and found.
pub(super) fn decode(key: &[u8], value: &[u8]) -> Result<Vec<TensorBytes>, String> {
    let mut rest = value;
    let expected = u32::from_le_bytes(take(&mut rest)?);
    let found = checksum(key, rest);
    if expected != found {
        return Err(format!(
            "expected a value with checksum {expected:08x}, found {found:08x}"
        ));
    }
    let count = u32::from_le_bytes(take(&mut rest)?);
    let mut tensors = vec![];
    for _ in 0..count {
        tensors.push(tensor(&mut rest)?);
    }
    match rest.len() {
        0 => Ok(tensors),
        more => Err(format!("{more} bytes after the last tensor")),
    }
}

fn tensor(rest: &mut &[u8]) -> Result<TensorBytes, String> {
    let name = u32::from_le_bytes(take(rest)?) as usize;
    bytes(rest, name)?;
    let element = match take::<1>(rest)? {
        [0] => ElementType::F32,
        [1] => ElementType::I32,
        [2] => ElementType::F64,
        [other] => return Err(format!("no element type has the number {other}")),
    };
    let axes = u32::from_le_bytes(take(rest)?);
    if axes > MOST_AXES {
        return Err(format!("a tensor with {axes} axes"));
    }
    let mut shape = Vec::with_capacity(axes as usize);
    let mut size = Some(element.size());
    for _ in 0..axes {
        let n = usize::try_from(u64::from_le_bytes(take(rest)?)).map_err(|e| e.to_string())?;
        size = size.and_then(|size| size.checked_mul(n));
        shape.push(n);
    }
    let size = size.ok_or_else(|| format!("a tensor of shape {shape:?}"))?;
    let data = bytes(rest, size)?.to_vec();
    Ok(TensorBytes {
        element,
        shape,
        data,
    })
}

fn bytes<'a>(rest: &mut &'a [u8], n: usize) -> Result<&'a [u8], String> {
    let (first, after) = rest
        .split_at_checked(n)
        .ok_or_else(|| format!("expected {n} more bytes, found {}", rest.len()))?;
    *rest = after;
    Ok(first)
}

fn take<const N: usize>(rest: &mut &[u8]) -> Result<[u8; N], String> {
    let mut array = [0; N];
    array.copy_from_slice(bytes(rest, N)?);
    Ok(array)
}

fn checksum(key: &[u8], value: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(key);
    hasher.update(value);
    hasher.finalize()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_changed_byte_is_found() {
        let tensor = TensorBytes {
            element: ElementType::I32,
            shape: vec![1, 2],
            data: vec![1, 2, 3, 4, 5, 6, 7, 8],
        };
        let (value, _) = encode(b"key", std::slice::from_ref(&tensor));
        assert_eq!(decode(b"key", &value).unwrap(), [tensor]);
        assert!(decode(b"kez", &value).is_err());
        for i in 0..value.len() {
            let mut changed = value.clone();
            changed[i] ^= 0x10;
            assert!(decode(b"key", &changed).is_err(), "byte {i}");
            assert!(decode(b"key", &value[..i]).is_err(), "{i} bytes");
        }
    }

    #[test]
    fn a_shape_that_no_memory_holds_is_an_error() {
        let tensor = TensorBytes {
            element: ElementType::F32,
            shape: vec![usize::MAX, usize::MAX],
            data: vec![],
        };
        let (value, _) = encode(b"", &[tensor]);
        let error = decode(b"", &value).unwrap_err();
        assert!(error.starts_with("a tensor of shape"), "{error}");
    }
}
