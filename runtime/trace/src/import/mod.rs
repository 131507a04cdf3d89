//! The one place that knows burn's captured operations: `from_burn` turns them into our graphs.
//!
//! Import canonicalises: values are renumbered, integers become `i32`, `linear` becomes a matrix
//! product and a sum, initialised tensors become inputs or constants, `max_pool2d` takes its form
//! with indices, which the gradient needs.

mod activation;
mod base;
mod layers;
mod norm;
mod numeric;
mod pad;
mod pool;
mod resample;

use std::collections::HashMap;
use std::sync::Arc;

use burn::tensor::TensorData;
use burn_dispatch::backends::capture::{CapturedGraph, TensorId};
use burn_ir::{OperationIr, ScalarIr, TensorIr};
use fedround_ir::Loc;
use fedround_ir::tensor::{Constant, DType, Graph, Op, TensorType, TypeError, Val};

/// A traced function cannot be represented in the tensor dialect.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// burn recorded an operation that the dialect lacks.
    #[error("{what} uses burn's `{op}`, which the tensor dialect lacks")]
    UnknownOp {
        /// What was traced.
        what: String,
        /// burn's name of the operation.
        op: String,
    },
    /// A tensor is read that neither the caller gave nor the function made.
    #[error("{what} reads a tensor of shape {shape:?} that it did not make and was not given")]
    Unbound {
        /// What was traced.
        what: String,
        /// Its shape.
        shape: Vec<usize>,
    },
    /// An operation came out ill-typed.
    #[error(transparent)]
    Type(#[from] TypeError),
}

/// Imports a capture. `inputs` names the tensors that are the caller's, in order.
///
/// # Errors
///
/// See [`ImportError`].
pub fn from_burn(
    what: &str,
    captured: &CapturedGraph,
    inputs: &[(String, TensorId)],
) -> Result<Graph, ImportError> {
    let mut this = Import {
        what,
        captured,
        graph: Graph::default(),
        map: HashMap::new(),
        loc: Loc::caller(),
    };
    for (name, id) in inputs {
        if let Some(data) = captured.values.get(id) {
            let ty = type_of(data);
            let val = this.graph.input(name.clone(), ty);
            this.map.insert(*id, val);
        }
    }
    for op in &captured.graph.operations {
        this.operation(op)?;
    }
    for (i, id) in captured.graph.outputs.iter().enumerate() {
        let val = this
            .map
            .get(id)
            .copied()
            .ok_or_else(|| ImportError::Unbound {
                what: what.to_owned(),
                shape: vec![],
            })?;
        this.graph.outputs.push((format!("out{i}"), val));
    }
    Ok(this.graph)
}

struct Import<'a> {
    what: &'a str,
    captured: &'a CapturedGraph,
    graph: Graph,
    map: HashMap<TensorId, Val>,
    loc: Loc,
}

impl Import<'_> {
    fn value(&mut self, t: &TensorIr) -> Result<Val, ImportError> {
        if let Some(val) = self.map.get(&t.id) {
            return Ok(*val);
        }
        // Not an input and not computed: initialised inside the traced function.
        let Some(data) = self.captured.values.get(&t.id) else {
            return Err(ImportError::Unbound {
                what: self.what.to_owned(),
                shape: shape(t),
            });
        };
        let ty = type_of(data);
        let values: Vec<f64> = data.iter::<f64>().collect();
        let val = match values.first() {
            Some(&c) if ty.dtype == DType::F32 && values.iter().all(|&v| v == c) => {
                self.push(Op::Full(c, ty.shape), &[])?
            }
            _ => {
                let values = Arc::from(values);
                self.push(Op::Constant(Constant { ty, values }), &[])?
            }
        };
        self.map.insert(t.id, val);
        Ok(val)
    }

    fn push(&mut self, op: Op, ins: &[Val]) -> Result<Val, ImportError> {
        Ok(self.graph.push(op, ins, self.loc)?)
    }

    /// Appends nodes one after the other, each reading the one before.
    fn chain(&mut self, from: Val, ops: impl IntoIterator<Item = Op>) -> Result<Val, ImportError> {
        ops.into_iter().try_fold(from, |v, op| self.push(op, &[v]))
    }

    fn bind(&mut self, out: &TensorIr, val: Val) -> Result<(), ImportError> {
        self.map.insert(out.id, val);
        Ok(())
    }

    fn emit(&mut self, op: Op, ins: &[&TensorIr], out: &TensorIr) -> Result<(), ImportError> {
        let ins: Vec<Val> = ins
            .iter()
            .map(|t| self.value(t))
            .collect::<Result<_, _>>()?;
        let val = self.push(op, &ins)?;
        self.bind(out, val)
    }

    fn operation(&mut self, op: &OperationIr) -> Result<(), ImportError> {
        match op {
            OperationIr::Drop(_) | OperationIr::Init(_) => Ok(()),
            OperationIr::BaseFloat(op) | OperationIr::BaseInt(op) | OperationIr::BaseBool(op) => {
                self.base(op)
            }
            OperationIr::NumericFloat(_, op) | OperationIr::NumericInt(_, op) => self.numeric(op),
            OperationIr::Float(_, op) => self.float(op),
            OperationIr::Int(op) => self.int(op),
            OperationIr::Bool(op) => self.bool(op),
            OperationIr::Activation(op) => self.activation(op),
            OperationIr::Module(op) => self.module(op),
            other => self.unknown(other),
        }
    }

    fn unknown(&self, op: &impl std::fmt::Debug) -> Result<(), ImportError> {
        // `Float(F32, Cos(UnaryOpIr { .. }))`: the operation is the last name around the struct.
        let text = format!("{op:?}");
        let head = text.split('{').next().unwrap_or_default();
        let name = head.rsplit('(').nth(1).unwrap_or(head);
        Err(ImportError::UnknownOp {
            what: self.what.to_owned(),
            op: name.rsplit(", ").next().unwrap_or(name).to_owned(),
        })
    }
}

fn shape(t: &TensorIr) -> Vec<usize> {
    t.shape.as_slice().to_vec()
}

/// The logical type of captured data: burn's device chooses the width of integers.
fn type_of(data: &TensorData) -> TensorType {
    TensorType::new(logical(data.dtype()), data.shape().as_slice().to_vec())
}

fn logical(dtype: burn::tensor::DType) -> DType {
    match dtype {
        burn::tensor::DType::Bool(_) => DType::Bool,
        d if d.is_float() => DType::F32,
        _ => DType::I32,
    }
}

fn real(scalar: ScalarIr) -> f64 {
    scalar.elem()
}
