//! An algorithm and a model of one's own, whose graphs `tests/graphs.rs` keeps under snapshots.

use fedround::algorithms::FedAvg;
use fedround::burn;
use fedround::burn::module::Module;
use fedround::burn::nn::{Linear, LinearConfig};
use fedround::burn::tensor::{Device, Tensor};
use fedround::models::{Classifier, ForwardCx, Model, Task};
use fedround::prelude::*;

/// Weight decay, added to any algorithm's loss.
#[derive(Hyper, Debug, Clone)]
pub struct Decay<A = FedAvg> {
    /// The algorithm that is regularised.
    pub base: A,
    /// Weight of the term.
    #[hyper(default = 0.001, range = 0.0..)]
    pub weight: f32,
}

#[federated(base = base)]
impl<A: Algorithm> Algorithm for Decay<A> {
    fn regularizer(&self, k: &ClientCx, w: &Params) -> Scalar {
        self.base.regularizer(k, w) + 0.5 * self.weight * w.sq_norm()
    }
}

/// A linear model without a bias.
#[derive(Module, Debug)]
pub struct Tiny {
    /// `[input, classes]`.
    pub head: Linear,
}

impl Classifier for Tiny {
    fn features(&self, x: Tensor<4>, _: &ForwardCx) -> Tensor<2> {
        x.flatten(1, 3)
    }

    fn head(&self, h: Tensor<2>, _: &ForwardCx) -> Tensor<2> {
        self.head.forward(h)
    }
}

/// Makes [`Tiny`], as `Cli::model` and `ModelSource::own_boxed` take it.
pub fn tiny(task: Task, device: &Device) -> Box<dyn Model> {
    let inputs = task.input.iter().product();
    let config = LinearConfig::new(inputs, task.classes).with_bias(false);
    Box::new(Tiny {
        head: config.init(device),
    })
}
