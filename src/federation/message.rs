//! Payloads as Flower's records, and back.

use std::sync::Arc;

use fedround_flower::{self as flower, Array, Arrays, Config, ConfigValue, Dtype};
use fedround_simulation::parties::Payload;
use fedround_store::{ElementType, TensorBytes};

use super::error::MessageError;

const ARRAYS: &str = "arrays";
const NUMBERS: &str = "numbers";
/// The settings of a message.
pub(super) const SETTINGS: &str = "fedround";
const HEAD: &str = "head";

/// A payload as the content of a Flower message.
pub(super) fn to_flower(payload: &Payload) -> Result<flower::Payload, MessageError> {
    let mut arrays = Arrays::new();
    for (name, tensor) in &payload.tensors {
        let dtype = match tensor.element {
            ElementType::F32 => Dtype::F32,
            ElementType::I32 => Dtype::I32,
            ElementType::F64 => Dtype::F64,
        };
        let array = Array::new(dtype, tensor.shape.clone(), tensor.data.clone());
        let array = array.map_err(|source| MessageError::Array {
            name: name.clone(),
            source,
        })?;
        arrays.insert(name.clone(), array);
    }
    let numbers = payload.numbers.iter();
    // As bits: every number has to come back as it was.
    let numbers = numbers.map(|(name, bits)| (name.clone(), ConfigValue::Uint(*bits)));
    let head = (HEAD.to_owned(), ConfigValue::Text(payload.head.clone()));
    Ok(flower::Payload::new()
        .with(ARRAYS, arrays)
        .with(NUMBERS, numbers.collect::<Config>())
        .with(SETTINGS, Config::from_iter([head])))
}

/// The payload of a message's content.
pub(super) fn from_flower(content: &flower::Payload) -> Result<Payload, MessageError> {
    let lacks = |record, expected| MessageError::Record { record, expected };
    let arrays = content.arrays(ARRAYS);
    let numbers = content.config(NUMBERS);
    let head = content.config(SETTINGS).and_then(|all| all.get(HEAD));
    let Some(ConfigValue::Text(head)) = head else {
        return Err(lacks(SETTINGS, "the text `head`"));
    };
    let mut payload = Payload {
        head: head.clone(),
        ..Payload::default()
    };
    for (name, number) in numbers.ok_or_else(|| lacks(NUMBERS, "numbers"))? {
        let bits = match number {
            ConfigValue::Uint(bits) => *bits,
            // Python and protobuf may give small ones a sign.
            ConfigValue::Int(bits) => bits.cast_unsigned(),
            _ => return Err(lacks(NUMBERS, "the bits of numbers as integers")),
        };
        payload.numbers.insert(name.clone(), bits);
    }
    for (name, array) in arrays.ok_or_else(|| lacks(ARRAYS, "tensors"))? {
        let element = match array.dtype() {
            Dtype::F32 => ElementType::F32,
            Dtype::I32 => ElementType::I32,
            Dtype::F64 => ElementType::F64,
            found => {
                let name = name.clone();
                return Err(MessageError::Element { name, found });
            }
        };
        let tensor = TensorBytes {
            element,
            shape: array.shape().to_vec(),
            data: array.bytes().to_vec(),
        };
        payload.tensors.push((name.clone(), Arc::new(tensor)));
    }
    payload.tensors.sort_by(|(a, _), (b, _)| a.cmp(b));
    Ok(payload)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn payloads_come_back_bit_for_bit() {
        let payload = Payload {
            head: "{\"round\":1}".to_owned(),
            numbers: [("n".to_owned(), f64::NAN.to_bits())].into(),
            tensors: vec![
                ("a".to_owned(), Arc::new(TensorBytes::of_ints(&[-1], &[1]))),
                (
                    "b".to_owned(),
                    Arc::new(TensorBytes::of_floats(&[f32::NAN, -0.0], &[2, 1])),
                ),
                (
                    "c".to_owned(),
                    Arc::new(TensorBytes::of_doubles(&[1e-300, -0.0], &[2])),
                ),
            ],
        };
        let content = to_flower(&payload).unwrap();
        assert_eq!(from_flower(&content).unwrap(), payload);
    }

    #[test]
    fn other_messages_are_refused() {
        let error = from_flower(&flower::Payload::new()).unwrap_err();
        assert!(error.to_string().contains("`fedround`"), "{error}");
        let mut content = to_flower(&Payload::default()).unwrap();
        let wide = Array::new(Dtype::I64, vec![1], vec![0; 8]).unwrap();
        content = content.with(ARRAYS, Arrays::from_iter([("w".to_owned(), wide)]));
        let error = from_flower(&content).unwrap_err().to_string();
        assert!(error.contains("found int64"), "{error}");
    }
}
