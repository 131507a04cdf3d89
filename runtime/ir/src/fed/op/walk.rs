//! Walks over code and the code inside it.

use std::collections::HashSet;
use std::iter::{from_fn, once};

use super::super::{Kind, Module, Value};
use super::{Op, OpKind, OptOp, Region};

impl Module {
    /// All ops in program order, an op before those inside it.
    pub fn all_ops(&self) -> impl Iterator<Item = &Op> {
        self.funcs.iter().flat_map(|func| func.body.all_ops())
    }

    /// The parameters that gradients are taken with respect to, one for each gradient, in program order. In training,
    /// a gradient moves the running statistics of its point.
    pub fn trained_points(&self) -> impl Iterator<Item = Value> {
        let points = self.all_ops().filter_map(Op::point);
        points.filter(|v| self.type_of(*v).kind == Kind::Params)
    }
}

impl Op {
    /// What a gradient is taken with respect to.
    pub(super) fn point(&self) -> Option<Value> {
        match self.kind {
            OpKind::Opt(OptOp::Grad) => self.operands.first().copied(),
            _ => None,
        }
    }

    /// This op and those inside it, in program order.
    pub fn with_inner(&self) -> impl Iterator<Item = &Self> {
        once(self).chain(self.regions.iter().flat_map(Region::all_ops))
    }

    /// Whether an op for which `test` holds is this one or inside it.
    pub fn contains(&self, test: impl Fn(&Self) -> bool) -> bool {
        self.with_inner().any(test)
    }
}

impl Region {
    /// The ops of this region and of those inside it, in program order, an op before those inside it.
    pub fn all_ops(&self) -> impl Iterator<Item = &Op> {
        let mut open = vec![self.ops.iter()];
        from_fn(move || {
            while let Some(ops) = open.last_mut() {
                if let Some(op) = ops.next() {
                    open.extend(op.regions.iter().rev().map(|inner| inner.ops.iter()));
                    return Some(op);
                }
                open.pop();
            }
            None
        })
    }

    /// This region and those inside it.
    pub fn all_regions(&self) -> impl Iterator<Item = &Self> {
        once(self).chain(self.all_ops().flat_map(|op| &op.regions))
    }

    /// The values that this region and those inside it define: arguments and results.
    pub fn definitions(&self) -> HashSet<Value> {
        let args = self.all_regions().flat_map(|region| &region.args);
        let results = self.all_ops().flat_map(|op| &op.results);
        args.chain(results).copied().collect()
    }

    /// The values that this region and those inside it read, once for each time: operands, and what
    /// the regions yield.
    pub fn reads(&self) -> impl Iterator<Item = Value> {
        let operands = self.all_ops().flat_map(|op| &op.operands);
        let yields = self.all_regions().flat_map(|region| &region.yields);
        operands.chain(yields).copied()
    }
}
