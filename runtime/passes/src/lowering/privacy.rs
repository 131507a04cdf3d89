//! Clip and noise as tensor ops.

use fedround_ir::Loc;
use fedround_ir::tensor::{Distribution, Op, TypeError, Val};

use super::{Lower, Tree};

impl Lower<'_> {
    /// `C / max(‖x‖, C) · x`, which is defined where `x` is zero, and so is its gradient. Unlike in other
    /// norms, buffers count: noise would hide nothing of a leaf without a bound.
    pub(super) fn clip(&mut self, x: &Tree, bound: Val, loc: Loc) -> Result<Tree, TypeError> {
        let square = self.dot_but(&[], x, x, loc)?;
        let norm = self.root(square, loc)?;
        let above = self.graph.push(Op::Sub, &[norm, bound], loc)?;
        let above = self.graph.push(Op::Relu, &[above], loc)?;
        let longest = self.graph.push(Op::Add, &[above, bound], loc)?;
        let factor = self.graph.push(Op::Div, &[bound, longest], loc)?;
        self.each(x, |g, leaf| g.with_number(Op::Mul, leaf, factor, loc))
    }

    /// The root of a sum of squares, with a gradient of 0 where the sum is 0 and the root's slope infinite. Sums are
    /// raised to the smallest normal number, whose root is far below every bound.
    fn root(&mut self, square: Val, loc: Loc) -> Result<Val, TypeError> {
        let least = f64::from(f32::MIN_POSITIVE);
        let mut push = |op, v: Val| self.graph.push(op, &[v], loc);
        let above = push(Op::AddScalar(-least), square)?;
        let above = push(Op::Relu, above)?;
        let square = push(Op::AddScalar(least), above)?;
        push(Op::Sqrt, square)
    }

    /// As [`clip`](Self::clip), each row by its own norm.
    pub(super) fn clip_rows(&mut self, x: Val, bound: Val, loc: Loc) -> Result<Val, TypeError> {
        let (shape, flat) = self.flat_rows(x, loc)?;
        let mut push = |op, ins: &[Val]| self.graph.push(op, ins, loc);
        let square = push(Op::Mul, &[flat, flat])?;
        let square = push(Op::SumDim(1), &[square])?;
        let norm = self.root(square, loc)?;
        let mut push = |op, ins: &[Val]| self.graph.push(op, ins, loc);
        let bound = push(Op::Reshape(vec![1, 1]), &[bound])?;
        let above = push(Op::Sub, &[norm, bound])?;
        let above = push(Op::Relu, &[above])?;
        let longest = push(Op::Add, &[above, bound])?;
        let factor = push(Op::Div, &[bound, longest])?;
        let clipped = push(Op::Mul, &[flat, factor])?;
        push(Op::Reshape(shape), &[clipped])
    }

    /// Each row divided by its L1 norm, to which a little is added, so that zeros stay zeros.
    pub(super) fn l1_rows(&mut self, x: Val, loc: Loc) -> Result<Val, TypeError> {
        let (shape, flat) = self.flat_rows(x, loc)?;
        let mut push = |op, ins: &[Val]| self.graph.push(op, ins, loc);
        let size = push(Op::Abs, &[flat])?;
        let norm = push(Op::SumDim(1), &[size])?;
        let norm = push(Op::AddScalar(1e-12), &[norm])?;
        let scaled = push(Op::Div, &[flat, norm])?;
        push(Op::Reshape(shape), &[scaled])
    }

    /// The shape of a tensor, and the tensor with one dimension for the elements of a row.
    fn flat_rows(&mut self, x: Val, loc: Loc) -> Result<(Vec<usize>, Val), TypeError> {
        let shape = self.graph.shape(x).to_vec();
        let rows = shape.first().copied().unwrap_or(1);
        let flat = Op::Reshape(vec![rows, shape.iter().skip(1).product()]);
        let flat = self.graph.push(flat, &[x], loc)?;
        Ok((shape, flat))
    }

    /// `x + b · n` with `n` of a Laplace distribution of scale 1.
    pub(super) fn laplace(&mut self, x: Val, b: Val, loc: Loc) -> Result<Val, TypeError> {
        let shape = self.graph.shape(x).to_vec();
        let stream = self.graph.random_streams();
        let draw = Op::Random(Distribution::LaplaceNoise, stream, shape);
        let draw = self.graph.push(draw, &[], loc)?;
        let noise = self.with_number(Op::Mul, draw, b, loc)?;
        self.graph.push(Op::Add, &[x, noise], loc)
    }

    /// `x + σ · n` with `n` standard normal, a draw of its own for each leaf.
    pub(super) fn noise(&mut self, x: &Tree, sigma: Val, loc: Loc) -> Result<Tree, TypeError> {
        self.each(x, |g, leaf| {
            let shape = g.graph.shape(leaf).to_vec();
            let stream = g.graph.random_streams();
            let draw = Op::Random(Distribution::GaussianNoise, stream, shape);
            let draw = g.graph.push(draw, &[], loc)?;
            let noise = g.with_number(Op::Mul, draw, sigma, loc)?;
            g.graph.push(Op::Add, &[leaf, noise], loc)
        })
    }
}

#[cfg(test)]
mod tests {
    use fedround::Definer;
    use fedround::prelude::*;
    use fedround_ir::fed::Kind;
    use fedround_ir::tensor::{Graph, TensorType};

    use crate::lowering::{Frontend, FrontendError, LowerError, Shapes, lower};
    use crate::schedule::schedule;
    use crate::testing::{Closure, linked};

    /// Two parts of one leaf each, and no model. The second leaf may be a buffer.
    struct Parts(Vec<(String, TensorType)>, Vec<Vec<String>>, Vec<usize>);

    impl Frontend for Parts {
        fn parameters(&self) -> &[(String, TensorType)] {
            &self.0
        }
        fn column(&self, _: &str, _: Kind, batch: usize) -> Result<TensorType, FrontendError> {
            Ok(TensorType::f32([batch]))
        }
        fn layers(&self) -> &[Vec<String>] {
            &self.1
        }
        fn buffers(&self) -> &[usize] {
            &self.2
        }
        fn apply(&self, _: &str, _: &[TensorType], _: bool) -> Result<Graph, FrontendError> {
            Err("no model".into())
        }
        fn loss(&self, _: &str, _: &[TensorType]) -> Result<Graph, FrontendError> {
            Err("no loss".into())
        }
        fn function(&self, _: &str, _: &[TensorType]) -> Result<Graph, FrontendError> {
            Err("no function".into())
        }
        fn input(&self, rows: usize) -> TensorType {
            TensorType::f32([rows])
        }
    }

    /// The text of the clients' segment, without buffers.
    fn lowered(update: fn(&ClientCx, &Params) -> Params) -> Result<String, LowerError> {
        lowered_with(&[], update)
    }

    fn lowered_with(
        buffers: &[usize],
        update: fn(&ClientCx, &Params) -> Params,
    ) -> Result<String, LowerError> {
        let module = linked(&Closure(move |m: &mut Definer| {
            m.round(|server, w| {
                let w_k = w.broadcast(&server.all_clients());
                w_k.map(|k, w| update(k, &w)).mean()
            });
        }));
        let leaf = |name: &str, n: usize| (name.to_owned(), TensorType::f32([n]));
        let layers = [vec!["Norm".to_owned()], vec![]];
        let parts = Parts(
            vec![leaf("features.weight", 2), leaf("head.weight", 3)],
            layers.to_vec(),
            buffers.to_vec(),
        );
        let schedule = schedule(&module).unwrap();
        let shapes = Shapes::default();
        let graph = lower(&schedule, &schedule.segments[0], &parts, &shapes)?.graph;
        graph.verify().unwrap();
        Ok(graph.text("update"))
    }

    #[test]
    fn each_leaf_has_noise_of_its_own() {
        let text = lowered(|_, w| w.clip(2.0).noise(0.5)).unwrap();
        assert_eq!(text.matches("tensor.random").count(), 2, "{text}");
        for stream in ["stream 0]", "stream 1]"] {
            assert!(text.contains(stream), "{text}");
        }
        // One norm over all leaves, one factor for all.
        assert_eq!(text.matches("tensor.sqrt").count(), 1, "{text}");
        assert_eq!(text.matches("tensor.div").count(), 1, "{text}");
    }

    #[test]
    fn a_clip_bounds_buffers_too_which_other_norms_leave_out() {
        let sums = |text: &str| text.matches("tensor.sum ").count();
        let clipped = lowered_with(&[1], |_, w| w.clip(2.0)).unwrap();
        let scaled = lowered_with(&[1], |_, w| w.sq_norm() * w).unwrap();
        assert_eq!((sums(&clipped), sums(&scaled)), (2, 1), "{clipped}{scaled}");
    }

    #[test]
    fn parts_are_leaves_by_their_first_name() {
        let text = lowered(|_, w| (2.0 * w).replace_parts(&["head"], w)).unwrap();
        assert!(
            text.contains("out0.head.weight = %in0.head.weight"),
            "{text}"
        );
        assert!(!text.contains("out0.features.weight = %in0"), "{text}");
        let text = lowered(|_, w| (2.0 * w).replace_parts(&["Norm", "Dropout"], w)).unwrap();
        assert!(
            text.contains("out0.features.weight = %in0.features.weight"),
            "{text}"
        );
        assert!(!text.contains("out0.head.weight = %in0"), "{text}");
        let error = lowered(|_, w| (2.0 * w).replace_parts(&["neck"], w)).unwrap_err();
        let LowerError::UnknownPart { part, known, .. } = error else {
            panic!("{error}");
        };
        assert_eq!(
            (part.as_str(), known),
            ("neck", vec!["features".into(), "head".into()])
        );
    }
}
