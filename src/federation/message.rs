//! Payloads as Flower's records, and back.
//!
//! A SuperLink spends milliseconds on each object of a message, so a payload is few of them: a record for the
//! tensors that the requests to all parties share, which the SuperLink stores once, and one for the rest, which
//! is in the message itself unless it is large. Each holds [encoded](Payload::encode) bytes.

use std::sync::{Arc, Weak};

use fedround_flower::{self as flower, Array, Arrays, Config, ConfigValue, Dtype, Record};
use fedround_simulation::parties::Payload;
use fedround_store::TensorBytes;

use super::error::MessageError;

/// The settings of a message about the federation itself, such as who a party is.
pub(super) const SETTINGS: &str = "fedround";
/// The record of what is sent to all alike, and that of all else.
const SHARED: &str = "shared";
const OWN: &str = "own";
/// The only entry of either.
const BYTES: &str = "bytes";
/// Larger ones are arrays, which travel in pieces of at most this size.
const PIECE: usize = 5 << 20;

/// The record of the tensors that the last party was sent. If the next one is sent the same tensors in memory,
/// it is sent the same record, which is made and hashed once.
#[derive(Default)]
pub(super) struct SharedRecord {
    tensors: Vec<(String, Weak<TensorBytes>)>,
    made: Option<Record>,
}

impl SharedRecord {
    /// The record of tensors.
    fn of(&mut self, shared: &Payload) -> Result<Record, MessageError> {
        match &self.made {
            Some(made) if self.is_of(shared) => Ok(made.clone()),
            _ => {
                let made = record(shared.encode()?)?;
                let tensors = shared.tensors.iter();
                let tensors = tensors.map(|(name, tensor)| (name.clone(), Arc::downgrade(tensor)));
                self.tensors = tensors.collect();
                self.made = Some(made.clone());
                Ok(made)
            }
        }
    }

    /// Whether these tensors are the same in memory. A place is not used again as long as a weak reference
    /// names it.
    fn is_of(&self, shared: &Payload) -> bool {
        let known = self.tensors.iter();
        let known = known.map(|(name, tensor)| (name.as_str(), tensor.as_ptr().addr()));
        let tensors = shared.tensors.iter();
        known.eq(tensors.map(|(name, tensor)| (name.as_str(), Arc::as_ptr(tensor).addr())))
    }

    /// Forgets it: no other party will be sent these tensors.
    pub fn clear(&mut self) {
        *self = Self::default();
    }
}

/// A payload as the content of a Flower message.
pub(super) fn to_flower(
    payload: &Payload,
    sent: &mut SharedRecord,
) -> Result<flower::Payload, MessageError> {
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
    let content = flower::Payload::new().with(OWN, record(own.encode()?)?);
    Ok(match shared.tensors.is_empty() {
        true => content,
        false => content.with(SHARED, sent.of(&shared)?),
    })
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

/// The bytes of what a message does not share with others.
pub(super) fn own_bytes(content: &flower::Payload) -> usize {
    bytes(content, OWN).map_or(0, <[u8]>::len)
}

fn record(bytes: Vec<u8>) -> Result<Record, MessageError> {
    let name = BYTES.to_owned();
    if bytes.len() < PIECE {
        return Ok(Config::from_iter([(name, ConfigValue::Bytes(bytes.into()))]).into());
    }
    let array = Array::new(Dtype::U8, vec![bytes.len()], bytes).map_err(MessageError::Size)?;
    Ok(Arrays::from_iter([(name, array)]).into())
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
    use super::*;

    fn to_flower(payload: &Payload) -> Result<flower::Payload, MessageError> {
        super::to_flower(payload, &mut SharedRecord::default())
    }

    #[test]
    fn tensors_for_several_parties_are_encoded_once() {
        let n = PIECE / 4;
        let large = |x: f32| Arc::new(TensorBytes::of_floats(&vec![x; n], &[n]));
        let mut sent = SharedRecord::default();
        let mut place = |tensor: &Arc<TensorBytes>| {
            let own = Arc::new(TensorBytes::of_ints(&[1], &[1]));
            let tensors = [("w", Arc::clone(tensor)), ("client1/w", own)];
            let payload = Payload {
                tensors: tensors
                    .map(|(name, tensor)| (name.to_owned(), tensor))
                    .into(),
                ..Payload::default()
            };
            let content = super::to_flower(&payload, &mut sent).unwrap();
            let mut back = from_flower(&content).unwrap();
            // They come back in the order of their names.
            back.tensors.reverse();
            assert_eq!(back, payload);
            // What is kept is not freed, so that another record has another place.
            let place = content.arrays(SHARED).unwrap()[BYTES].bytes().as_ptr();
            (place, content)
        };
        let (first, second) = (large(1.0), large(2.0));
        let one = place(&first);
        assert_eq!(one.0, place(&first).0);
        let other = place(&second);
        assert_ne!(one.0, other.0);
        assert_ne!(one.0, place(&large(1.0)).0);
    }

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
            let content = content.clone().with(other, record(vec![0; 8]).unwrap());
            let error = from_flower(&content).unwrap_err();
            assert!(matches!(error, MessageError::Payload(_)), "{error}");
        }
    }
}
