//! Translates burn's captured operations into tensor graphs.
//!
//! The result is canonical: values are renumbered, integers become `i32`, `linear` becomes a matrix product and
//! a sum, and tensors that the function creates from data become constants. `max_pool2d` always has its second
//! result, the indices, because the gradient needs them.

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
        /// The traced model, loss or function.
        what: String,
        /// burn's name of the operation.
        op: String,
    },
    /// The function reads a tensor that is not an input and that it did not create.
    #[error("{what} reads a tensor of shape {shape:?} that it did not make and was not given")]
    Unbound {
        /// The traced model, loss or function.
        what: String,
        /// The shape of the tensor; empty if it is a result of the function.
        shape: Vec<usize>,
    },
    /// An operation came out ill-typed, such as a matrix product of integers. The source's location is of this
    /// crate's code, as burn records none, so it is not shown.
    #[error("{what} cannot be compiled: {}", source.without_location())]
    Type {
        /// The traced model, loss or function.
        what: String,
        /// What was expected and found.
        source: TypeError,
    },
}

/// Imports a capture. `inputs` are the names and ids of the tensors that become inputs of the graph, in order.
/// `what` names the function in errors.
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
        values: HashMap::new(),
        loc: Loc::caller(),
    };
    for (name, id) in inputs {
        if let Some(data) = captured.values.get(id) {
            let ty = type_of(data);
            let val = this.graph.input(name.clone(), ty);
            this.values.insert(*id, val);
        }
    }
    for op in &captured.graph.operations {
        this.operation(op)?;
    }
    for (i, id) in captured.graph.outputs.iter().enumerate() {
        let val = this
            .values
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

/// The state of an import.
struct Import<'a> {
    /// The name of the function in errors.
    what: &'a str,
    captured: &'a CapturedGraph,
    /// The graph so far.
    graph: Graph,
    /// The value of each tensor that has been imported so far.
    values: HashMap<TensorId, Val>,
    /// The location of all nodes: burn records none.
    loc: Loc,
}

impl Import<'_> {
    /// The value of a tensor. A tensor that the function created from data becomes a constant here.
    fn value(&mut self, t: &TensorIr) -> Result<Val, ImportError> {
        if let Some(val) = self.values.get(&t.id) {
            return Ok(*val);
        }
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
        self.values.insert(t.id, val);
        Ok(val)
    }

    /// Appends a node, and gives its first result.
    fn push(&mut self, op: Op, ins: &[Val]) -> Result<Val, ImportError> {
        let pushed = self.graph.push(op, ins, self.loc);
        pushed.map_err(|error| self.ill_typed(error))
    }

    /// Appends a node with several results.
    fn push_multi(&mut self, op: Op, ins: &[Val]) -> Result<Vec<Val>, ImportError> {
        let pushed = self.graph.push_multi(op, ins, self.loc);
        pushed.map_err(|error| self.ill_typed(error))
    }

    fn ill_typed(&self, source: TypeError) -> ImportError {
        ImportError::Type {
            what: self.what.to_owned(),
            source,
        }
    }

    /// Appends a chain of nodes: the first one reads `x`, and each other one the result of the one before.
    fn chain(&mut self, x: Val, ops: impl IntoIterator<Item = Op>) -> Result<Val, ImportError> {
        ops.into_iter().try_fold(x, |v, op| self.push(op, &[v]))
    }

    /// Notes that burn's tensor `out` is the value `val`.
    fn bind(&mut self, out: &TensorIr, val: Val) -> Result<(), ImportError> {
        self.values.insert(out.id, val);
        Ok(())
    }

    /// Appends a node that computes `out` from `ins`.
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

    /// The error of an operation that the tensor dialect lacks.
    fn unknown(&self, op: &impl std::fmt::Debug) -> Result<(), ImportError> {
        // The `Debug` text is such as `Float(F32, Cos(UnaryOpIr { .. }))`. The operation is the name just outside
        // the struct's name.
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

/// The type of captured data in the tensor dialect.
fn type_of(data: &TensorData) -> TensorType {
    TensorType::new(logical(data.dtype()), data.shape().as_slice().to_vec())
}

/// The element type in the tensor dialect. The width that burn chose for floats and integers does not matter.
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
