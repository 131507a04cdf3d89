//! Costs of small graphs, by hand.

use fedround_ir::Loc;
use fedround_ir::tensor::{Conv2d, Pool2d};

use super::*;
use crate::report::cost_table;

struct Build(Graph);

impl Build {
    fn input(&mut self, shape: &[usize]) -> Val {
        let name = format!("x{}", self.0.inputs.len());
        self.0.input(name, TensorType::f32(shape))
    }

    fn op(&mut self, op: Op, ins: &[Val]) -> Val {
        self.0.push_multi(op, ins, Loc::caller()).unwrap()[0]
    }

    fn finish(mut self, outputs: &[Val]) -> Cost {
        let named = outputs.iter().map(|v| (format!("y{}", v.0), *v));
        self.0.outputs.extend(named);
        self.0.verify().unwrap();
        cost(&self.0)
    }
}

fn build() -> Build {
    Build(Graph::default())
}

const CONV: Conv2d = Conv2d {
    stride: [1, 1],
    padding: [0, 0],
    dilation: [1, 1],
    groups: 1,
};

#[test]
fn a_dense_layer() {
    let mut g = build();
    let (x, w, b) = (
        g.input(&[10, 784]),
        g.input(&[784, 200]),
        g.input(&[1, 200]),
    );
    let z = g.op(Op::MatMul, &[x, w]);
    let z = g.op(Op::Add, &[z, b]);
    let y = g.op(Op::Relu, &[z]);
    let cost = g.finish(&[y]);
    assert_eq!(cost.flops, 2 * 10 * 784 * 200 + 2 * 10 * 200);
    let (x, w, b, z) = (4 * 7840, 4 * 156_800, 800, 8000);
    assert_eq!(cost.read, x + w + (z + b) + z);
    assert_eq!(cost.written, 3 * z);
    // The sum and the relu are written in place.
    assert_eq!(
        cost.nodes.iter().map(|n| n.live).collect::<Vec<_>>(),
        [x + w + b + z, b + z, z]
    );
    assert_eq!(cost.peak, x + w + b + z);
}

#[test]
fn a_convolution_and_its_gradients() {
    let mut g = build();
    let (x, w, b) = (
        g.input(&[2, 3, 8, 8]),
        g.input(&[5, 3, 3, 3]),
        g.input(&[5]),
    );
    let y = g.op(Op::Conv2d(CONV), &[x, w, b]);
    let dx = g.op(Op::Conv2dInputGrad(CONV, vec![2, 3, 8, 8]), &[w, y]);
    let dw = g.op(Op::Conv2dWeightGrad(CONV, vec![5, 3, 3, 3]), &[x, y]);
    let cost = g.finish(&[dx, dw]);
    // Each of 2·5·6·6 results sums 3·3·3 products; so do its gradients, in other orders.
    let products = 2 * (2 * 5 * 36) * 27;
    let flops: Vec<u64> = cost.nodes.iter().map(|n| n.flops).collect();
    assert_eq!(flops, [products + 2 * 5 * 36, products, products]);
}

#[test]
fn groups_sum_over_their_own_channels() {
    let mut g = build();
    let (x, w) = (g.input(&[1, 4, 5, 5]), g.input(&[4, 1, 3, 3]));
    let y = g.op(Op::Conv2d(Conv2d { groups: 4, ..CONV }), &[x, w]);
    assert_eq!(g.finish(&[y]).flops, 2 * (4 * 9) * 9);
}

#[test]
fn a_pool() {
    let mut g = build();
    let pool = Pool2d {
        kernel: [2, 2],
        stride: [2, 2],
        padding: [0, 0],
        dilation: [1, 1],
        count_include_pad: false,
    };
    let x = g.input(&[1, 2, 4, 4]);
    let y = g.op(Op::MaxPool2d(pool), &[x]);
    let cost = g.finish(&[y]);
    assert_eq!(cost.flops, 8 * 4);
    // The values and their places.
    assert_eq!(cost.written, 2 * 4 * 8);
    assert_eq!(cost.peak, 4 * 32 + 2 * 4 * 8);
}

#[test]
fn views_move_nothing_and_keep_their_memory() {
    let mut g = build();
    let x = g.input(&[4, 6]);
    let view = g.op(Op::Permute(vec![1, 0]), &[x]);
    let sum = g.op(Op::Sum, &[view]);
    let cost = g.finish(&[sum]);
    assert_eq!(
        cost.nodes[0],
        NodeCost {
            live: 96,
            ..NodeCost::default()
        }
    );
    assert_eq!(cost.nodes[1].live, 96 + 4);
    assert_eq!((cost.read, cost.flops), (96, 24));
}

#[test]
fn an_operand_that_is_read_again_is_not_overwritten() {
    let mut g = build();
    let x = g.input(&[100]);
    let y = g.op(Op::Exp, &[x]);
    let z = g.op(Op::Mul, &[y, x]);
    let cost = g.finish(&[z]);
    assert_eq!(cost.nodes[0].live, 800);
    assert_eq!(cost.nodes[1].live, 800);
    // Neither is a view's.
    let mut g = build();
    let x = g.input(&[10, 10]);
    let view = g.op(Op::Reshape(vec![100]), &[x]);
    let y = g.op(Op::Exp, &[x]);
    let cost = g.finish(&[view, y]);
    assert_eq!(cost.peak, 800);
}

#[test]
fn an_update_is_in_place() {
    let mut g = build();
    let (w, lr) = (g.input(&[20, 30]), g.input(&[1]));
    let (a, b) = (g.input(&[20, 5]), g.input(&[5, 30]));
    let w = g.op(Op::MatMulAdd(-1.0), &[w, lr, a, b]);
    let cost = g.finish(&[w]);
    assert_eq!(cost.flops, 2 * 600 * 5 + 2 * 600);
    assert_eq!(cost.peak, 4 * (600 + 1 + 100 + 150));
}

#[test]
fn a_table_has_a_line_for_each_node() {
    let mut g = build();
    let (x, w) = (g.input(&[10, 20]), g.input(&[20, 30]));
    let z = g.op(Op::MatMul, &[x, w]);
    let z = g.op(Op::Relu, &[z]);
    g.0.outputs.push(("z".into(), z));
    let table = cost_table("step0", &g.0, &cost(&g.0));
    assert_eq!(
        table,
        "\
cost @step0: 12.3 kFLOP, 4.4 kB read, 2.4 kB written, peak 4.4 kB
     FLOPs      read   written      live  op
    12.0 k    3.2 kB    1.2 kB    4.4 kB  matmul : f32[10x30]
       300    1.2 kB    1.2 kB    1.2 kB  relu : f32[10x30]
"
    );
}
