//! Tests of sums over the images and pixels of each channel, as in batch normalisation.

use fedround_ir::Loc;
use fedround_ir::tensor::{Graph, Op, TensorType, Val};
use fedround_passes::tensor::{fuse_elementwise, known_sums, plane_sums};

use super::{inputs, run};

const SHAPE: [usize; 4] = [4, 3, 40, 40];
const CHANNELS: [usize; 4] = [1, 3, 1, 1];

struct Build(Graph);

impl Build {
    fn input(&mut self, name: &str, shape: [usize; 4]) -> Val {
        self.0.input(name, TensorType::f32(shape))
    }

    fn op(&mut self, op: Op, ins: &[Val]) -> Val {
        self.0.push(op, ins, Loc::caller()).unwrap()
    }

    /// The mean of each channel, over the pixels of each plane and then over the images.
    fn mean(&mut self, x: Val) -> Val {
        let planes = self.op(Op::Reshape(vec![4, 3, 1600]), &[x]);
        let means = self.op(Op::MeanDim(2), &[planes]);
        let mean = self.op(Op::MeanDim(0), &[means]);
        self.op(Op::Reshape(CHANNELS.to_vec()), &[mean])
    }

    /// The sum of each channel, as in the gradient of a broadcast value.
    fn sum(&mut self, x: Val) -> Val {
        let rows = self.op(Op::SumDim(0), &[x]);
        let columns = self.op(Op::SumDim(2), &[rows]);
        self.op(Op::SumDim(3), &[columns])
    }

    fn output(&mut self, name: &str, v: Val) {
        self.0.outputs.push((name.into(), v));
    }
}

/// Asserts that two graphs give the same numbers up to the rounding of sums whose terms are about 1.
fn agree(before: &Graph, after: &Graph) {
    after.verify().unwrap();
    let values = inputs(before, |k, i| {
        ((i * 7919 + k * 31) % 1009) as f32 / 504.0 - 0.9
    });
    let (before, after) = (run(before, &values), run(after, &values));
    for (before, after) in before.iter().zip(&after) {
        assert_eq!(before.len(), after.len());
        let largest = before.iter().fold(1.0f32, |most, v| most.max(v.abs()));
        for (a, b) in before.iter().zip(after) {
            assert!((a - b).abs() <= 1e-5 * largest, "{a} became {b}");
        }
    }
}

fn count(graph: &Graph, is: impl Fn(&Op) -> bool) -> usize {
    graph.nodes.iter().filter(|node| is(&node.op)).count()
}

fn ops(graph: &Graph) -> Vec<&Op> {
    graph.nodes.iter().map(|node| &node.op).collect()
}

#[test]
fn sums_of_channels_are_results_of_the_pass() {
    let mut b = Build(Graph::default());
    let (x, m, s) = (
        b.input("x", SHAPE),
        b.input("m", CHANNELS),
        b.input("s", CHANNELS),
    );
    let centred = b.op(Op::Sub, &[x, m]);
    let squares = b.op(Op::Mul, &[centred, centred]);
    let variance = b.mean(squares);
    let scaled = b.op(Op::Mul, &[centred, s]);
    let sum = b.sum(scaled);
    let doubled = b.op(Op::MulScalar(2.0), &[sum]);
    // One value is also read by another op; the others are read by their sums only.
    b.output("centred", centred);
    b.output("variance", variance);
    b.output("sum", doubled);
    let mean = b.mean(centred);
    b.output("mean", mean);
    let fused = fuse_elementwise(&b.0).unwrap();
    let joined = plane_sums(&fused).unwrap();
    let is_sum = |op: &Op| matches!(op, Op::SumDim(_) | Op::MeanDim(_));
    // The pass already had the sum over images.
    assert_eq!((count(&fused, is_sum), count(&joined, is_sum)), (6, 0));
    agree(&b.0, &joined);
}

#[test]
fn a_sum_that_is_read_in_between_stays() {
    let mut b = Build(Graph::default());
    let (x, m) = (b.input("x", SHAPE), b.input("m", CHANNELS));
    let y = b.op(Op::Sub, &[x, m]);
    let y = b.op(Op::Exp, &[y]);
    let rows = b.op(Op::SumDim(0), &[y]);
    let columns = b.op(Op::SumDim(2), &[rows]);
    let sum = b.op(Op::SumDim(3), &[columns]);
    b.output("columns", columns);
    b.output("sum", sum);
    let fused = fuse_elementwise(&b.0).unwrap();
    assert_eq!(ops(&plane_sums(&fused).unwrap()), ops(&fused));
}

#[test]
fn what_differs_from_the_mean_of_its_channel_sums_up_to_nothing() {
    let mut b = Build(Graph::default());
    let (x, g) = (b.input("x", SHAPE), b.input("g", SHAPE));
    let (s, t) = (b.input("s", CHANNELS), b.input("t", CHANNELS));
    let shift = b.sum(g);
    let mean = b.mean(x);
    let centred = b.op(Op::Sub, &[x, mean]);
    let by_variance = b.op(Op::Mul, &[centred, t]);
    let by_scale = b.op(Op::Mul, &[s, g]);
    let both = b.op(Op::Add, &[by_scale, by_variance]);
    let negative = b.op(Op::Neg, &[both]);
    let of_mean = b.sum(negative);
    b.output("shift", shift);
    b.output("mean", of_mean);
    let known = known_sums(&b.0).unwrap();
    let is_sum = |op: &Op| matches!(op, Op::SumDim(_));
    assert_eq!((count(&b.0, is_sum), count(&known, is_sum)), (6, 3));
    agree(&b.0, &known);

    // A mean over other dimensions is not a mean of a channel.
    let mut b = Build(Graph::default());
    let (x, g) = (b.input("x", SHAPE), b.input("g", SHAPE));
    let mean = b.mean(g);
    let centred = b.op(Op::Sub, &[x, mean]);
    let sum = b.sum(centred);
    b.output("sum", sum);
    assert_eq!(ops(&known_sums(&b.0).unwrap()), ops(&b.0));
}
