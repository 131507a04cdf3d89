//! Gradients of ops with integers: reads and writes at indices, and labels.

use burn::tensor::activation::log_softmax;
use burn::tensor::module::embedding;
use burn::tensor::{Device, IndexingUpdateOp, Int, Tensor, TensorData};
use proptest::prelude::*;

use crate::gradients::case::{Case, few_cases, weigh};

/// `n` integers below `below`, with repetitions.
fn some<const D: usize>(shape: [usize; D], below: usize, device: &Device) -> Tensor<D, Int> {
    let n: usize = shape.iter().product();
    let values: Vec<i32> = (0..n).map(|i| ((5 * i + 2) % 7 % below) as i32).collect();
    Tensor::from_data(TensorData::new(values, shape), device)
}

/// Not all integers above 2²⁴ are `f32` numbers.
#[test]
fn large_integers_are_exact() {
    let case = Case::new("large integers", 1).input([1, 1, 2, 3], -1.0, 1.1);
    case.check(&|x| {
        let filled = Tensor::<4, Int>::full(x[0].dims(), (1 << 24) + 1, &x[0].device());
        weigh(x[0].clone().exp() * filled.sub_scalar(1 << 24).float())
    });
}

proptest! {
    #![proptest_config(few_cases())]

    #[test]
    fn reads(n in 1usize..4, m in 2usize..5, k in 1usize..6, seed in 0u32..1000) {
        let x = Case::new("gather", seed).input([n, m, 2, 2], -1.0, 1.1);
        x.check(&|x| {
            let at = some([n, k, 2, 2], m, &x[0].device());
            weigh(x[0].clone().gather(1, at).exp())
        });
        // Indices may cover less than the tensor in the other dimensions.
        x.check(&|x| {
            let at = some([n, k, 1, 2], m, &x[0].device());
            weigh(x[0].clone().slice([0..n, 0..m, 0..1]).gather(1, at).exp())
        });
        let x = Case::new("select", seed).input([n, m, 2, 2], -1.0, 1.1);
        x.check(&|x| weigh(x[0].clone().select(1, some([k], m, &x[0].device())).exp()));
        let w = Case::new("embedding", seed).input([1, 1, m, 3], -1.0, 1.1);
        w.check(&|w| {
            let table = w[0].clone().reshape([m, 3]);
            weigh(embedding(table, some([n, k], m, &w[0].device())).exp())
        });
    }

    #[test]
    fn writes(n in 1usize..4, m in 2usize..5, k in 1usize..5, seed in 0u32..1000) {
        let case = Case::new("scatter", seed).input([n, m, 2, 2], -1.0, 1.1).input([n, k, 2, 2], -1.0, 1.1);
        case.check(&|x| {
            let at = some([n, k, 2, 2], m, &x[0].device());
            weigh(x[0].clone().scatter(1, at, x[1].clone(), IndexingUpdateOp::Add).exp())
        });
        let case = Case::new("select_assign", seed).input([n, m, 2, 2], -1.0, 1.1).input([n, k, 2, 2], -1.0, 1.1);
        case.check(&|x| {
            let at = some([k], m, &x[0].device());
            weigh(x[0].clone().select_assign(1, at, x[1].clone(), IndexingUpdateOp::Add).exp())
        });
    }

    #[test]
    fn computed_indices(n in 1usize..6, classes in 2usize..6, seed in 0u32..1000) {
        let case = |name| Case::new(name, seed).input([1, 1, n, classes], -2.0, 2.1);
        case("argmax").check(&|x| {
            let z: Tensor<2> = x[0].clone().reshape([n, classes]);
            let best = z.clone().argmax(1);
            weigh(log_softmax(z, 1).gather(1, best))
        });
        case("argmin").check(&|x| {
            let z: Tensor<2> = x[0].clone().reshape([n, classes]);
            let worst = z.clone().argmin(1);
            weigh(log_softmax(z, 1).gather(1, worst))
        });
        case("one_hot").check(&|x| {
            let z: Tensor<2> = x[0].clone().reshape([n, classes]);
            // burn's `one_hot` reads the labels, which a traced function cannot.
            let labels = some([n, 1], classes, &z.device());
            let all = Tensor::<1, Int>::arange(0..classes as i64, &z.device()).reshape([1, classes]);
            weigh(z.exp() * labels.equal(all).float())
        });
        case("mask of labels").check(&|x| {
            let z: Tensor<2> = x[0].clone().reshape([n, classes]);
            let labels = some([n, classes], 3, &z.device());
            weigh(z.clone().mask_fill(labels.equal_scalar(1), 0.5).exp())
        });
        case("integer arithmetic").check(&|x| {
            let z: Tensor<2> = x[0].clone().reshape([n, classes]);
            let (a, b) = (some([n, classes], 3, &z.device()), z.clone().exp().int());
            let sum = (a.clone() + b.clone()) * 2 - a.clone() * b.clone() + 1;
            let low = sum.clone().lower(a.clone()).bool_or(sum.clone().greater_equal(b));
            let sum = sum.mask_where(low, a.neg());
            weigh(z.clone() * sum.float())
        });
    }

    #[test]
    fn integers_move(n in 2usize..5, m in 2usize..5, seed in 0u32..1000) {
        let case = Case::new("integers", seed).input([1, 1, n, m], -2.0, 2.1);
        case.check(&|x| {
            let at = some([n, m], 5, &x[0].device());
            let at = Tensor::cat(vec![at.clone().swap_dims(0, 1).reshape([n, m]), at.flip([1])], 1);
            let at = at.slice([0..n, 1..m + 1]).repeat_dim(1, 2).slice([0..n, 0..m]);
            let at = at.clone().select(0, some([n], n, &x[0].device()));
            let float = at.float().reshape([1, 1, n, m]);
            weigh(x[0].clone().exp() * float)
        });
    }
}
