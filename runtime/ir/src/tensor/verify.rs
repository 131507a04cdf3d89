//! Invariants of a graph, checked after every pass in every build:
//!
//! 1. *Single assignment*: a value is defined once, by an input or a node.
//! 2. *Order*: a node reads only values that are defined before it.
//! 3. *Types*: a node's results have the types that its op infers from its operands.
//! 4. *Outputs*: every output is defined.

use super::{Graph, TensorType, TypeError, Val};
use crate::Loc;

/// A graph breaks an invariant. Each is a bug in the pass that made it.
#[derive(Clone, Debug, thiserror::Error)]
pub enum GraphError {
    /// Invariant 1.
    #[error("value %{} is defined twice", val.0)]
    Redefined {
        /// The value.
        val: Val,
    },
    /// Invariants 2 and 4.
    #[error("`tensor.{op}` reads value %{} before it is defined", val.0)]
    Undefined {
        /// The reader.
        op: &'static str,
        /// The value.
        val: Val,
    },
    /// Invariant 3: the operands do not fit.
    #[error(transparent)]
    Type(#[from] TypeError),
    /// Invariant 3: a result has another type.
    #[error("{loc}: `tensor.{op}` has a result of type {found}, expected {expected}")]
    Result {
        /// The op.
        op: &'static str,
        /// What it infers.
        expected: TensorType,
        /// What the graph says.
        found: TensorType,
        /// Where it comes from.
        loc: Loc,
    },
}

impl Graph {
    /// Checks the invariants of the module documentation.
    ///
    /// # Errors
    ///
    /// The first invariant that does not hold.
    pub fn verify(&self) -> Result<(), GraphError> {
        let mut defined = vec![false; self.types.len()];
        let define = |val: Val, defined: &mut Vec<bool>| {
            if std::mem::replace(&mut defined[val.0 as usize], true) {
                return Err(GraphError::Redefined { val });
            }
            Ok(())
        };
        for (_, val) in &self.inputs {
            define(*val, &mut defined)?;
        }
        for node in &self.nodes {
            let op = node.op.name();
            if let Some(&val) = node.ins.iter().find(|v| !defined[v.0 as usize]) {
                return Err(GraphError::Undefined { op, val });
            }
            let ins: Vec<&TensorType> = node.ins.iter().map(|&v| self.type_of(v)).collect();
            for (val, expected) in node.outs.iter().zip(node.op.infer(&ins, node.loc)?) {
                define(*val, &mut defined)?;
                if *self.type_of(*val) != expected {
                    return Err(GraphError::Result {
                        op,
                        expected,
                        found: self.type_of(*val).clone(),
                        loc: node.loc,
                    });
                }
            }
        }
        match self.outputs.iter().find(|(_, v)| !defined[v.0 as usize]) {
            Some(&(_, val)) => Err(GraphError::Undefined { op: "return", val }),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tensor::Op;

    fn square() -> (Graph, Val) {
        let mut g = Graph::default();
        let x = g.input("x", TensorType::f32([2, 3]));
        let y = g.push(Op::Mul, &[x, x], Loc::caller()).unwrap();
        g.outputs.push(("y".into(), y));
        (g, y)
    }

    #[test]
    fn a_built_graph_verifies() {
        assert!(square().0.verify().is_ok());
    }

    #[test]
    fn single_assignment() {
        let (mut g, y) = square();
        g.nodes.push(g.nodes[0].clone());
        assert!(matches!(g.verify(), Err(GraphError::Redefined { val }) if val == y));
    }

    #[test]
    fn order() {
        let (mut g, y) = square();
        g.nodes[0].ins[1] = y;
        assert!(matches!(g.verify(), Err(GraphError::Undefined { op: "mul", val }) if val == y));
    }

    #[test]
    fn types() {
        let (mut g, y) = square();
        g.types[y.0 as usize] = TensorType::f32([3, 2]);
        let error = g.verify().unwrap_err().to_string();
        assert!(error.contains("expected f32[2x3]"), "{error}");
        let mut g = Graph::default();
        let a = g.input("a", TensorType::f32([2, 3]));
        let b = g.input("b", TensorType::f32([2, 4]));
        let error = g
            .push(Op::Add, &[a, b], Loc::caller())
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("broadcast, found (f32[2x3], f32[2x4])"),
            "{error}"
        );
    }

    #[test]
    fn outputs() {
        let (mut g, _) = square();
        g.nodes.clear();
        assert!(matches!(
            g.verify(),
            Err(GraphError::Undefined { op: "return", .. })
        ));
    }
}
