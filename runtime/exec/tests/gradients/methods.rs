//! Gradients of the losses of federated methods, by the equations of their papers.

use burn::tensor::activation::{log_sigmoid, log_softmax, relu, softmax};
use burn::tensor::linalg::cosine_similarity;
use burn::tensor::{Int, Tensor, TensorData};
use fedround_models::{cross_entropy, stop_gradient};
use proptest::prelude::*;

use crate::gradients::case::{Case, few_cases};

fn labels(n: usize, classes: usize, like: &Tensor<4>) -> Tensor<1, Int> {
    let values: Vec<i32> = (0..n).map(|i| ((5 * i + 2) % 7 % classes) as i32).collect();
    Tensor::from_data(TensorData::new(values, [n]), &like.device())
}

fn matrix(t: &Tensor<4>) -> Tensor<2> {
    let [_, _, n, d] = t.dims();
    t.clone().reshape([n, d])
}

proptest! {
    #![proptest_config(few_cases())]

    /// ADCOL, Eq. 2: `CE(F(x), y) + μ KL(u ‖ D(G(x)))`, with the discriminator's own
    /// representation `G`, a linear `D` and a linear predictor.
    #[test]
    fn adcol(n in 1usize..4, d in 2usize..5, parties in 2usize..5, seed in 0u32..1000) {
        let case = Case::new("adcol", seed)
            .input([1, 1, n, d], -1.0, 1.1).input([1, 1, d, 3], -1.0, 1.1).input([1, 1, d, parties], -1.0, 1.1);
        case.check(&|x| {
            let g = relu(matrix(&x[0]).add_scalar(2.0));
            let ce = cross_entropy(g.clone().matmul(matrix(&x[1])), labels(n, 3, &x[0]));
            let log_p = log_softmax(g.matmul(matrix(&x[2])), 1);
            let kl = log_p.mean_dim(1).neg().sub_scalar((parties as f64).ln()).mean();
            ce + kl.mul_scalar(0.7)
        });
    }

    /// MOON, Eq. 3: a contrast of the representation with the received and the previous model's,
    /// which are constants.
    #[test]
    fn moon(n in 1usize..4, d in 2usize..5, seed in 0u32..1000) {
        let case = Case::new("moon", seed)
            .input([1, 1, n, d], -1.0, 1.1).input([1, 1, n, d], -0.9, 1.4).input([1, 1, n, d], -1.2, 1.3);
        case.check_first_order(&|x| {
            let z = matrix(&x[0]);
            let near = cosine_similarity(z.clone(), stop_gradient(matrix(&x[1])), 1, None);
            let far = cosine_similarity(z, stop_gradient(matrix(&x[2])), 1, None);
            let logits = Tensor::cat(vec![near, far], 1).div_scalar(0.5);
            log_softmax(logits, 1).slice([0..n, 0..1]).mean().neg()
        });
    }

    /// FedAA, Eqs. 6 and 7: the identifier's loss and the extractor's, on its logits.
    #[test]
    fn fedaa(n in 1usize..5, m in 1usize..5, seed in 0u32..1000) {
        let case = Case::new("fedaa", seed).input([1, 1, 1, n], -3.0, 3.1).input([1, 1, 1, m], -3.0, 3.1);
        case.check(&|x| (log_sigmoid(x[0].clone()).mean() + log_sigmoid(x[1].clone().neg()).mean()).neg());
    }

    /// FedAA, Eq. 4: inversion by L-BFGS takes gradients with respect to the input, and inner
    /// products of them.
    #[test]
    fn inversion(n in 1usize..3, seed in 0u32..1000) {
        let case = Case::new("inversion", seed).input([1, 1, n, 4], -1.0, 1.1).input([1, 1, 4, 3], -1.0, 1.1);
        case.check(&|x| {
            let ce = cross_entropy(matrix(&x[0]).matmul(matrix(&x[1])), labels(n, 3, &x[0]));
            ce + (x[0].clone() * x[0].clone()).sum().mul_scalar(0.01)
        });
    }

    /// FedFed, Eqs. 9 and 9': the residual `x − q` clipped per sample to the norm ρ, and the
    /// reconstruction and KL terms of its variational autoencoder.
    #[test]
    fn fedfed(n in 1usize..4, d in 2usize..5, seed in 0u32..1000) {
        let case = Case::new("fedfed", seed)
            .input([1, 1, n, d], 0.1, 1.2).input([1, 1, n, d], -1.0, 1.1).input([1, 1, d, 3], -1.0, 1.1);
        case.check(&|x| {
            let (q, logvar) = (matrix(&x[1]).tanh(), matrix(&x[1]));
            let residual = matrix(&x[0]) - q.clone();
            let norm = residual.clone().square().sum_dim(1).sqrt();
            let clipped = residual * norm.recip().mul_scalar(0.71).clamp_max(1.0);
            let ce = cross_entropy(clipped.matmul(matrix(&x[2])), labels(n, 3, &x[0]));
            let mse = (q.clone() - matrix(&x[0])).square().mean();
            let kl = (logvar.clone().add_scalar(1.0) - q.square() - logvar.exp()).sum().mul_scalar(-0.5);
            ce.mul_scalar(2.0) + mse.mul_scalar(5.0) + kl.mul_scalar(0.005)
        });
    }

    /// Distillation: soft targets at a temperature, held constant.
    #[test]
    fn distillation(n in 1usize..4, d in 2usize..5, seed in 0u32..1000) {
        let case = Case::new("distillation", seed).input([1, 1, n, d], -2.0, 2.1).input([1, 1, n, d], -2.0, 2.3);
        case.check_first_order(&|x| {
            let teacher = stop_gradient(softmax(matrix(&x[1]).div_scalar(2.0), 1));
            let student = log_softmax(matrix(&x[0]).div_scalar(2.0), 1);
            (teacher * student).sum_dim(1).mean().neg().mul_scalar(4.0)
        });
    }

    /// LG-FedAvg, Eqs. 4 to 8: the task's loss less the adversary's, on one representation.
    #[test]
    fn lg_fedavg(n in 1usize..4, d in 2usize..5, seed in 0u32..1000) {
        let case = Case::new("lg-fedavg", seed)
            .input([1, 1, n, d], -1.0, 1.1).input([1, 1, d, 3], -1.0, 1.1).input([1, 1, d, 2], -1.0, 1.1);
        case.check(&|x| {
            let h = matrix(&x[0]).tanh();
            let task = cross_entropy(h.clone().matmul(matrix(&x[1])), labels(n, 3, &x[0]));
            task - cross_entropy(h.matmul(matrix(&x[2])), labels(n, 2, &x[0]))
        });
    }

    /// PartialFed: a hard choice whose gradient is the soft one's, straight through.
    #[test]
    fn partial_fed(n in 1usize..4, d in 2usize..5, seed in 0u32..1000) {
        let case = Case::new("partialfed", seed).input([1, 1, n, 2], -1.0, 1.1).input([1, 1, n, d], -1.0, 1.1);
        case.check_first_order(&|x| {
            let soft = softmax(matrix(&x[0]).div_scalar(0.5), 1);
            let hard = soft.clone().greater_scalar(0.5).float();
            let choice = stop_gradient(hard - soft.clone()) + soft;
            (choice.slice([0..n, 0..1]) * matrix(&x[1]).exp()).sum()
        });
    }
}
