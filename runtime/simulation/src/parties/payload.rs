//! The payload of a message between the coordinator and a party: named tensors, and a head in JSON.
//!
//! Its bytes are a safetensors file whose metadata has the head, so that any reader of such files can read it.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use fedround_store::{ElementType, TensorBytes};
use safetensors::tensor::{Dtype, Metadata, SafeTensors, View, serialize};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::error::PayloadError;
use super::message::{LOSSES, Reply, Request, Task};

/// The key of the head in the metadata.
const HEAD: &str = "fedround";

/// Numbers as the bits of 64-bit floats, by name.
pub(super) type Numbers = BTreeMap<String, u64>;

/// A request to a party, or its reply.
///
/// A transport may carry its [bytes](Self::encode), or its head and tensors one by one. Tensors that several requests
/// of a round have in common share memory, and have the same name in each request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Payload {
    /// The request or reply in JSON, with the region, the round and the clients.
    pub head: String,
    /// Numbers that the algorithm sends, by name, as the bits of 64-bit floats.
    pub numbers: Numbers,
    /// The tensors by name.
    pub tensors: Vec<(String, Arc<TensorBytes>)>,
}

/// The tensors of a payload by their names.
pub(super) type TensorsByName<'a> = HashMap<&'a str, &'a TensorBytes>;

/// A tensor's bytes, as safetensors asks for them.
struct Bytes<'a>(&'a TensorBytes);

impl View for Bytes<'_> {
    fn dtype(&self) -> Dtype {
        match self.0.element {
            ElementType::F32 => Dtype::F32,
            ElementType::I32 => Dtype::I32,
            ElementType::F64 => Dtype::F64,
        }
    }

    fn shape(&self) -> &[usize] {
        &self.0.shape
    }

    fn data(&self) -> Cow<'_, [u8]> {
        Cow::Borrowed(&self.0.data)
    }

    fn data_len(&self) -> usize {
        self.0.data.len()
    }
}

impl Payload {
    /// A payload without values.
    pub(crate) fn new(head: &impl Serialize) -> Result<Self, PayloadError> {
        Self::default().with_head(head)
    }

    /// The same values with a head.
    pub(crate) fn with_head(self, head: &impl Serialize) -> Result<Self, PayloadError> {
        let head = serde_json::to_string(head)?;
        Ok(Self { head, ..self })
    }

    /// Adds a tensor.
    pub(crate) fn add(&mut self, name: String, tensor: TensorBytes) {
        self.tensors.push((name, Arc::new(tensor)));
    }

    /// Adds the tensors and numbers of another payload.
    pub(crate) fn extend(&mut self, values: &Self) {
        self.tensors.extend(values.tensors.iter().cloned());
        let numbers = values.numbers.iter();
        self.numbers
            .extend(numbers.map(|(name, bits)| (name.clone(), *bits)));
    }

    /// Reads the head.
    pub(crate) fn read<T: DeserializeOwned>(&self) -> Result<T, PayloadError> {
        Ok(serde_json::from_str(&self.head)?)
    }

    /// If this is the reply of a host that could not do what was requested: why not.
    pub fn failure(&self) -> Option<String> {
        match self.read() {
            Ok(Reply::Failed(why)) => Some(why),
            _ => None,
        }
    }

    /// Its bytes.
    ///
    /// # Errors
    ///
    /// Two tensors have one name, or one has fewer bytes than its shape says.
    pub fn encode(&self) -> Result<Vec<u8>, PayloadError> {
        // A single entry, because the order of a hash map's entries varies and equal payloads must have equal bytes.
        let head = serde_json::to_string(&(&self.head, &self.numbers))?;
        let head = HashMap::from([(HEAD.to_owned(), head)]);
        let mut names = HashSet::new();
        let twice = self.tensors.iter().find(|(name, _)| !names.insert(name));
        if let Some((name, _)) = twice {
            let name = name.clone();
            return Err(PayloadError::Twice { name });
        }
        let tensors = self.tensors.iter();
        let tensors = tensors.map(|(name, tensor)| (name.as_str(), Bytes(tensor)));
        Ok(serialize(tensors, Some(head))?)
    }

    /// Reads the bytes of [`encode`](Self::encode). The receiver has to check the values.
    ///
    /// # Errors
    ///
    /// See [`PayloadError`]. Malformed bytes cause an error and never a panic.
    pub fn decode(bytes: &[u8]) -> Result<Self, PayloadError> {
        let (_, metadata): (_, Metadata) = SafeTensors::read_metadata(bytes)?;
        let head = metadata.metadata().as_ref().and_then(|all| all.get(HEAD));
        let (head, numbers) = serde_json::from_str(head.ok_or(PayloadError::NoHead)?)?;
        let mut tensors = vec![];
        for (name, view) in SafeTensors::deserialize(bytes)?.iter() {
            let element = match view.dtype() {
                Dtype::F32 => ElementType::F32,
                Dtype::I32 => ElementType::I32,
                Dtype::F64 => ElementType::F64,
                found => {
                    return Err(PayloadError::Element {
                        name: name.to_owned(),
                        found: format!("{found:?}"),
                    });
                }
            };
            let (shape, data) = (view.shape().to_vec(), view.data().to_vec());
            let tensor = TensorBytes {
                element,
                shape,
                data,
            };
            tensors.push((name.to_owned(), Arc::new(tensor)));
        }
        tensors.sort_by(|(a, _), (b, _)| a.cmp(b));
        Ok(Self {
            head,
            numbers,
            tensors,
        })
    }

    /// The round, from 1, of a request to run a region; `None` for other requests.
    ///
    /// # Errors
    ///
    /// The payload is not a request.
    pub fn round(&self) -> Result<Option<usize>, PayloadError> {
        let request: Request = self.read()?;
        Ok(match request.task {
            Task::Run(run) => Some(run.attempt.round),
            Task::Settle | Task::Evaluate(..) => None,
        })
    }

    /// The tensors by their names.
    pub(super) fn tensors_by_name(&self) -> TensorsByName<'_> {
        let tensors = self.tensors.iter();
        tensors
            .map(|(name, tensor)| (name.as_str(), tensor.as_ref()))
            .collect()
    }

    /// The bytes of the values that the algorithm sends, as the wire table counts them: four for each element of a
    /// tensor and for each number, eight for each element of a sum over clients. The head and reports of losses do
    /// not count.
    pub fn wire_bytes(&self) -> usize {
        let sent = self.tensors.iter();
        let sent = sent.filter(|(name, _)| !name.ends_with(LOSSES));
        let tensors = sent.map(|(_, tensor)| tensor.data.len());
        tensors.sum::<usize>() + 4 * self.numbers.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn payload() -> Payload {
        let floats = TensorBytes::of_floats(&[f32::NAN, -0.0, 1.5], &[3]);
        let ints = TensorBytes::of_ints(&[i32::MIN], &[1, 1]);
        Payload {
            head: "{\"round\":3}".to_owned(),
            numbers: BTreeMap::from([("n".to_owned(), f64::NAN.to_bits())]),
            tensors: vec![
                ("a".to_owned(), Arc::new(ints)),
                ("b".to_owned(), Arc::new(floats)),
            ],
        }
    }

    #[test]
    fn bytes_come_back() {
        let bytes = payload().encode().unwrap();
        let back = Payload::decode(&bytes).unwrap();
        assert_eq!(back, payload());
        assert_eq!(back.encode().unwrap(), bytes);
        assert_eq!(back.wire_bytes(), 20);
        assert!(!back.tensors_by_name().contains_key("c"));
    }

    #[test]
    fn two_tensors_of_one_name_are_an_error() {
        let mut twice = payload();
        twice.extend(&payload());
        let error = twice.encode().unwrap_err().to_string();
        assert_eq!(error, "two tensors are called `a`");
    }

    #[test]
    fn broken_bytes_are_errors() {
        let bytes = payload().encode().unwrap();
        for end in 0..bytes.len() {
            assert!(Payload::decode(&bytes[..end]).is_err(), "{end}");
        }
        // A changed byte is another payload or an error, and never a panic.
        let mut refused = 0;
        for i in 0..bytes.len() {
            for change in [1_u8, 0x80, 0xff] {
                let mut changed = bytes.clone();
                changed[i] ^= change;
                refused += usize::from(Payload::decode(&changed).is_err());
            }
        }
        assert!(refused > bytes.len());
        assert!(Payload::decode(&[]).is_err());
        let none = serialize(Vec::<(&str, Bytes<'_>)>::new(), None).unwrap();
        assert!(matches!(Payload::decode(&none), Err(PayloadError::NoHead)));
    }
}
