//! Values of clients as named tensors and numbers, and back. What comes back is checked against the
//! region's table by name, kind and shape, and against what else is known of its [type](ValueType).

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
use crate::value::RtVal;
use crate::value::batching::apply;

/// Adds a value to a message. Of parameters only those leaves are sent that `crossing` marks.
pub(super) fn put(
    message: &mut Payload,
    name: &str,
    (program, kind, crossing): (&Program, Kind, &[bool]),
    value: &RtVal,
) -> Result<(), RunError> {
    let unsendable = || ContentError::Unsendable {
        name: name.to_owned(),
        expected: kind.name(),
    };
    let bytes = |leaves: &[DispatchTensor]| -> Result<Vec<TensorBytes>, RunError> {
        Ok(to_bytes(leaves)?.ok_or_else(unsendable)?)
    };
    match (kind, value) {
        (Kind::Params, RtVal::Params(leaves)) => {
            let named = program.model().parameters().iter().zip(leaves);
            let sent = named.zip(crossing).filter(|(_, sent)| **sent);
            let (names, leaves): (Vec<&str>, Vec<DispatchTensor>) = sent
                .map(|(((leaf, _), tensor), _)| (leaf.as_str(), tensor.clone()))
                .unzip();
            let bytes = bytes(&leaves)?.into_iter().map(Arc::new);
            let names = names.into_iter().map(|leaf| format!("{name}.{leaf}"));
            message.tensors.extend(names.zip(bytes));
        }
        (Kind::Scalar | Kind::Tensor | Kind::Labels, RtVal::Tensor(tensor)) => {
            let bytes = bytes(std::slice::from_ref(tensor))?.into_iter();
            let named = bytes.map(|bytes| (name.to_owned(), Arc::new(bytes)));
            message.tensors.extend(named);
        }
        (Kind::Scalar, RtVal::Host(x)) => {
            message.numbers.insert(name.to_owned(), x.to_bits());
        }
        _ => return Err(unsendable().into()),
    }
    Ok(())
}

/// Adds parameters as they were encoded: their bytes, filled up with zeros to whole words.
pub(super) fn put_encoded(message: &mut Payload, name: &str, encoded: &[u8]) {
    let mut data = encoded.to_vec();
    data.resize(encoded.len().next_multiple_of(WORD), 0);
    let bytes = TensorBytes {
        element: ElementType::I32,
        shape: vec![data.len() / WORD],
        data,
    };
    let name = format!("{name}.encoded");
    message.tensors.push((name, Arc::new(bytes)));
}

/// Bytes of an integer.
const WORD: usize = 4;

/// Takes values out of a message.
pub(super) struct Taking<'p> {
    tensors: BTreeMap<String, Arc<TensorBytes>>,
    numbers: Numbers,
    program: &'p Program,
}

impl<'p> Taking<'p> {
    pub fn new(payload: &Payload, program: &'p Program) -> Self {
        Self {
            tensors: payload.tensors.iter().cloned().collect(),
            numbers: payload.numbers.clone(),
            program,
        }
    }

    /// A value by its name. Leaves of parameters that do not cross are those of `fill`.
    pub fn value(
        &mut self,
        name: &str,
        (kind, crossing, ty): (Kind, &[bool], &ValueType),
        fill: impl Fn(usize) -> Option<DispatchTensor>,
    ) -> Result<RtVal, ContentError> {
        if kind != Kind::Params {
            if kind == Kind::Scalar
                && let Some(bits) = self.numbers.remove(name)
            {
                let number = f64::from_bits(bits);
                ty.check_number(name, number)?;
                return Ok(RtVal::Host(number));
            }
            if let Some(tensor) = self.tensors.get(name) {
                ty.check_tensor(name, tensor)?;
            }
            let element = match kind {
                Kind::Labels => ElementType::I32,
                _ => ElementType::F32,
            };
            let shape: Option<&[usize]> = (kind == Kind::Scalar).then_some(&[1]);
            return Ok(RtVal::Tensor(self.tensor(name, element, shape)?));
        }
        let leaves = self.program.model().parameters();
        let mut all = Vec::with_capacity(leaves.len());
        for (i, ((leaf, ty), crosses)) in leaves.iter().zip(crossing).enumerate() {
            let name = format!("{name}.{leaf}");
            all.push(match crosses {
                true => self.tensor(&name, ElementType::F32, Some(&ty.shape))?,
                false => fill(i).ok_or(ContentError::Missing { name })?,
            });
        }
        Ok(RtVal::Params(all))
    }

    /// Parameters that were sent encoded, added to what was received.
    pub fn encoded(
        &mut self,
        name: &str,
        codec: &Codec,
        onto: Option<&RtVal>,
    ) -> Result<RtVal, ContentError> {
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
            return Ok(RtVal::Params(tensors.collect()));
        };
        let sums = onto.tensors().iter().zip(tensors);
        let sums = sums.map(|(a, b)| apply(&Op::Add, vec![a.clone(), b]));
        let sums = sums.collect::<Option<_>>();
        sums.map(RtVal::Params).ok_or_else(missing)
    }

    /// A leaf of a sum over clients.
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

    /// A tensor by its name; without a shape, one of any.
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

    /// Ends: everything must have been taken.
    pub fn finish(self) -> Result<(), ContentError> {
        let names = self.tensors.into_keys().chain(self.numbers.into_keys());
        match names.into_iter().next() {
            Some(name) => Err(ContentError::Unexpected { name }),
            None => Ok(()),
        }
    }
}
