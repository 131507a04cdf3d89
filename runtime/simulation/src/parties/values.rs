//! Converts values of clients to named tensors and numbers of a message, and back. Values that are read from a
//! message are checked by their name, kind and shape, and by what else is known of their [type](ValueType).

use std::collections::BTreeMap;
use std::sync::Arc;

use burn::tensor::DispatchTensor;
use fedround_codec::Codec;
use fedround_exec::Program;
use fedround_exec::tensor::from_floats;
use fedround_ir::fed::Kind;
use fedround_ir::tensor::Op;
use fedround_passes::lowering::Frontend;
use fedround_store::{ElementType, TensorBytes};

use super::error::ContentError;
use super::payload::{Numbers, Payload};
use super::value_type::ValueType;
use crate::error::RunError;
use crate::tensor_bytes::{from_bytes, to_bytes};
use crate::value::RuntimeValue;
use crate::value::batching::apply;

/// Adds a value to a message. Of parameters, only the leaves that `sent_leaves` marks are added.
pub(super) fn write_value(
    message: &mut Payload,
    name: &str,
    (program, kind, sent_leaves): (&Program, Kind, &[bool]),
    value: &RuntimeValue,
) -> Result<(), RunError> {
    let unsendable = || ContentError::Unsendable {
        name: name.to_owned(),
        expected: kind.name(),
    };
    let bytes = |leaves: &[DispatchTensor]| -> Result<Vec<TensorBytes>, RunError> {
        Ok(to_bytes(leaves)?.ok_or_else(unsendable)?)
    };
    match (kind, value) {
        (Kind::Params, RuntimeValue::Params(leaves)) => {
            let named = program.model().parameters().iter().zip(leaves);
            let sent = named.zip(sent_leaves).filter(|(_, sent)| **sent);
            let (names, leaves): (Vec<&str>, Vec<DispatchTensor>) = sent
                .map(|(((leaf, _), tensor), _)| (leaf.as_str(), tensor.clone()))
                .unzip();
            for (leaf, own) in names.into_iter().zip(bytes(&leaves)?) {
                message.add(format!("{name}.{leaf}"), own);
            }
        }
        (Kind::Scalar | Kind::Tensor | Kind::Labels, RuntimeValue::Tensor(tensor)) => {
            for own in bytes(std::slice::from_ref(tensor))? {
                message.add(name.to_owned(), own);
            }
        }
        (Kind::Scalar, RuntimeValue::Number(x)) => {
            message.numbers.insert(name.to_owned(), x.to_bits());
        }
        _ => return Err(unsendable().into()),
    }
    Ok(())
}

/// Adds encoded parameters to a message: their bytes, padded with zeros to whole 32-bit integers.
pub(super) fn write_encoded(message: &mut Payload, name: &str, encoded: &[u8]) {
    let mut data = encoded.to_vec();
    data.resize(encoded.len().next_multiple_of(WORD), 0);
    let bytes = TensorBytes {
        element: ElementType::I32,
        shape: vec![data.len() / WORD],
        data,
    };
    message.add(format!("{name}.encoded"), bytes);
}

/// The bytes of a 32-bit integer.
const WORD: usize = 4;

/// Reads the values of a message. Each value can be read once.
pub(super) struct PayloadReader<'p> {
    tensors: BTreeMap<String, Arc<TensorBytes>>,
    numbers: Numbers,
    program: &'p Program,
}

impl<'p> PayloadReader<'p> {
    pub fn new(payload: &Payload, program: &'p Program) -> Self {
        Self {
            tensors: payload.tensors.iter().cloned().collect(),
            numbers: payload.numbers.clone(),
            program,
        }
    }

    /// Reads a value by its name. Leaves of parameters that are not sent are those that `fill` gives.
    pub fn value(
        &mut self,
        name: &str,
        (kind, sent_leaves, ty): (Kind, &[bool], &ValueType),
        fill: impl Fn(usize) -> Option<DispatchTensor>,
    ) -> Result<RuntimeValue, ContentError> {
        if kind != Kind::Params {
            if kind == Kind::Scalar
                && let Some(bits) = self.numbers.remove(name)
            {
                let number = f64::from_bits(bits);
                ty.check_number(name, number)?;
                return Ok(RuntimeValue::Number(number));
            }
            if let Some(tensor) = self.tensors.get(name) {
                ty.check_tensor(name, tensor)?;
            }
            let element = match kind {
                Kind::Labels => ElementType::I32,
                _ => ElementType::F32,
            };
            let shape: Option<&[usize]> = (kind == Kind::Scalar).then_some(&[1]);
            return Ok(RuntimeValue::Tensor(self.tensor(name, element, shape)?));
        }
        let leaves = self.program.model().parameters();
        let mut all = Vec::with_capacity(leaves.len());
        for (i, ((leaf, ty), crosses)) in leaves.iter().zip(sent_leaves).enumerate() {
            let name = format!("{name}.{leaf}");
            all.push(match crosses {
                true => self.tensor(&name, ElementType::F32, Some(&ty.shape))?,
                false => fill(i).ok_or(ContentError::Missing { name })?,
            });
        }
        Ok(RuntimeValue::Params(all))
    }

    /// Reads encoded parameters, and adds them to the parameters `onto` that the client had received.
    pub fn encoded(
        &mut self,
        name: &str,
        codec: &Codec,
        onto: Option<&RuntimeValue>,
    ) -> Result<RuntimeValue, ContentError> {
        let name = format!("{name}.encoded");
        let missing = || ContentError::Missing { name: name.clone() };
        let sent = self.tensors.remove(&name).ok_or_else(missing)?;
        let leaves = self.program.model().parameters();
        let shapes: Vec<&[usize]> = leaves.iter().map(|(_, ty)| &ty.shape[..]).collect();
        let length = codec.bytes(&shapes);
        if sent.element != ElementType::I32 || sent.data.len() != length.next_multiple_of(WORD) {
            return Err(ContentError::Shape {
                name,
                expected: format!("I32 with {length} bytes"),
                found: format!("{:?} with {} bytes", sent.element, sent.data.len()),
            });
        }
        let decoded = codec.decode(&sent.data[..length], &shapes);
        let decoded = decoded.map_err(|source| ContentError::Encoded {
            name: name.clone(),
            source,
        })?;
        let tensors = decoded.into_iter().zip(shapes);
        let device = self.program.device();
        let tensors = tensors.map(|(values, shape)| from_floats(values, shape, device));
        let Some(onto) = onto else {
            return Ok(RuntimeValue::Params(tensors.collect()));
        };
        let sums = onto.tensors().iter().zip(tensors);
        let sums = sums.map(|(a, b)| apply(&Op::Add, vec![a.clone(), b]));
        let sums = sums.collect::<Option<_>>();
        sums.map(RuntimeValue::Params).ok_or_else(missing)
    }

    /// Reads a leaf of a sum over clients.
    pub fn sum(&mut self, name: &str, shape: &[usize]) -> Result<Vec<f64>, ContentError> {
        let name = name.to_owned();
        let Some(bytes) = self.tensors.remove(&name) else {
            return Err(ContentError::Missing { name });
        };
        let sum = bytes.doubles().filter(|_| bytes.shape == shape);
        sum.ok_or_else(|| ContentError::Shape {
            name,
            expected: format!("F64 of {shape:?}"),
            found: format!("{:?} of {:?}", bytes.element, bytes.shape),
        })
    }

    /// Reads a tensor by its name. Without a shape, any shape is accepted.
    pub fn tensor(
        &mut self,
        name: &str,
        element: ElementType,
        shape: Option<&[usize]>,
    ) -> Result<DispatchTensor, ContentError> {
        let name = name.to_owned();
        let Some(bytes) = self.tensors.remove(&name) else {
            return Err(ContentError::Missing { name });
        };
        let fits = bytes.element == element && shape.is_none_or(|shape| shape == bytes.shape);
        let tensor = match fits {
            true => from_bytes(&bytes, self.program.device()),
            false => None,
        };
        let any = |shape: Option<&[usize]>| shape.map_or("any shape".into(), |s| format!("{s:?}"));
        tensor.ok_or_else(|| ContentError::Shape {
            name,
            expected: format!("{element:?} of {}", any(shape)),
            found: format!("{:?} of {}", bytes.element, any(Some(&bytes.shape))),
        })
    }

    /// Checks that every value of the message was read.
    pub fn finish(self) -> Result<(), ContentError> {
        let names = self.tensors.into_keys().chain(self.numbers.into_keys());
        match names.into_iter().next() {
            Some(name) => Err(ContentError::Unexpected { name }),
            None => Ok(()),
        }
    }
}
