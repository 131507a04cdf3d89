//! Rebuilding a graph node by node, which all clean-up passes do.

use std::ops::Deref;

use fedround_ir::Loc;
use fedround_ir::tensor::{Graph, GraphError, Node, Op, TensorType, TypeError, Val};

/// A graph that only grows, and where each of its values is defined.
#[derive(Default)]
pub(super) struct Growing {
    graph: Graph,
    /// For each value, the index of the node that defines it; `None` for an input.
    definitions: Vec<Option<usize>>,
}

impl Deref for Growing {
    type Target = Graph;

    fn deref(&self) -> &Graph {
        &self.graph
    }
}

impl Growing {
    pub fn input(&mut self, name: String, ty: TensorType) -> Val {
        self.definitions.push(None);
        self.graph.input(name, ty)
    }

    pub fn push(&mut self, op: Op, ins: &[Val], loc: Loc) -> Result<Val, TypeError> {
        Ok(self.push_multi(op, ins, loc)?[0])
    }

    pub fn push_multi(&mut self, op: Op, ins: &[Val], loc: Loc) -> Result<Vec<Val>, TypeError> {
        let outs = self.graph.push_multi(op, ins, loc)?;
        let node = self.graph.nodes.len() - 1;
        self.definitions.resize(self.graph.types.len(), Some(node));
        Ok(outs)
    }

    /// Index of the node that defines a value.
    pub fn definition(&self, v: Val) -> Option<usize> {
        self.definitions[v.0 as usize]
    }

    /// The number that all elements of a value are, if it is made as such.
    pub fn full_value(&self, v: Val) -> Option<f64> {
        match self.producer(v)?.op {
            Op::Full(c, _) => Some(c),
            _ => None,
        }
    }

    /// The node that defines a value.
    pub fn producer(&self, v: Val) -> Option<&Node> {
        self.definition(v).map(|i| &self.graph.nodes[i])
    }

    /// The first operand of the op that makes a value, if the op is as asked for.
    pub fn source(&self, v: Val, is: impl Fn(&Op) -> bool) -> Option<Val> {
        let node = self.producer(v).filter(|node| is(&node.op))?;
        node.ins.first().copied()
    }

    /// The op that makes a value, with its operands.
    pub fn made_by(&self, v: Val) -> Option<(&Op, &[Val])> {
        self.producer(v).map(|node| (&node.op, &node.ins[..]))
    }
}

/// The graph under construction and where each old value went.
pub(super) struct Rewrite {
    pub new: Growing,
    /// The index of the old node that is visited.
    pub at: usize,
    map: Vec<Option<Val>>,
}

impl Rewrite {
    /// Rebuilds `old`: `visit` gets each node with its operands already renamed and gives the new
    /// values that stand for its results.
    pub fn run(
        old: &Graph,
        mut visit: impl FnMut(&mut Self, Node) -> Result<Vec<Val>, GraphError>,
    ) -> Result<Graph, GraphError> {
        let mut this = Self {
            new: Growing::default(),
            at: 0,
            map: vec![None; old.types.len()],
        };
        for (name, val) in &old.inputs {
            let new = this.new.input(name.clone(), old.type_of(*val).clone());
            this.map[val.0 as usize] = Some(new);
        }
        for (at, node) in old.nodes.iter().enumerate() {
            this.at = at;
            let mut renamed = node.clone();
            for v in &mut renamed.ins {
                *v = this.renamed(node.op.name(), *v)?;
            }
            let outs = visit(&mut this, renamed)?;
            for (from, to) in node.outs.iter().zip(outs) {
                this.map[from.0 as usize] = Some(to);
            }
        }
        for (name, val) in &old.outputs {
            let new = this.renamed("return", *val)?;
            this.new.graph.outputs.push((name.clone(), new));
        }
        Ok(this.new.graph)
    }

    /// Appends a node as it is.
    pub fn keep(&mut self, node: Node) -> Result<Vec<Val>, GraphError> {
        Ok(self.new.push_multi(node.op, &node.ins, node.loc)?)
    }

    /// Where a value of the old graph went.
    pub fn renamed(&self, op: &'static str, val: Val) -> Result<Val, GraphError> {
        self.map[val.0 as usize].ok_or(GraphError::Undefined { op, val })
    }
}
