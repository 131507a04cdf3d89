//! Graphs and their construction.

use super::{Op, TensorType, TypeError};
use crate::Loc;

/// An SSA value of a [`Graph`]: an index into its table of types.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Val(pub u32);

/// One op applied to earlier values.
#[derive(Clone, Debug)]
pub struct Node {
    /// What it computes.
    pub op: Op,
    /// Values it reads.
    pub ins: Vec<Val>,
    /// Values it defines.
    pub outs: Vec<Val>,
    /// The line of the spec that it comes from.
    pub loc: Loc,
}

/// A straight-line program over tensors.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    /// Values given by the caller, with the names they print under.
    pub inputs: Vec<(String, Val)>,
    /// Nodes in execution order.
    pub nodes: Vec<Node>,
    /// Values returned to the caller, with the names they print under.
    pub outputs: Vec<(String, Val)>,
    /// Type of each [`Val`].
    pub types: Vec<TensorType>,
}

impl Graph {
    /// The type of a value.
    pub fn type_of(&self, val: Val) -> &TensorType {
        &self.types[val.0 as usize]
    }

    /// The shape of a value.
    pub fn shape(&self, val: Val) -> &[usize] {
        &self.type_of(val).shape
    }

    /// Adds an input.
    pub fn input(&mut self, name: impl Into<String>, ty: TensorType) -> Val {
        let val = self.value(ty);
        self.inputs.push((name.into(), val));
        val
    }

    /// Appends a node with one result.
    ///
    /// # Errors
    ///
    /// The operands do not fit the op, or the op has two results.
    pub fn push(&mut self, op: Op, ins: &[Val], loc: Loc) -> Result<Val, TypeError> {
        let outs = self.push_multi(op, ins, loc)?;
        Ok(outs[0])
    }

    /// Appends a node and gives all of its results.
    ///
    /// # Errors
    ///
    /// The operands do not fit the op.
    pub fn push_multi(&mut self, op: Op, ins: &[Val], loc: Loc) -> Result<Vec<Val>, TypeError> {
        let types = {
            let operands: Vec<&TensorType> = ins.iter().map(|&v| self.type_of(v)).collect();
            op.infer(&operands, loc)?
        };
        let outs: Vec<Val> = types.into_iter().map(|ty| self.value(ty)).collect();
        self.nodes.push(Node {
            op,
            ins: ins.to_vec(),
            outs: outs.clone(),
            loc,
        });
        Ok(outs)
    }

    /// Appends another graph's nodes with its inputs bound to `args`; gives its outputs. Its random
    /// draws get numbers of their own.
    ///
    /// # Errors
    ///
    /// An argument has another type than the input it is bound to.
    pub fn inline(&mut self, callee: &Self, args: &[Val], loc: Loc) -> Result<Vec<Val>, TypeError> {
        let mut map = vec![None; callee.types.len()];
        for ((name, input), &arg) in callee.inputs.iter().zip(args) {
            if callee.type_of(*input) != self.type_of(arg) {
                return Err(TypeError::new(
                    name,
                    loc,
                    callee.type_of(*input),
                    self.type_of(arg),
                ));
            }
            map[input.0 as usize] = Some(arg);
        }
        let mut streams = self.random_streams();
        for node in &callee.nodes {
            let ins: Vec<Val> = node.ins.iter().filter_map(|v| map[v.0 as usize]).collect();
            let mut op = node.op.clone();
            if let Op::Random(_, stream, _) = &mut op {
                *stream = streams;
                streams += 1;
            }
            let outs = self.push_multi(op, &ins, loc)?;
            for (from, to) in node.outs.iter().zip(outs) {
                map[from.0 as usize] = Some(to);
            }
        }
        Ok(callee
            .outputs
            .iter()
            .filter_map(|(_, v)| map[v.0 as usize])
            .collect())
    }

    /// A number above those of all random draws in the graph.
    pub fn random_streams(&self) -> usize {
        let streams = self.nodes.iter().filter_map(|n| match n.op {
            Op::Random(_, stream, _) => Some(stream + 1),
            _ => None,
        });
        streams.max().unwrap_or(0)
    }

    /// For each value, the index of the last node that reads it, or `None`.
    pub fn last_uses(&self) -> Vec<Option<usize>> {
        let mut last = vec![None; self.types.len()];
        for (i, node) in self.nodes.iter().enumerate() {
            for v in &node.ins {
                last[v.0 as usize] = Some(i);
            }
        }
        last
    }

    fn value(&mut self, ty: TensorType) -> Val {
        self.types.push(ty);
        Val(self.types.len() as u32 - 1)
    }
}
