//! Files of `torch.save(model.state_dict(), path)`: archives, and the pickles of before PyTorch
//! 1.6. No code of the file runs.

mod archive;
mod cursor;
mod pickle;

use std::collections::BTreeMap;

use burn::tensor::{DType, TensorData};

use super::file::Stored;
use cursor::Cursor;
use pickle::Value;

/// The first number of a file of before PyTorch 1.6.
const MAGIC: i128 = 0x1950_a86a_20f9_469c_fc6c;

/// The bytes of storages by their names.
type Storages<'a> = BTreeMap<String, &'a [u8]>;

/// Whether a file begins as `torch.save` begins one.
pub(super) fn is_torch(bytes: &[u8]) -> bool {
    bytes.starts_with(b"PK\x03\x04") || matches!(bytes, [0x80, 2..=5, ..])
}

/// The tensors of a file; in words what is wrong with it.
pub(super) fn read(bytes: &[u8]) -> Result<Vec<Stored>, String> {
    let (value, storages) = match bytes.first() {
        Some(b'P') => of_archive(bytes)?,
        _ => of_pickles(bytes)?,
    };
    let mut tensors = vec![];
    collect("", state_dict(value), &storages, &mut tensors)?;
    if tensors.is_empty() {
        return Err("it holds no tensors by name; save a state_dict, not a model".to_owned());
    }
    Ok(tensors)
}

fn of_archive(bytes: &[u8]) -> Result<(Value, Storages<'_>), String> {
    let entries = archive::entries(bytes)?;
    if entries
        .get("byteorder")
        .is_some_and(|order| *order != b"little")
    {
        return Err("its numbers are big-endian".to_owned());
    }
    let pickle = entries
        .get("data.pkl")
        .ok_or("the archive has no data.pkl")?;
    let value = pickle::read(&mut Cursor::at(pickle, 0)?, &mut vec![])?;
    let storages = entries.into_iter().filter_map(|(name, bytes)| {
        let name = name.strip_prefix("data/")?.to_owned();
        Some((name, bytes))
    });
    Ok((value, storages.collect()))
}

/// Five pickles (a magic number, a version, the machine, the values and the names of storages),
/// then each storage after its length.
fn of_pickles(bytes: &[u8]) -> Result<(Value, Storages<'_>), String> {
    let mut cursor = Cursor::at(bytes, 0)?;
    let mut outside = vec![];
    let mut next = || pickle::read(&mut cursor, &mut outside);
    if next()? != Value::Int(MAGIC) {
        return Err("it is a pickle, but none of torch.save".to_owned());
    }
    let (_, _, value, names) = (next()?, next()?, next()?, next()?);
    let Value::Row(names) = names else {
        return Err("it has no list of storages".to_owned());
    };
    let mut storages = BTreeMap::new();
    for name in names {
        let kind = outside.iter().filter_map(storage);
        let kind = kind
            .into_iter()
            .find(|s| Value::Text(s.name.clone()) == name);
        let kind = kind.ok_or("it lists a storage that nothing uses")?;
        let length = cursor.u64()?.saturating_mul(kind.size);
        storages.insert(kind.name, cursor.take(length)?);
    }
    Ok((value, storages))
}

/// The entry `state_dict` of a checkpoint that has one.
fn state_dict(value: Value) -> Value {
    let Value::Dict(pairs) = &value else {
        return value;
    };
    let mut pairs = pairs.iter();
    let found = pairs.find(|(key, _)| *key == Value::Text("state_dict".to_owned()));
    found.map(|(_, inner)| inner.clone()).unwrap_or(value)
}

/// Adds the tensors of a value; those of a dictionary have names with dots.
fn collect(
    name: &str,
    value: Value,
    storages: &Storages<'_>,
    tensors: &mut Vec<Stored>,
) -> Result<(), String> {
    match value {
        Value::Dict(pairs) => {
            for (key, value) in pairs {
                let Value::Text(key) = key else { continue };
                let name = match name {
                    "" => key,
                    name => format!("{name}.{key}"),
                };
                collect(&name, value, storages, tensors)?;
            }
        }
        Value::Call(function, arguments) => match function.as_str() {
            "torch._utils _rebuild_tensor_v2" => {
                let data = tensor(&arguments, storages).map_err(|e| format!("`{name}`: {e}"))?;
                let name = name.to_owned();
                tensors.push(Stored { name, data });
            }
            "torch._utils _rebuild_parameter" => {
                let tensor = arguments.into_iter().next().unwrap_or(Value::Other);
                collect(name, tensor, storages, tensors)?;
            }
            _ => {}
        },
        _ => {}
    }
    Ok(())
}

/// What a pickle says of a storage.
struct Storage {
    name: String,
    /// Its type, such as `Float`.
    kind: String,
    /// burn's, of floats.
    dtype: Option<DType>,
    /// Bytes of an element.
    size: u64,
}

/// Reads `("storage", class, name, device, length, ..)`.
fn storage(value: &Value) -> Option<Storage> {
    let Value::Row(fields) = value else {
        return None;
    };
    let [_, Value::Global(class), Value::Text(name), ..] = &fields[..] else {
        return None;
    };
    let kind = class.strip_prefix("torch ")?.strip_suffix("Storage")?;
    let (dtype, size) = match kind {
        "Double" => (Some(DType::F64), 8),
        "Float" => (Some(DType::F32), 4),
        "Half" => (Some(DType::F16), 2),
        "BFloat16" => (Some(DType::BF16), 2),
        "Long" => (None, 8),
        "Int" => (None, 4),
        "Short" => (None, 2),
        "Char" | "Byte" | "Bool" => (None, 1),
        _ => return None,
    };
    Some(Storage {
        name: name.clone(),
        kind: kind.to_owned(),
        dtype,
        size,
    })
}

/// The tensor of `(storage, offset, sizes, strides, ..)`; its type if that is not one of floats.
fn tensor(
    arguments: &[Value],
    storages: &Storages<'_>,
) -> Result<Result<TensorData, String>, String> {
    let [Value::Outside(from), Value::Int(offset), sizes, strides, ..] = arguments else {
        return Err("it is described in another way than PyTorch does".to_owned());
    };
    let from = storage(from).ok_or("its storage is of an unknown type")?;
    let Some(dtype) = from.dtype else {
        return Ok(Err(from.kind));
    };
    let (sizes, strides) = (numbers(sizes)?, numbers(strides)?);
    if sizes.len() != strides.len() {
        return Err("its shape and its layout differ".to_owned());
    }
    let bytes = storages.get(&from.name).ok_or("its storage is missing")?;
    let elements = sizes
        .iter()
        .try_fold(1usize, |n, size| n.checked_mul(*size));
    // A stride of 0 repeats an element, so a tensor may be larger than its storage; not so large.
    let elements = elements.filter(|n| *n <= bytes.len().saturating_mul(1024));
    let elements = elements.ok_or("its shape does not fit its storage")?;
    let first = usize::try_from(*offset).map_err(|e| e.to_string())?;
    let size = from.size as usize;
    let mut values = Vec::with_capacity(elements * size);
    for i in 0..elements {
        let (mut rest, mut place) = (i, first);
        for (n, stride) in sizes.iter().zip(&strides).rev() {
            place = place.saturating_add((rest % n).saturating_mul(*stride));
            rest /= n;
        }
        let start = place.saturating_mul(size);
        let element = bytes.get(start..start.saturating_add(size));
        values.extend(element.ok_or("its storage is cut short")?);
    }
    Ok(Ok(TensorData::from_bytes_vec(values, sizes, dtype)))
}

fn numbers(value: &Value) -> Result<Vec<usize>, String> {
    let Value::Row(values) = value else {
        return Err("its shape is none".to_owned());
    };
    let number = |value: &Value| match value {
        Value::Int(n) => usize::try_from(*n).map_err(|e| e.to_string()),
        _ => Err("its shape has more than numbers".to_owned()),
    };
    values.iter().map(number).collect()
}
