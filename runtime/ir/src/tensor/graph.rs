//! Graphs and their construction.

use super::{Op, TensorType, TypeError};
use crate::Loc;

/// A value of a [`Graph`]. It is an index into the graph's table of types.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Val(pub u32);

/// An op with its operands and results.
#[derive(Clone, Debug)]
pub struct Node {
    /// The op.
    pub op: Op,
    /// The values that it reads.
    pub ins: Vec<Val>,
    /// The values that it defines.
    pub outs: Vec<Val>,
    /// The place in the algorithm that it comes from.
    pub loc: Loc,
}

/// A straight-line program over tensors.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    /// The values that the caller passes in, with their names.
    pub inputs: Vec<(String, Val)>,
    /// Nodes in execution order.
    pub nodes: Vec<Node>,
    /// The values that are returned to the caller, with their names.
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

    /// Appends a node and returns all of its results.
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

    /// Appends the nodes of another graph with its inputs bound to `args`, and returns its outputs. Its
    /// random ops get new stream numbers.
    ///
    /// # Errors
    ///
    /// [`TypeError`], if an argument has another type than the input that it is bound to.
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

    /// The first stream number that no random op of the graph uses.
    pub fn random_streams(&self) -> usize {
        let streams = self.nodes.iter().filter_map(|n| match n.op {
            Op::Random(_, stream, _) => Some(stream + 1),
            _ => None,
        });
        streams.max().unwrap_or(0)
    }

    /// For each value, how many operands of nodes and outputs of the graph it is.
    pub fn use_counts(&self) -> Vec<usize> {
        let mut counts = vec![0; self.types.len()];
        let operands = self.nodes.iter().flat_map(|node| &node.ins);
        for v in operands.chain(self.outputs.iter().map(|(_, v)| v)) {
            counts[v.0 as usize] += 1;
        }
        counts
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
