//! `parametrize-constants`: constants and random draws become inputs.
//!
//! A constant is then uploaded once instead of being rebuilt in every step. Random numbers are drawn by
//! the caller, who chooses the stream, so that a graph has no random state: two runs on the same inputs
//! give the same outputs.

use fedround_ir::tensor::{Constant, Distribution, Graph, GraphError, Op};

use super::rewrite::Rewrite;

/// What the caller supplies for an input that [`parametrize_constants()`] made.
#[derive(Clone, Debug, PartialEq)]
pub enum InputSource {
    /// These values, each time.
    Constant(Constant),
    /// Numbers drawn anew each time.
    Random {
        /// What they are drawn from.
        distribution: Distribution,
        /// Tells the draws of one graph apart.
        stream: usize,
        /// Shape of the tensor.
        shape: Vec<usize>,
    },
}

/// Replaces constants and random draws by inputs, which follow the existing ones. Returns what the caller
/// has to supply for them, in order.
///
/// # Errors
///
/// The graph is not well formed.
pub fn parametrize_constants(graph: &Graph) -> Result<(Graph, Vec<InputSource>), GraphError> {
    let mut supplies = vec![];
    let hoisted = Rewrite::run(graph, |rewrite, node| {
        let (name, supply) = match node.op {
            Op::Constant(c) => (
                format!("constant{}", supplies.len()),
                InputSource::Constant(c),
            ),
            Op::Random(distribution, stream, shape) => {
                let supply = InputSource::Random {
                    distribution,
                    stream,
                    shape,
                };
                (format!("random{}", supplies.len()), supply)
            }
            _ => return rewrite.keep(node),
        };
        supplies.push(supply);
        let ty = graph.type_of(node.outs[0]).clone();
        Ok(vec![rewrite.new.input(name, ty)])
    })?;
    Ok((hoisted, supplies))
}

#[cfg(test)]
mod tests {
    use super::*;
    use fedround_ir::Loc;
    use fedround_ir::tensor::{DType, TensorType};

    #[test]
    fn constants_and_draws_are_inputs() {
        let at = Loc::caller();
        let mut g = Graph::default();
        let x = g.input("x", TensorType::f32([2]));
        let ty = TensorType::new(DType::F32, [2]);
        let values = [1.0, 2.0].into();
        let constant = Constant { ty, values };
        let draw = |stream| Op::Random(Distribution::Bernoulli(0.5), stream, vec![2]);
        let mut y = x;
        for op in [draw(0), Op::Constant(constant.clone()), draw(1)] {
            let v = g.push(op, &[], at).unwrap();
            y = g.push(Op::Mul, &[y, v], at).unwrap();
        }
        g.outputs.push(("y".into(), y));

        let (g, supplies) = parametrize_constants(&g).unwrap();
        g.verify().unwrap();
        let names: Vec<&str> = g.inputs.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["x", "random0", "constant1", "random2"]);
        assert!(g.nodes.iter().all(|node| node.op == Op::Mul));
        let random = |stream| InputSource::Random {
            distribution: Distribution::Bernoulli(0.5),
            stream,
            shape: vec![2],
        };
        assert_eq!(
            supplies,
            [random(0), InputSource::Constant(constant), random(1)]
        );
    }
}
