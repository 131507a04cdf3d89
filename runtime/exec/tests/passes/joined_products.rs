//! Tests that a sum of matrix products becomes one product with the same result.

use fedround_ir::Loc;
use fedround_ir::tensor::{DType, Graph, Op, TensorType, Val};
use fedround_passes::tensor::{join_products, mixed_precision};

use crate::passes::fused::same_as;

/// A graph under construction.
#[derive(Default)]
struct Sums(Graph);

impl Sums {
    fn input(&mut self, name: &str, shape: &[usize]) -> Val {
        self.0.input(name, TensorType::f32(shape))
    }

    fn op(&mut self, op: Op, ins: &[Val]) -> Val {
        self.0.push(op, ins, Loc::caller()).unwrap()
    }

    /// The product `aᵀ g` of two new inputs, like the gradient of a layer. With several clients, the client axis comes
    /// first.
    fn gradient(&mut self, number: usize, clients: Option<usize>, batch: usize) -> Val {
        let shape = |columns| {
            clients
                .into_iter()
                .chain([batch, columns])
                .collect::<Vec<_>>()
        };
        let a = self.input(&format!("a{number}"), &shape(12));
        let g = self.input(&format!("g{number}"), &shape(16));
        let swapped = match clients {
            Some(_) => vec![0, 2, 1],
            None => vec![1, 0],
        };
        let a = self.op(Op::Permute(swapped), &[a]);
        self.op(Op::MatMul, &[a, g])
    }

    fn add(&mut self, a: Val, b: Val) -> Val {
        self.op(Op::Add, &[a, b])
    }

    /// The number of products that are left if `sum` is the output. Checks that the output has the same values as before.
    fn joined(mut self, sum: Val) -> usize {
        self.0.outputs.push(("sum".into(), sum));
        let joined = join_products(&self.0).unwrap();
        same_as(&self.0, &joined);
        products(&joined)
    }
}

fn products(graph: &Graph) -> usize {
    let products = graph.nodes.iter().filter(|node| node.op == Op::MatMul);
    products.count()
}

#[test]
fn the_products_of_several_batches_are_one() {
    for clients in [None, Some(3)] {
        let mut sums = Sums::default();
        let [a, b, c] = [(1, 2), (2, 1), (3, 3)].map(|(i, batch)| sums.gradient(i, clients, batch));
        // The order of the additions does not matter, nor do another term and a row between the products.
        let penalty = sums.input("penalty", sums.0.shape(a).to_vec().as_slice());
        let row = sums.input("row", &[1, 16]);
        let row = match clients {
            Some(_) => sums.op(Op::Reshape(vec![1, 1, 16]), &[row]),
            None => row,
        };
        let first = sums.add(a, penalty);
        let rest = sums.add(b, c);
        let all = sums.add(first, row);
        let all = sums.add(all, rest);
        assert_eq!(sums.joined(all), 1, "{clients:?}");
    }
}

/// `x w + y v`, with operands that are not transposed and are small compared to the result.
#[test]
fn plain_operands_are_joined_too() {
    let mut sums = Sums::default();
    let x = sums.input("x", &[20, 3]);
    let w = sums.input("w", &[3, 20]);
    let y = sums.input("y", &[20, 4]);
    let v = sums.input("v", &[4, 20]);
    let [a, b] = [[x, w], [y, v]].map(|ins| sums.op(Op::MatMul, &ins));
    let sum = sums.add(a, b);
    assert_eq!(sums.joined(sum), 1);
}

/// A product of one row that is added to every row is not joined to those of all rows.
#[test]
fn a_repeated_product_stays() {
    let mut sums = Sums::default();
    let mut product = |name: &str, rows: usize| {
        let a = sums.input(&format!("a{name}"), &[rows, 3]);
        let b = sums.input(&format!("b{name}"), &[3, 20]);
        sums.op(Op::MatMul, &[a, b])
    };
    let [x, y, row] = [("x", 20), ("y", 20), ("row", 1)].map(|(name, rows)| product(name, rows));
    let sum = sums.add(x, row);
    let sum = sums.add(sum, y);
    assert_eq!(sums.joined(sum), 2);
}

/// A product that another op reads is not joined, because it is computed anyway. Large operands are not joined either,
/// because copying them costs more than it saves.
#[test]
fn what_would_not_pay_stays() {
    let mut sums = Sums::default();
    let [a, b] = [1, 2].map(|i| sums.gradient(i, None, 2));
    let twice = sums.add(a, a);
    let sum = sums.add(twice, b);
    assert_eq!(sums.joined(sum), 2);

    let mut sums = Sums::default();
    let [a, b] = [1, 2].map(|i| sums.gradient(i, None, 8));
    let sum = sums.add(a, b);
    assert_eq!(sums.joined(sum), 2);
}

/// In mixed precision, the rounded operands are joined.
#[test]
fn rounded_operands_are_joined() {
    let mut sums = Sums::default();
    let [a, b] = [1, 2].map(|i| sums.gradient(i, None, 2));
    let sum = sums.add(a, b);
    let mut graph = sums.0;
    graph.outputs.push(("sum".into(), sum));
    for to in [DType::BF16, DType::F16] {
        let mixed = mixed_precision(&graph, to).unwrap();
        let joined = join_products(&mixed).unwrap();
        assert_eq!(products(&joined), 1);
        same_as(&mixed, &joined);
    }
}
