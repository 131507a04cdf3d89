//! Gradients of burn's own losses, against burn-autodiff.

use burn::nn::loss::{
    BinaryCrossEntropyLossConfig, CosineEmbeddingLossConfig, CrossEntropyLossConfig,
    HuberLossConfig, KLDivLossConfig, MseLoss, Reduction, SmoothL1LossConfig,
};
use burn::tensor::activation::{log_softmax, sigmoid, softmax};
use burn::tensor::{Int, Tensor, TensorData};
use proptest::prelude::*;

use crate::gradients::case::{Case, few_cases};

fn labels<const D: usize>(shape: [usize; D], classes: usize, like: &Tensor<4>) -> Tensor<D, Int> {
    let n: usize = shape.iter().product();
    let values: Vec<i32> = (0..n).map(|i| ((5 * i + 2) % 7 % classes) as i32).collect();
    Tensor::from_data(TensorData::new(values, shape), &like.device())
}

fn rows(t: &Tensor<4>) -> Tensor<2> {
    let [_, _, n, d] = t.dims();
    t.clone().reshape([n, d])
}

proptest! {
    #![proptest_config(few_cases())]

    #[test]
    fn of_labels(n in 1usize..5, classes in 2usize..5, seed in 0u32..1000) {
        let case = |name| Case::new(name, seed).input([1, 1, n, classes], -2.0, 2.1);
        let device = &crate::gradients::case::device();
        let plain = CrossEntropyLossConfig::new();
        case("cross entropy").check(&|x| plain.init(device).forward(rows(&x[0]), labels([n], classes, &x[0])));
        let smooth = plain.clone().with_smoothing(Some(0.1));
        case("smoothed cross entropy").check(&|x| smooth.init(device).forward(rows(&x[0]), labels([n], classes, &x[0])));
        let padded = plain.clone().with_pad_tokens(Some(vec![1]));
        case("padded cross entropy").check(&|x| padded.init(device).forward(rows(&x[0]), labels([n], classes, &x[0])));
        let weights = (0..classes).map(|c| 1.0 + c as f32).collect();
        let weighted = plain.clone().with_weights(Some(weights));
        case("weighted cross entropy").check(&|x| {
            weighted.init(&x[0].device()).forward(rows(&x[0]), labels([n], classes, &x[0]))
        });
        let probabilities = plain.clone().with_logits(false);
        case("cross entropy of probabilities").check(&|x| {
            probabilities.init(device).forward(softmax(rows(&x[0]), 1), labels([n], classes, &x[0]))
        });
        let logits = BinaryCrossEntropyLossConfig::new().with_logits(true);
        case("binary cross entropy with logits").check(&|x| {
            logits.init(device).forward(rows(&x[0]), labels([n, classes], 2, &x[0]))
        });
        let plain = BinaryCrossEntropyLossConfig::new();
        case("binary cross entropy").check(&|x| {
            plain.init(device).forward(sigmoid(rows(&x[0])), labels([n, classes], 2, &x[0]))
        });
    }

    #[test]
    fn of_two_tensors(n in 1usize..5, d in 2usize..5, seed in 0u32..1000) {
        let case = |name| Case::new(name, seed).input([1, 1, n, d], -1.0, 1.1).input([1, 1, n, d], -0.9, 1.4);
        case("mse").check(&|x| MseLoss::new().forward(rows(&x[0]), rows(&x[1]), Reduction::Mean));
        let huber = HuberLossConfig::new(0.53).init();
        case("huber").check(&|x| huber.forward(rows(&x[0]), rows(&x[1]), Reduction::Mean));
        let smooth = SmoothL1LossConfig::new().init();
        case("smooth l1").check(&|x| smooth.forward_with_reduction(rows(&x[0]), rows(&x[1]), Reduction::Sum));
        let kl = KLDivLossConfig::new().init();
        case("kl").check(&|x| {
            kl.forward(log_softmax(rows(&x[0]), 1), softmax(rows(&x[1]), 1), Reduction::BatchMean)
        });
        let kl = KLDivLossConfig::new().with_log_target(true).init();
        case("kl of logs").check(&|x| {
            kl.forward(log_softmax(rows(&x[0]), 1), log_softmax(rows(&x[1]), 1), Reduction::BatchMean)
        });
        let cosine = CosineEmbeddingLossConfig::new().init();
        case("cosine embedding").check(&|x| {
            let same = labels([n], 2, &x[0]) * 2 - 1;
            cosine.forward(rows(&x[0]), rows(&x[1]), same)
        });
    }
}
