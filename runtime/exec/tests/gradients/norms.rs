//! Gradients of normalisations, norms and similarities.

use burn::nn::{GroupNormConfig, InstanceNormConfig, RmsNormConfig};
use burn::tensor::Tensor;
use burn::tensor::linalg::{Norm, cosine_similarity, l1_norm, l2_norm, lp_norm, vector_normalize};
use burn::tensor::module::{batch_norm, layer_norm};
use proptest::prelude::*;

use crate::gradients::case::{Case, Unary, check_all, few_cases, weigh};

const NORMS: &[Unary] = &[
    ("l1_norm", |x| weigh(l1_norm(x, 1)), -1.0, 1.1),
    ("l2_norm", |x| weigh(l2_norm(x, 3)), -1.0, 1.1),
    ("lp_norm", |x| weigh(lp_norm(x, 3.0, 2)), 0.2, 1.1),
    (
        "vector_normalize",
        |x| weigh(vector_normalize(x, Norm::L2, 1, 1e-8)),
        0.2,
        1.1,
    ),
];

fn channels(t: &Tensor<4>) -> Tensor<1> {
    let n = t.shape().num_elements();
    t.clone().reshape([n])
}

proptest! {
    #![proptest_config(few_cases())]

    #[test]
    fn vectors(shape in prop::array::uniform4(1usize..5), seed in 0u32..1000) {
        check_all(NORMS, shape, seed);
    }

    #[test]
    fn similarity(n in 1usize..4, d in 2usize..6, seed in 0u32..1000) {
        let case = Case::new("cosine_similarity", seed).input([1, 1, n, d], -1.0, 1.1).input([1, 1, n, d], 0.2, 1.1);
        case.check(&|x| weigh(cosine_similarity(x[0].clone(), x[1].clone(), 3, None)));
    }

    #[test]
    fn layers(n in 1usize..4, d in 2usize..6, seed in 0u32..1000) {
        let case = Case::new("layer_norm", seed)
            .input([1, n, 2, d], -1.0, 1.1).input([1, 1, 1, d], 0.5, 1.6).input([1, 1, 1, d], -0.5, 0.6);
        case.check(&|x| weigh(layer_norm(x[0].clone(), channels(&x[1]), Some(channels(&x[2])), 1e-3)));
        case.check(&|x| weigh(layer_norm(x[0].clone(), channels(&x[1]), None, 1e-3)) + weigh(x[2].clone()));
    }

    #[test]
    fn batches_with_given_statistics(n in 1usize..4, c in 1usize..4, side in 1usize..4, seed in 0u32..1000) {
        let case = Case::new("batch_norm", seed)
            .input([n, c, side, side], -1.0, 1.1)
            .input([1, 1, 1, c], 0.5, 1.6).input([1, 1, 1, c], -0.5, 0.6)
            .input([1, 1, 1, c], -0.5, 0.6).input([1, 1, 1, c], 0.5, 1.6);
        case.check(&|x| {
            let [gamma, beta, mean, var] = [1, 2, 3, 4].map(|i| channels(&x[i]));
            weigh(batch_norm(x[0].clone(), gamma, beta, mean, var, 1e-3))
        });
    }

    /// Layers that burn composes of primitive operations.
    #[test]
    fn groups(n in 1usize..4, c in 1usize..3, side in 2usize..4, seed in 0u32..1000) {
        let case = |name| Case::new(name, seed).input([n, 2 * c, side, side], -1.0, 1.1);
        case("group_norm").check(&|x| {
            let layer = GroupNormConfig::new(2, 2 * c).with_epsilon(1e-2).init(&x[0].device());
            weigh(layer.forward(x[0].clone()))
        });
        case("instance_norm").check(&|x| {
            let layer = InstanceNormConfig::new(2 * c).with_epsilon(1e-2).init(&x[0].device());
            weigh(layer.forward(x[0].clone()))
        });
        case("rms_norm").check_first_order(&|x| {
            let layer = RmsNormConfig::new(side).with_epsilon(1e-2).init(&x[0].device());
            weigh(layer.forward(x[0].clone()))
        });
    }

    /// A batch norm in training, which uses the statistics of the batch.
    #[test]
    fn batches_with_their_own_statistics(n in 2usize..4, c in 1usize..4, side in 1usize..4, seed in 0u32..1000) {
        let case = Case::new("batch_norm in training", seed)
            .input([n, c, side, side], -1.0, 1.1).input([1, c, 1, 1], 0.5, 1.6).input([1, c, 1, 1], -0.5, 0.6);
        case.check(&|x| {
            let rows = x[0].clone().swap_dims(0, 1).reshape([c, n * side * side]);
            let (var, mean) = rows.var_mean_bias(1);
            let [mean, var] = [mean, var].map(|s| s.reshape([1, c, 1, 1]));
            let normed = (x[0].clone() - mean) / var.add_scalar(1e-3).sqrt();
            weigh(normed * x[1].clone() + x[2].clone())
        });
    }
}
