//! Rebuilding a graph node by node, which all clean-up passes do.

use fedround_ir::tensor::{Graph, GraphError, Node, Val};

/// The graph under construction and where each old value went.
pub(super) struct Rewrite {
    pub new: Graph,
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
            new: Graph::default(),
            map: vec![None; old.types.len()],
        };
        for (name, val) in &old.inputs {
            let new = this.new.input(name.clone(), old.type_of(*val).clone());
            this.map[val.0 as usize] = Some(new);
        }
        for node in &old.nodes {
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
            this.new.outputs.push((name.clone(), new));
        }
        Ok(this.new)
    }

    /// Appends a node as it is.
    pub fn keep(&mut self, node: Node) -> Result<Vec<Val>, GraphError> {
        Ok(self.new.push_multi(node.op, &node.ins, node.loc)?)
    }

    fn renamed(&self, op: &'static str, val: Val) -> Result<Val, GraphError> {
        self.map[val.0 as usize].ok_or(GraphError::Undefined { op, val })
    }
}
