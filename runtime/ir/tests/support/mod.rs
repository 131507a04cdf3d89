//! Random graphs, in which every op of the dialect occurs.

use std::sync::Arc;

use fedround_ir::Loc;
use fedround_ir::tensor::{
    Cmp, Constant, Conv2d, DType, Distribution, Fused, Graph, Op, Pool2d, TensorType, Val,
};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

/// A sound graph of about `size` nodes.
pub fn graph(seed: u64, size: usize) -> Graph {
    let mut random = Random(StdRng::seed_from_u64(seed));
    let mut graph = Graph::default();
    let names = ["w", "conv.0.weight", "a b", "%", "0", "inf", "ω"];
    for name in names.iter().take(1 + random.below(names.len())) {
        let ty = random.ty();
        graph.input(*name, ty);
    }
    // What ops of several operands need together.
    for (name, dtype, shape) in [
        ("image", DType::F32, vec![2, 4, 5, 5]),
        ("filter", DType::F32, vec![4, 2, 3, 3]),
        ("grad", DType::F32, vec![2, 4, 3, 3]),
        ("pooled", DType::F32, vec![2, 4, 2, 2]),
        ("index", DType::I32, vec![2, 4, 2, 2]),
        ("matrix", DType::F32, vec![2, 2]),
        ("mask", DType::Bool, vec![2, 2]),
        ("places", DType::I32, vec![2, 2]),
        ("rows", DType::I32, vec![2]),
        ("rate", DType::F32, vec![1]),
    ] {
        graph.input(name, TensorType::new(dtype, shape));
    }
    for _ in 0..20 * size {
        if graph.nodes.len() == size {
            break;
        }
        let op = random.op();
        let ins = random.operands(&graph, &op);
        // What does not fit is not appended.
        let _ = graph.push_multi(op, &ins, Loc::caller());
    }
    for (index, name) in ["out.w", "loss", "NaN", "a\n\"b\""].into_iter().enumerate() {
        let last = graph.types.len() as u32 - 1;
        graph
            .outputs
            .push((name.to_owned(), Val(last.saturating_sub(index as u32))));
    }
    graph
}

struct Random(StdRng);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0.random_range(0..n)
    }

    fn dims(&mut self, most: usize) -> Vec<usize> {
        let rank = self.below(most + 1);
        (0..rank).map(|_| 1 + self.below(3)).collect()
    }

    fn pair(&mut self, from: usize) -> [usize; 2] {
        [from + self.below(2), from + self.below(2)]
    }

    fn ty(&mut self) -> TensorType {
        let dtype = [DType::F32, DType::F32, DType::I32, DType::Bool][self.below(4)];
        TensorType::new(dtype, self.dims(4))
    }

    /// Up to four values, often of one shape.
    fn operands(&mut self, graph: &Graph, op: &Op) -> Vec<Val> {
        let rank = |v: &Val| graph.shape(*v).len();
        let all = (0..graph.types.len() as u32).map(Val);
        let all: Vec<Val> = all
            .filter(|v| rank(v) == 4 || !op.name().contains("2d"))
            .collect();
        let usual: &[&str] = match op.name() {
            "matmul_add" => &["matrix", "rate", "matrix", "matrix"],
            "and" | "or" => &["mask", "mask"],
            "slice_assign" => &["matrix", "matrix"],
            "where" => &["mask", "matrix", "matrix"],
            "scatter_add" => &["matrix", "places", "matrix"],
            "select_add" => &["matrix", "rows", "matrix"],
            "conv2d_input_grad" => &["filter", "grad"],
            "conv2d_weight_grad" => &["image", "grad"],
            "max_pool2d_grad" => &["image", "pooled", "index"],
            _ => &[],
        };
        if !usual.is_empty() && self.below(2) == 0 {
            let named = |name: &&str| graph.inputs.iter().find(|(input, _)| input == name);
            return usual.iter().filter_map(named).map(|(_, v)| *v).collect();
        }
        let mut ins: Vec<Val> = Vec::new();
        for _ in 0..self.below(5) {
            let like = ins.first().copied().filter(|_| self.below(2) == 0);
            let alike = |v: &&Val| like.is_none_or(|like| graph.shape(**v) == graph.shape(like));
            let fit: Vec<&Val> = all.iter().filter(alike).collect();
            ins.push(*fit[self.below(fit.len())]);
        }
        ins
    }

    /// Any bits at all, or a number that people write.
    fn real(&mut self) -> f64 {
        let usual = [
            0.0,
            -0.0,
            1.0,
            0.1,
            1.0 / 3.0,
            100.0,
            f64::NAN,
            f64::NEG_INFINITY,
        ];
        match self.below(3) {
            0 => f64::from_bits(self.0.random()),
            1 => self.0.random_range(-1e6..1e6),
            _ => usual[self.below(usual.len())],
        }
    }

    fn constant(&mut self) -> Constant {
        let ty = self.ty();
        let values: Arc<[f64]> = (0..ty.len()).map(|_| self.real()).collect();
        Constant { ty, values }
    }

    fn conv(&mut self) -> Conv2d {
        if self.below(2) == 0 {
            return Conv2d {
                stride: [1, 1],
                padding: [0, 0],
                dilation: [1, 1],
                groups: 2,
            };
        }
        Conv2d {
            stride: self.pair(1),
            padding: self.pair(0),
            dilation: self.pair(1),
            groups: 1 + self.below(2),
        }
    }

    fn pool(&mut self) -> Pool2d {
        if self.below(2) == 0 {
            return Pool2d {
                kernel: [2, 2],
                stride: [2, 2],
                padding: [0, 0],
                dilation: [1, 1],
                count_include_pad: true,
            };
        }
        Pool2d {
            kernel: self.pair(1),
            stride: self.pair(1),
            padding: self.pair(0),
            dilation: self.pair(1),
            count_include_pad: self.below(2) == 0,
        }
    }

    /// Of two operands.
    fn fused(&mut self) -> Fused {
        let cmp = Cmp::ALL[self.below(Cmp::ALL.len())];
        let steps = vec![
            (Op::Add, vec![0, 1]),
            (Op::MulScalar(self.real()), vec![2]),
            (Op::CompareScalar(cmp, self.real()), vec![3]),
            (Op::Cast(DType::F32), vec![4]),
            (Op::Clamp(self.real(), self.real()), vec![5]),
        ];
        let some = |values: &[usize], n: usize| values[..n].to_vec();
        let (outputs, sums, leading_sums, channel_sums) = match self.below(5) {
            0 => (some(&[6, 2], 2), vec![], vec![], vec![]),
            1 => (vec![], some(&[3, 6], 2), vec![], vec![]),
            2 => (vec![], vec![], some(&[6, 2], 2), vec![]),
            3 => (vec![], vec![], vec![], some(&[3, 2], 2)),
            _ => (some(&[3], 1), some(&[2], 1), some(&[6], 1), some(&[2], 1)),
        };
        Fused {
            shape: vec![2, 2],
            steps,
            outputs,
            sums,
            leading_sums,
            channel_sums,
        }
    }

    fn ranges(&mut self) -> Vec<(usize, usize)> {
        let sizes = self.dims(3);
        let range = |n| {
            let start = self.below(2);
            (start, start + n)
        };
        sizes.into_iter().map(range).collect()
    }

    fn op(&mut self) -> Op {
        let name = Op::NAMES[self.below(Op::NAMES.len())];
        let cmp = Cmp::ALL[self.below(Cmp::ALL.len())];
        let dim = self.below(4);
        match name {
            "full" => Op::Full(self.real(), self.dims(4)),
            "constant" => Op::Constant(self.constant()),
            "random" => {
                let draw = match self.below(3) {
                    0 => Distribution::Uniform(self.real(), self.real()),
                    1 => Distribution::Normal(self.real(), self.real()),
                    2 => Distribution::Bernoulli(self.real()),
                    3 => Distribution::GaussianNoise,
                    _ => Distribution::LaplaceNoise,
                };
                Op::Random(draw, self.below(100), self.dims(4))
            }
            "add" => Op::Add,
            "sub" => Op::Sub,
            "mul" => Op::Mul,
            "div" => Op::Div,
            "pow" => Op::Pow,
            "add_scalar" => Op::AddScalar(self.real()),
            "mul_scalar" => Op::MulScalar(self.real()),
            "axpy" => Op::Axpy(self.real()),
            "matmul_add" => Op::MatMulAdd(self.real()),
            "fused" => Op::Fused(Arc::new(self.fused())),
            "neg" => Op::Neg,
            "exp" => Op::Exp,
            "log" => Op::Log,
            "log1p" => Op::Log1p,
            "sqrt" => Op::Sqrt,
            "pow_scalar" => Op::PowScalar(self.real()),
            "abs" => Op::Abs,
            "sign" => Op::Sign,
            "floor" => Op::Floor,
            "sin" => Op::Sin,
            "cos" => Op::Cos,
            "tanh" => Op::Tanh,
            "sigmoid" => Op::Sigmoid,
            "erf" => Op::Erf,
            "clamp" => Op::Clamp(self.real(), self.real()),
            "relu" => Op::Relu,
            "relu_grad" => Op::ReluGrad,
            "compare" => Op::Compare(cmp),
            "compare_scalar" => Op::CompareScalar(cmp, self.real()),
            "and" => Op::And,
            "or" => Op::Or,
            "not" => Op::Not,
            "where" => Op::Where,
            "cast" => Op::Cast(DType::ALL[self.below(DType::ALL.len())]),
            "stop_gradient" => Op::StopGradient,
            "reshape" => Op::Reshape(self.dims(4)),
            "permute" => Op::Permute([vec![], vec![0], vec![1, 0], vec![2, 0, 1]][dim].clone()),
            "flip" => Op::Flip(vec![dim]),
            "expand" => Op::Expand(self.dims(3)),
            "slice" => Op::Slice(self.ranges()),
            "slice_assign" if dim < 2 => Op::SliceAssign(vec![(0, 2), (0, 2)]),
            "slice_assign" => Op::SliceAssign(self.ranges()),
            "cat" => Op::Cat(dim),
            "sum" => Op::Sum,
            "dot" => Op::Dot,
            "sum_dim" => Op::SumDim(dim),
            "mean" => Op::Mean,
            "mean_dim" => Op::MeanDim(dim),
            "max_dim" => Op::MaxDim(dim),
            "cumsum" => Op::CumSum {
                dim,
                reverse: self.below(2) == 0,
            },
            "matmul" => Op::MatMul,
            "log_softmax" => Op::LogSoftmax(dim),
            "gather" => Op::Gather(dim),
            "scatter_add" => Op::ScatterAdd(dim),
            "select" => Op::Select(dim),
            "select_add" => Op::SelectAdd(dim),
            "conv2d" => Op::Conv2d(self.conv()),
            "conv2d_input_grad" => Op::Conv2dInputGrad(self.conv(), vec![2, 4, 5, 5]),
            "conv2d_weight_grad" => Op::Conv2dWeightGrad(self.conv(), vec![4, 2, 3, 3]),
            "max_pool2d" => Op::MaxPool2d(self.pool()),
            "max_pool2d_grad" => Op::MaxPool2dGrad(self.pool()),
            "avg_pool2d" => Op::AvgPool2d(self.pool()),
            "avg_pool2d_grad" => Op::AvgPool2dGrad(self.pool()),
            other => panic!("no generator for `{other}`: add one here"),
        }
    }
}
