//! Payloads as Flower's records, and back.
//!
//! A SuperLink spends milliseconds on each object of a message, so a payload is few of them: a record for the
//! tensors that the requests to all parties share, which the SuperLink stores once, and one for the rest.
//! Each holds [encoded](Payload::encode) bytes.

use fedround_flower::{self as flower, Array, Arrays, Config, ConfigValue, Dtype};
use fedround_simulation::parties::Payload;

use super::error::MessageError;

/// The settings of a message that is no payload.
pub(super) const SETTINGS: &str = "fedround";
/// The record of what is sent to all alike, and that of all else.
const SHARED: &str = "shared";
const OWN: &str = "own";
/// The only entry of either.
const BYTES: &str = "bytes";
/// Larger ones are arrays, which travel in pieces of at most this size.
const PIECE: usize = 5 << 20;

/// A payload as the content of a Flower message.
pub(super) fn to_flower(payload: &Payload) -> Result<flower::Payload, MessageError> {
    let of_one_client = |name: &str| name.contains('/');
    let tensors = payload.tensors.iter().cloned();
    let (own, shared) = tensors.partition(|(name, _)| of_one_client(name));
    let own = Payload {
        head: payload.head.clone(),
        numbers: payload.numbers.clone(),
        tensors: own,
    };
    let shared = Payload {
        tensors: shared,
        ..Payload::default()
    };
    let content = with_bytes(flower::Payload::new(), OWN, own.encode()?)?;
    match shared.tensors.is_empty() {
        true => Ok(content),
        false => with_bytes(content, SHARED, shared.encode()?),
    }
}

/// The payload of a message's content.
pub(super) fn from_flower(content: &flower::Payload) -> Result<Payload, MessageError> {
    let own = bytes(content, OWN).ok_or(MessageError::Record {
        record: OWN,
        expected: "bytes",
    })?;
    let mut payload = Payload::decode(own)?;
    if let Some(shared) = bytes(content, SHARED) {
        payload.tensors.extend(Payload::decode(shared)?.tensors);
        payload.tensors.sort_by(|(a, _), (b, _)| a.cmp(b));
    }
    Ok(payload)
}

fn with_bytes(
    content: flower::Payload,
    record: &str,
    bytes: Vec<u8>,
) -> Result<flower::Payload, MessageError> {
    let name = BYTES.to_owned();
    if bytes.len() < PIECE {
        let config = Config::from_iter([(name, ConfigValue::Bytes(bytes))]);
        return Ok(content.with(record, config));
    }
    let array = Array::new(Dtype::U8, vec![bytes.len()], bytes).map_err(MessageError::Size)?;
    Ok(content.with(record, Arrays::from_iter([(name, array)])))
}

fn bytes<'a>(content: &'a flower::Payload, record: &str) -> Option<&'a [u8]> {
    let config = content.config(record).and_then(|all| all.get(BYTES));
    match config {
        Some(ConfigValue::Bytes(bytes)) => Some(bytes),
        _ => Some(content.arrays(record)?.get(BYTES)?.bytes()),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use fedround_store::TensorBytes;

    use super::*;

    #[test]
    fn payloads_come_back_bit_for_bit() {
        let tensors = |shared: usize| {
            let floats = vec![f32::NAN; shared];
            vec![
                ("a".to_owned(), TensorBytes::of_floats(&floats, &[shared])),
                ("b".to_owned(), TensorBytes::of_ints(&[-1], &[1])),
                (
                    "client3/b".to_owned(),
                    TensorBytes::of_floats(&[-0.0, 2.0], &[2, 1]),
                ),
                (
                    "client3/c".to_owned(),
                    TensorBytes::of_doubles(&[1e-300, -0.0], &[2]),
                ),
            ]
        };
        for shared in [0, 1, PIECE] {
            let tensors = tensors(shared).into_iter();
            let payload = Payload {
                head: "{\"round\":1}".to_owned(),
                numbers: [("n".to_owned(), f64::NAN.to_bits())].into(),
                tensors: tensors.map(|(name, t)| (name, Arc::new(t))).collect(),
            };
            let content = to_flower(&payload).unwrap();
            assert_eq!(from_flower(&content).unwrap(), payload);
        }
        let content = to_flower(&Payload::default()).unwrap();
        assert_eq!(from_flower(&content).unwrap(), Payload::default());
    }

    #[test]
    fn other_messages_are_refused() {
        let error = from_flower(&flower::Payload::new()).unwrap_err();
        assert!(error.to_string().contains("`own`"), "{error}");
        let content = to_flower(&Payload::default()).unwrap();
        for other in [SHARED, OWN] {
            let content = with_bytes(content.clone(), other, vec![0; 8]).unwrap();
            let error = from_flower(&content).unwrap_err();
            assert!(matches!(error, MessageError::Payload(_)), "{error}");
        }
    }
}
