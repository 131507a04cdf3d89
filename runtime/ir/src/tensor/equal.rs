//! Structural equality of graphs.

use std::sync::Arc;

use super::{Constant, Graph, Node, Op, Val};

/// Whether two graphs are the same program: they have the same inputs, nodes and outputs, up to the
/// numbering of values. Source locations are ignored.
pub fn equal(a: &Graph, b: &Graph) -> bool {
    difference(a, b).is_none()
}

/// A description of the first difference between two graphs; `None` if they are [`equal`].
pub fn difference(a: &Graph, b: &Graph) -> Option<String> {
    let mut walk = Walk {
        a,
        b,
        same: vec![None; a.types.len()],
    };
    walk.graphs().err()
}

struct Walk<'g> {
    a: &'g Graph,
    b: &'g Graph,
    /// For each value of `a`, the value of `b` that it corresponds to.
    same: Vec<Option<Val>>,
}

impl Walk<'_> {
    fn graphs(&mut self) -> Result<(), String> {
        let (a, b) = (self.a, self.b);
        counts("inputs", a.inputs.len(), b.inputs.len())?;
        for ((name, x), (other, y)) in a.inputs.iter().zip(&b.inputs) {
            if name != other {
                return Err(format!("input `{name}` against `{other}`"));
            }
            self.define(*x, *y)
                .map_err(|types| format!("input `{name}`: {types}"))?;
        }
        for (index, (x, y)) in a.nodes.iter().zip(&b.nodes).enumerate() {
            self.node(x, y)
                .map_err(|difference| format!("node {index}, {}: {difference}", x.op.name()))?;
        }
        counts("nodes", a.nodes.len(), b.nodes.len())?;
        counts("outputs", a.outputs.len(), b.outputs.len())?;
        for ((name, x), (other, y)) in a.outputs.iter().zip(&b.outputs) {
            if name != other || self.same[x.0 as usize] != Some(*y) {
                return Err(format!(
                    "output `{name}` against `{other}`, or of another value"
                ));
            }
        }
        Ok(())
    }

    fn node(&mut self, a: &Node, b: &Node) -> Result<(), String> {
        if !same_op(&a.op, &b.op) {
            return Err(format!("{:?} against {:?}", a.op, b.op));
        }
        let mapped = a.ins.iter().map(|v| self.same[v.0 as usize]);
        if !mapped.eq(b.ins.iter().copied().map(Some)) {
            return Err("operands are other values".to_owned());
        }
        counts("results", a.outs.len(), b.outs.len())?;
        for (x, y) in a.outs.iter().zip(&b.outs) {
            self.define(*x, *y)?;
        }
        Ok(())
    }

    fn define(&mut self, a: Val, b: Val) -> Result<(), String> {
        let (x, y) = (self.a.type_of(a), self.b.type_of(b));
        if x != y {
            return Err(format!("{x} against {y}"));
        }
        self.same[a.0 as usize] = Some(b);
        Ok(())
    }
}

/// Whether ops are of one kind with the same attributes. A NaN equals itself, and 0 differs from -0.
fn same_op(a: &Op, b: &Op) -> bool {
    match (a, b) {
        // To write its numbers as text would take longer than most passes do.
        (Op::Constant(a), Op::Constant(b)) => same_constant(a, b),
        _ => format!("{a:?}") == format!("{b:?}"),
    }
}

fn same_constant(a: &Constant, b: &Constant) -> bool {
    // Which of the NaNs it is, the text does not say.
    let bits = |x: f64| if x.is_nan() { f64::NAN } else { x }.to_bits();
    let (x, y) = (a.values.iter().copied(), b.values.iter().copied());
    a.ty == b.ty && (Arc::ptr_eq(&a.values, &b.values) || x.map(bits).eq(y.map(bits)))
}

fn counts(what: &str, a: usize, b: usize) -> Result<(), String> {
    if a == b {
        Ok(())
    } else {
        Err(format!("{a} {what} against {b}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Loc;
    use crate::tensor::TensorType;

    #[test]
    fn constants_are_the_same_if_their_bits_are() {
        let graph = |values: [f64; 2]| {
            let mut graph = Graph::default();
            let constant = Constant {
                ty: TensorType::f32([2]),
                values: Arc::new(values),
            };
            let out = graph.push(Op::Constant(constant), &[], Loc::caller());
            graph.outputs.push(("y".into(), out.unwrap()));
            graph
        };
        assert!(equal(&graph([f64::NAN, 0.0]), &graph([-f64::NAN, 0.0])));
        assert!(!equal(&graph([f64::NAN, 0.0]), &graph([f64::NAN, -0.0])));
        let different = difference(&graph([1.0, 2.0]), &graph([1.0, 3.0])).unwrap();
        assert!(different.contains("3.0"), "{different}");
    }
}
