//! Discriminators of representations: which party does one come from? ADCOL, section 4.2, Appendix
//! B.6 and Table 19.

use burn::module::Module;
use burn::tensor::{Device, Tensor};

use crate::layers::Mlp;
use crate::{Classifier, ForwardCx, Function, Network, ResNet, ResNetConfig, Task};

/// From representations to the logits of the parties.
#[derive(Module, Debug)]
#[allow(clippy::large_enum_variant, reason = "there are few of them")]
pub enum Discriminator {
    /// Fully connected layers.
    Mlp(Mlp),
    /// A residual network.
    ResNet(PlaneResNet),
}

/// A residual network over representations that are laid out as square images.
#[derive(Module, Debug)]
pub struct PlaneResNet {
    /// Its logits are of the parties.
    pub resnet: ResNet,
    plane: [usize; 3],
}

impl Discriminator {
    /// The paper's: three layers with 512 hidden units and ReLUs; 1,314,309 parameters for
    /// representations of size 2048 and 5 parties.
    pub fn mlp(features: usize, parties: usize, device: &Device) -> Self {
        Self::Mlp(Mlp::new(&[features, 512, 512, parties], device))
    }

    /// [`mlp`](Self::mlp) without ReLUs (Table 19).
    pub fn linear(features: usize, parties: usize, device: &Device) -> Self {
        Self::Mlp(Mlp::new(&[features, 512, 512, parties], device).without_relu())
    }

    /// A residual network (Table 9: ResNet-50) over representations as `channels` square images.
    ///
    /// Departs: the paper does not say how a representation becomes an image. 2048 features are 2
    /// channels of 32x32 pixels here.
    ///
    /// # Panics
    ///
    /// Representations of `features` numbers are not `channels` square images.
    pub fn resnet(
        config: ResNetConfig,
        features: usize,
        channels: usize,
        parties: usize,
        device: &Device,
    ) -> Self {
        let side = (features / channels.max(1)).isqrt();
        let plane = [channels, side, side];
        assert!(
            channels * side * side == features,
            "discriminator: expected representations of {channels} square images, found {features} features"
        );
        let task = Task {
            input: plane,
            classes: parties,
        };
        Self::ResNet(PlaneResNet {
            resnet: config.init(task, device),
            plane,
        })
    }

    /// Logits of the parties.
    ///
    /// # Shapes
    ///
    /// - `h`: `[batch, features]`
    /// - output: `[batch, parties]`
    pub fn discriminate(&self, h: Tensor<2>, cx: &ForwardCx) -> Tensor<2> {
        match self {
            Self::Mlp(mlp) => mlp.forward(h, cx),
            Self::ResNet(PlaneResNet { resnet, plane }) => {
                let [batch, _] = h.dims();
                let [c, height, width] = *plane;
                resnet.forward(h.reshape([batch, c, height, width]), cx)
            }
        }
    }
}

impl Network for Discriminator {
    fn functions() -> Vec<Function<Self>> {
        vec![Function::new("discriminate", Self::discriminate)]
    }
}

/// One of its own, such as FedAA's [`identifier`](crate::identifier).
impl Network for Mlp {
    fn functions() -> Vec<Function<Self>> {
        vec![Function::new("discriminate", Self::forward::<2>)]
    }
}
