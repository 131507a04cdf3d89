//! Numbers that are known before a round: literals, hyper-parameters and arithmetic on them.

use std::collections::HashMap;

use super::{ArithOp, FedOp, HyperValue, Module, Op, OpKind, Value};

/// The numbers of a module that are known before a round.
#[derive(Clone, Debug)]
pub struct Known<'m> {
    module: &'m Module,
    /// The op that makes a value.
    made: HashMap<Value, &'m Op>,
}

impl<'m> Known<'m> {
    /// Those of a module.
    pub fn of(module: &'m Module) -> Self {
        let ops = module.all_ops();
        let made = ops.flat_map(|op| op.results.iter().map(move |v| (*v, op)));
        Self {
            module,
            made: made.collect(),
        }
    }

    /// The module.
    pub fn module(&self) -> &'m Module {
        self.module
    }

    /// The op that makes a value; `None` of an argument.
    pub fn made(&self, value: Value) -> Option<&'m Op> {
        self.made.get(&value).copied()
    }

    /// A count.
    pub fn count(&self, value: Value) -> Option<usize> {
        match self.made(value)?.kind {
            OpKind::Arith(ArithOp::IndexConst(n)) => Some(n),
            OpKind::Fed(FedOp::Hyper(index)) => match self.module.hypers.get(index)?.value {
                HyperValue::Int(n) => Some(n),
                _ => None,
            },
            _ => None,
        }
    }

    /// A number.
    pub fn number(&self, value: Value) -> Option<f64> {
        let op = self.made(value)?;
        let of = |i: usize| op.operands.get(i).and_then(|v| self.number(*v));
        match &op.kind {
            OpKind::Arith(ArithOp::Const(x)) => Some(*x),
            OpKind::Fed(FedOp::Hyper(index)) => match self.module.hypers.get(*index)?.value {
                HyperValue::Float(x) => Some(x),
                _ => None,
            },
            OpKind::Arith(ArithOp::Real) => Some(self.count(*op.operands.first()?)? as f64),
            OpKind::Arith(ArithOp::Add) => Some(of(0)? + of(1)?),
            OpKind::Arith(ArithOp::Sub) => Some(of(0)? - of(1)?),
            OpKind::Arith(ArithOp::Mul) => Some(of(0)? * of(1)?),
            OpKind::Arith(ArithOp::Div) => Some(of(0)? / of(1)?),
            OpKind::Arith(ArithOp::Neg) => Some(-of(0)?),
            _ => None,
        }
    }
}
