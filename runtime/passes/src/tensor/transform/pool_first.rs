//! `pool-first`: moves a max pool before the `relu` that it reads. The maximum of rectified values is the
//! rectified maximum, and after pooling there are fewer values to rectify.
//!
//! The pass runs on forward passes, before differentiation, so that the gradient of the `relu` is smaller
//! too. Results are the same bit for bit, except for NaN: if the largest value of a window is positive,
//! it is the same one in both orders; otherwise the result and its gradient are 0. The places of the largest
//! values may differ, so a pool whose places are read stays where it is.

use fedround_ir::tensor::{Graph, GraphError, Op, Pool2d, Val};

use super::dce::dce;
use super::rewrite::Rewrite;

/// Moves each `relu` that only a max pool reads behind it.
///
/// # Errors
///
/// The graph is not well formed.
pub fn pool_first(graph: &Graph) -> Result<Graph, GraphError> {
    let uses = graph.use_counts();
    let moved = Rewrite::run(graph, |rewrite, node| {
        let read_once = |v: &Val| uses[v.0 as usize] == 1;
        let pool = &graph.nodes[rewrite.at];
        let places_unread = pool.outs.iter().skip(1).all(|v| uses[v.0 as usize] == 0);
        let alone = pool.ins.iter().all(read_once) && places_unread;
        let Op::MaxPool2d(options) = &node.op else {
            return rewrite.keep(node);
        };
        let x = match rewrite.new.producer(node.ins[0]) {
            Some(relu) if relu.op == Op::Relu && alone && has_pixels(options) => relu.ins[0],
            _ => return rewrite.keep(node),
        };
        let mut results = rewrite.new.push_multi(node.op, &[x], node.loc)?;
        results[0] = rewrite.new.push(Op::Relu, &results[..1], node.loc)?;
        Ok(results)
    })?;
    Ok(dce(&moved))
}

/// Whether every window has a pixel. The maximum of none is -∞ in a pool, which `relu` would change.
fn has_pixels(options: &Pool2d) -> bool {
    let axis = |i: usize| options.padding[i] < options.kernel[i] && options.dilation[i] == 1;
    options.padding == [0, 0] || (axis(0) && axis(1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use fedround_ir::Loc;
    use fedround_ir::tensor::TensorType;

    /// What reads something besides the largest values.
    #[derive(PartialEq)]
    enum Also {
        Nothing,
        Relu,
        Places,
    }

    fn ops(padding: usize, also: Also) -> Vec<&'static str> {
        let at = Loc::caller();
        let mut g = Graph::default();
        let x = g.input("x", TensorType::f32([1, 2, 4, 4]));
        let options = Pool2d {
            kernel: [2, 2],
            stride: [2, 2],
            padding: [padding; 2],
            dilation: [1, 1],
            count_include_pad: false,
        };
        let relu = g.push(Op::Relu, &[x], at).unwrap();
        let pooled = g.push_multi(Op::MaxPool2d(options), &[relu], at).unwrap();
        g.outputs.push(("y".into(), pooled[0]));
        match also {
            Also::Nothing => {}
            Also::Relu => g.outputs.push(("relu".into(), relu)),
            Also::Places => g.outputs.push(("places".into(), pooled[1])),
        }
        let g = pool_first(&g).unwrap();
        g.verify().unwrap();
        g.nodes.iter().map(|n| n.op.name()).collect()
    }

    #[test]
    fn a_pool_comes_first() {
        assert_eq!(ops(0, Also::Nothing), ["max_pool2d", "relu"]);
        assert_eq!(ops(1, Also::Nothing), ["max_pool2d", "relu"]);
    }

    #[test]
    fn a_window_of_padding_keeps_its_order() {
        assert_eq!(ops(2, Also::Nothing), ["relu", "max_pool2d"]);
    }

    #[test]
    fn what_others_read_stays() {
        for also in [Also::Relu, Also::Places] {
            assert_eq!(ops(0, also), ["relu", "max_pool2d"]);
        }
    }
}
