//! The list of the auxiliary networks.

use super::{
    Auxiliary, AuxiliaryError, Base, Disentangler, ImageDecoder, MutualInformation, Variant,
};
use crate::layers::Mlp;
use crate::{Discriminator, Model, ResNetConfig, ResNetGenerator, VaeConfig, identifier};

/// All auxiliary networks.
pub const AUXILIARIES: [Auxiliary; 13] = [
    Auxiliary {
        name: "discriminator",
        doc: "which client is a representation from?",
        paper: "ADCOL, 4.2, Tables 9 and 19",
        functions: &[("discriminate", "discriminate")],
        variants: &[
            Variant {
                name: "mlp",
                doc: "represent, 512, 512, clients",
                make: |base| {
                    let (d, clients) = (base.representation()?, base.task.clients);
                    Ok(Box::new(Discriminator::mlp(d, clients, base.device)))
                },
            },
            Variant {
                name: "linear",
                doc: "mlp without ReLUs",
                make: |base| {
                    let (d, clients) = (base.representation()?, base.task.clients);
                    Ok(Box::new(Discriminator::linear(d, clients, base.device)))
                },
            },
            Variant {
                name: "resnet",
                doc: "ResNet-50 of the representation as square images",
                make: resnet_discriminator,
            },
        ],
    },
    Auxiliary {
        name: "identifier",
        doc: "is a representation from this client?",
        paper: "FedAA, Eq. (6) and 4.1",
        functions: &[("identify", "discriminate")],
        variants: &[Variant {
            name: "mlp",
            doc: "features, 512, 512, 1 logit",
            make: |base| Ok(Box::new(identifier(base.features()?, base.device))),
        }],
    },
    Auxiliary {
        name: "generator",
        doc: "q(x): images again, and the code that they went through",
        paper: "FedFed, 4.1",
        functions: &[("generate", "reconstruct"), ("code", "encode")],
        variants: &[
            Variant {
                name: "vae",
                doc: "BetaVae, with noise on its codes of 2048 in training",
                make: vae,
            },
            Variant {
                name: "resnet",
                doc: "conv3x3x32, 4 residual blocks, conv3x3; no code",
                make: |base| {
                    let [c, ..] = base.task.task.input;
                    Ok(Box::new(ResNetGenerator::new(c, 32, 4, base.device)))
                },
            },
        ],
    },
    Auxiliary {
        name: "judge",
        doc: "a second classifier like the model",
        paper: "FedFed, 4.1",
        functions: &[("judge", "forward")],
        variants: &[Variant {
            name: "copy",
            doc: "the model's layers, with parameters of its own",
            make: |base| Ok(base.model.to_device(base.device)),
        }],
    },
    Auxiliary {
        name: "auxiliary",
        doc: "a_k: classes of a local task",
        paper: "LG-FedAvg, Eq. (1)",
        functions: &[("auxiliary", "discriminate")],
        variants: &[Variant {
            name: "linear",
            doc: "features, classes",
            make: |base| mlp(base, &[base.features()?, base.task.task.classes]),
        }],
    },
    Auxiliary {
        name: "decoder",
        doc: "images of representations, for a local autoencoder",
        paper: "LG-FedAvg, self-supervised; its shape is ours",
        functions: &[("decode", "decode")],
        variants: &[Variant {
            name: "mlp",
            doc: "features, 512, pixels",
            make: |base| {
                let (d, image) = (base.features()?, base.task.task.input);
                Ok(Box::new(ImageDecoder::new(d, image, base.device)))
            },
        }],
    },
    Auxiliary {
        name: "arranger",
        doc: "in which of 24 orders are an image's quadrants?",
        paper: "LG-FedAvg, self-supervised; its shape is ours",
        functions: &[("arrange", "discriminate")],
        variants: &[Variant {
            name: "mlp",
            doc: "features, 512, 24",
            make: |base| mlp(base, &[base.features()?, 512, 24]),
        }],
    },
    Auxiliary {
        name: "adversary",
        doc: "two protected attributes of a representation",
        paper: "LG-FedAvg, 3.4 and Table 8",
        functions: &[("expose", "discriminate")],
        variants: &[Variant {
            name: "mlp",
            doc: "features, 32, 32, 32, 2 logits, dropout 0.2",
            make: |base| {
                let mlp = Mlp::new(&[base.features()?, 32, 32, 32, 2], base.device);
                Ok(Box::new(mlp.with_dropout(0.2)))
            },
        }],
    },
    Auxiliary {
        name: "disentangler",
        doc: "the invariant and the specific half of a representation",
        paper: "FADA; its widths are ours",
        functions: &[("disentangle", "disentangle")],
        variants: &[Variant {
            name: "mlp",
            doc: "represent of d; d, d for each half, with ReLUs",
            make: |base| {
                let d = base.representation()?;
                Ok(Box::new(Disentangler::new(d, base.device)))
            },
        }],
    },
    Auxiliary {
        name: "specific",
        doc: "classes of the specific half",
        paper: "Peng et al. 2020 (FADA)",
        functions: &[("classify_specific", "discriminate")],
        variants: &[Variant {
            name: "linear",
            doc: "represent, classes",
            make: |base| mlp(base, &[base.representation()?, base.task.task.classes]),
        }],
    },
    Auxiliary {
        name: "domain",
        doc: "is a representation of the source or of the target?",
        paper: "FADA; its width is ours",
        functions: &[("tell_domain", "discriminate")],
        variants: &[Variant {
            name: "mlp",
            doc: "represent, 256, 1 logit",
            make: |base| mlp(base, &[base.representation()?, 256, 1]),
        }],
    },
    Auxiliary {
        name: "mutual",
        doc: "T(a, b): how much two halves tell of each other",
        paper: "FADA; Belghazi et al. 2018 (MINE)",
        functions: &[("mutual", "compare")],
        variants: &[Variant {
            name: "mlp",
            doc: "represent twice, 512, 1",
            make: |base| {
                let d = base.representation()?;
                Ok(Box::new(MutualInformation::new(d, base.device)))
            },
        }],
    },
    Auxiliary {
        name: "rebuilder",
        doc: "a representation from both of its halves",
        paper: "Peng et al. 2020 (FADA)",
        functions: &[("rebuild", "discriminate")],
        variants: &[Variant {
            name: "linear",
            doc: "represent twice, represent",
            make: |base| {
                let d = base.representation()?;
                mlp(base, &[2 * d, d])
            },
        }],
    },
];

type Made = Result<Box<dyn Model>, AuxiliaryError>;

fn mlp(base: &Base<'_>, sizes: &[usize]) -> Made {
    Ok(Box::new(Mlp::new(sizes, base.device)))
}

fn vae(base: &Base<'_>) -> Made {
    let [_, h, w] = base.task.task.input;
    if !h.is_multiple_of(4) || !w.is_multiple_of(4) {
        return Err(AuxiliaryError::Fit {
            network: "generator",
            variant: "vae",
            expected: "images whose sides are multiples of 4",
            found: format!("{h}x{w}"),
        });
    }
    let config = VaeConfig::new(base.task.task.input);
    Ok(Box::new(config.init(base.device)))
}

/// Over the largest square images that the representation fills: 2048 numbers are 2 channels of
/// 32x32.
fn resnet_discriminator(base: &Base<'_>) -> Made {
    let d = base.representation()?;
    // Three halvings are in it.
    let channels = (1..=d / 64).find(|c| d.is_multiple_of(*c) && (d / c).isqrt().pow(2) == d / c);
    let channels = channels.ok_or_else(|| AuxiliaryError::Fit {
        network: "discriminator",
        variant: "resnet",
        expected: "representations that are square images of at least 8x8",
        found: format!("{d} numbers"),
    })?;
    let (config, clients) = (ResNetConfig::resnet50(), base.task.clients);
    let network = Discriminator::resnet(config, d, channels, clients, base.device);
    Ok(Box::new(network))
}
