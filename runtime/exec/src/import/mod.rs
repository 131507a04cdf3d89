//! The one place that knows burn's captured operations: `from_burn` turns them into our graphs.
//!
//! Import canonicalises: values are renumbered, integers become `i32`, `linear` becomes a matrix
//! product and a sum, initialised tensors become inputs or constants, `max_pool2d` takes its form
//! with indices, which the gradient needs.

mod module;

use std::collections::HashMap;

use burn_dispatch::backends::capture::{CapturedGraph, TensorId};
use burn_ir::{
    ActivationOperationIr as Act, BaseOperationIr as Base, BinaryOpIr, FloatOperationIr as Float,
    NumericOperationIr as Num, OperationIr, ReduceDimOpIr, ScalarIr, TensorIr, UnaryOpIr,
};
use fedround_ir::Loc;
use fedround_ir::tensor::{DType, Graph, Op, TensorType, TypeError, Val};

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
    /// A tensor built inside the traced function is not floats of one value.
    #[error(
        "{what} builds a constant tensor of shape {shape:?} that is not one repeated float; make it a parameter"
    )]
    Constant {
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
            let ty = TensorType {
                dtype: if data.dtype.is_float() {
                    DType::F32
                } else {
                    DType::I32
                },
                shape: data.shape.as_slice().to_vec(),
            };
            let val = this.graph.input(name.clone(), ty);
            this.map.insert(*id, val);
        }
    }
    for op in &captured.graph.operations {
        this.operation(op)?;
    }
    for (i, id) in captured.graph.outputs.iter().enumerate() {
        let val = this.value(*id)?;
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
    fn value(&mut self, id: TensorId) -> Result<Val, ImportError> {
        if let Some(val) = self.map.get(&id) {
            return Ok(*val);
        }
        // Not an input and not computed: initialised inside the traced function.
        let data = self.captured.values.get(&id).filter(|d| d.dtype.is_float());
        let shape = data
            .map(|d| d.shape.as_slice().to_vec())
            .unwrap_or_default();
        let mut values = data.into_iter().flat_map(|d| d.iter::<f64>());
        let first = values.next();
        match first {
            Some(c) if values.all(|v| v == c) => {
                let val = self.graph.push(Op::Full(c, shape), &[], self.loc)?;
                self.map.insert(id, val);
                Ok(val)
            }
            _ => Err(ImportError::Constant {
                what: self.what.to_owned(),
                shape,
            }),
        }
    }

    fn emit(&mut self, op: Op, ins: &[&TensorIr], out: &TensorIr) -> Result<(), ImportError> {
        let ins: Vec<Val> = ins
            .iter()
            .map(|t| self.value(t.id))
            .collect::<Result<_, _>>()?;
        let val = self.graph.push(op, &ins, self.loc)?;
        self.map.insert(out.id, val);
        Ok(())
    }

    fn operation(&mut self, op: &OperationIr) -> Result<(), ImportError> {
        match op {
            OperationIr::Drop(_) | OperationIr::Init(_) => Ok(()),
            OperationIr::BaseFloat(op) | OperationIr::BaseInt(op) => self.base(op),
            OperationIr::NumericFloat(_, op) => self.numeric(op),
            OperationIr::Float(_, op) => self.float(op),
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

    fn base(&mut self, op: &Base) -> Result<(), ImportError> {
        match op {
            Base::Reshape(o) => self.emit(Op::Reshape(shape(&o.out)), &[&o.input], &o.out),
            Base::Expand(o) => {
                // burn adds leading dimensions by expansion; ours repeats existing ones.
                let (from, to) = (shape(&o.input), shape(&o.out));
                let mut padded = vec![1; to.len() - from.len()];
                padded.extend(from);
                let input = self.value(o.input.id)?;
                let input = self.graph.push(Op::Reshape(padded), &[input], self.loc)?;
                let val = self.graph.push(Op::Expand(to), &[input], self.loc)?;
                self.map.insert(o.out.id, val);
                Ok(())
            }
            Base::SwapDims(o) => {
                let mut axes: Vec<usize> = (0..o.input.shape.num_dims()).collect();
                axes.swap(o.dim1, o.dim2);
                self.emit(Op::Permute(axes), &[&o.input], &o.out)
            }
            Base::Permute(o) => self.emit(Op::Permute(o.axes.clone()), &[&o.input], &o.out),
            Base::Slice(o) if o.ranges.iter().all(|s| s.step == 1) => {
                let dims = shape(&o.tensor);
                let mut ranges: Vec<(usize, usize)> = dims.iter().map(|&n| (0, n)).collect();
                for (slot, s) in ranges.iter_mut().zip(&o.ranges) {
                    let wrap = |i: isize, n: usize| if i < 0 { i + n as isize } else { i } as usize;
                    let n = slot.1;
                    *slot = (wrap(s.start, n), s.end.map_or(n, |e| wrap(e, n)));
                }
                self.emit(Op::Slice(ranges), &[&o.tensor], &o.out)
            }
            Base::Cat(o) => {
                let ins: Vec<&TensorIr> = o.tensors.iter().collect();
                self.emit(Op::Cat(o.dim), &ins, &o.out)
            }
            Base::Gather(o) => self.emit(Op::Gather(o.dim), &[&o.tensor, &o.indices], &o.out),
            Base::Zeros(o) => self.emit(Op::Full(0.0, shape(&o.out)), &[], &o.out),
            Base::Ones(o) => self.emit(Op::Full(1.0, shape(&o.out)), &[], &o.out),
            other => self.unknown(other),
        }
    }

    fn numeric(&mut self, op: &Num) -> Result<(), ImportError> {
        match op {
            Num::Add(o) => self.binary(Op::Add, o),
            Num::Sub(o) => self.binary(Op::Sub, o),
            Num::Mul(o) => self.binary(Op::Mul, o),
            Num::Div(o) => self.binary(Op::Div, o),
            Num::AddScalar(o) => self.emit(Op::AddScalar(real(o.rhs)), &[&o.lhs], &o.out),
            Num::SubScalar(o) => self.emit(Op::AddScalar(-real(o.rhs)), &[&o.lhs], &o.out),
            Num::MulScalar(o) => self.emit(Op::MulScalar(real(o.rhs)), &[&o.lhs], &o.out),
            Num::DivScalar(o) => self.emit(Op::MulScalar(1.0 / real(o.rhs)), &[&o.lhs], &o.out),
            Num::Neg(o) => self.unary(Op::Neg, o),
            Num::Full(o) => self.emit(Op::Full(real(o.value), shape(&o.out)), &[], &o.out),
            Num::Mean(o) => self.emit(Op::Mean, &[&o.input], &o.out),
            Num::Sum(o) => self.emit(Op::Sum, &[&o.input], &o.out),
            Num::Max(o) => {
                // The largest of all elements is the largest along the only dimension of a row.
                let n = shape(&o.input).iter().product();
                let input = self.value(o.input.id)?;
                let row = self.graph.push(Op::Reshape(vec![n]), &[input], self.loc)?;
                let outs = self.graph.push_multi(Op::MaxDim(0), &[row], self.loc)?;
                self.map.insert(o.out.id, outs[0]);
                Ok(())
            }
            Num::MeanDim(o) => self.reduce(Op::MeanDim(o.axis), o),
            Num::SumDim(o) => self.reduce(Op::SumDim(o.axis), o),
            Num::MaxDim(o) => self.reduce(Op::MaxDim(o.axis), o),
            Num::MaxDimWithIndices(o) => {
                let input = self.value(o.tensor.id)?;
                let outs = self
                    .graph
                    .push_multi(Op::MaxDim(o.dim), &[input], self.loc)?;
                self.map.insert(o.out.id, outs[0]);
                self.map.insert(o.out_indices.id, outs[1]);
                Ok(())
            }
            other => self.unknown(other),
        }
    }

    fn float(&mut self, op: &Float) -> Result<(), ImportError> {
        match op {
            Float::Exp(o) => self.unary(Op::Exp, o),
            Float::Log(o) => self.unary(Op::Log, o),
            Float::Sqrt(o) => self.unary(Op::Sqrt, o),
            Float::Matmul(o) => self.emit(Op::MatMul, &[&o.lhs, &o.rhs], &o.out),
            other => self.unknown(other),
        }
    }

    fn activation(&mut self, op: &Act) -> Result<(), ImportError> {
        match op {
            Act::Relu(o) => self.unary(Op::Relu, o),
            Act::LogSoftmax(o) => self.emit(Op::LogSoftmax(o.axis), &[&o.input], &o.out),
            other => self.unknown(other),
        }
    }

    fn unary(&mut self, op: Op, o: &UnaryOpIr) -> Result<(), ImportError> {
        self.emit(op, &[&o.input], &o.out)
    }

    fn binary(&mut self, op: Op, o: &BinaryOpIr) -> Result<(), ImportError> {
        self.emit(op, &[&o.lhs, &o.rhs], &o.out)
    }

    fn reduce(&mut self, op: Op, o: &ReduceDimOpIr) -> Result<(), ImportError> {
        self.emit(op, &[&o.input], &o.out)
    }
}

fn shape(t: &TensorIr) -> Vec<usize> {
    t.shape.as_slice().to_vec()
}

fn real(scalar: ScalarIr) -> f64 {
    scalar.elem()
}
