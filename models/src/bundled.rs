//! The list of bundled models.

use burn::tensor::Device;

use crate::registry::Make;
use crate::{
    AdultMlp, CaptionConfig, CharLstm, DigitsConfig, FedAaConfig, Gpt, LeNet5, LgLeNet5, LgMlp,
    Logistic, McMahanCnn, Model, ModelError, ModelInfo, Moon, NormKind, PflCnn, ResNetConfig,
    SimSiam, Stem, Task, TwoNn, VqaConfig,
};

/// All bundled models.
pub const MODELS: [ModelInfo; 24] = [
    ModelInfo {
        name: "logistic",
        doc: "multinomial logistic regression",
        paper: "-",
        min_side: 1,
        make: Make::Inputs(|task, device| Box::new(Logistic::new(task, device))),
    },
    ModelInfo {
        name: "2nn",
        doc: "two hidden layers of 200 units",
        paper: "McMahan et al. 2017",
        min_side: 1,
        make: Make::Inputs(|task, device| Box::new(TwoNn::new(task, device))),
    },
    ModelInfo {
        name: "cnn",
        doc: "conv5x5x32, pool, conv5x5x64, pool, 512",
        paper: "McMahan et al. 2017",
        min_side: 16,
        make: Make::Inputs(|task, device| Box::new(McMahanCnn::new(task, device))),
    },
    ModelInfo {
        name: "lenet5",
        doc: "conv5x5x6, pool, conv5x5x16, pool, 120, 84",
        paper: "LeCun et al. 1998, with ReLU and max pools",
        min_side: 16,
        make: Make::Inputs(|task, device| Box::new(LeNet5::new(task, device))),
    },
    ModelInfo {
        name: "pfl-cnn",
        doc: "conv3x3x32, conv3x3x64, pool, 128",
        paper: "Granqvist et al. 2024 (pfl-research), without dropout",
        min_side: 6,
        make: Make::Inputs(|task, device| Box::new(PflCnn::new(task, device))),
    },
    ModelInfo {
        name: "resnet18",
        doc: "ResNet-18 for small images, with batch normalisation",
        paper: "He et al. 2016",
        min_side: 8,
        make: Make::Inputs(|task, device| Box::new(ResNetConfig::resnet18().init(task, device))),
    },
    ModelInfo {
        name: "resnet18-gn",
        doc: "ResNet-18 for small images, with group normalisation (2 groups)",
        paper: "Reddi et al. 2021",
        min_side: 8,
        make: Make::Inputs(|task, device| {
            let config = ResNetConfig {
                norm: NormKind::Group(2),
                ..ResNetConfig::resnet18()
            };
            Box::new(config.init(task, device))
        }),
    },
    ModelInfo {
        name: "resnet50",
        doc: "ResNet-50 for small images, with batch normalisation",
        paper: "He et al. 2016",
        min_side: 8,
        make: Make::Inputs(|task, device| Box::new(ResNetConfig::resnet50().init(task, device))),
    },
    ModelInfo {
        name: "lg-mlp",
        doc: "512, 256 (features), 256, 128 (head)",
        paper: "Liang et al. 2020 (LG-FedAvg, MNIST)",
        min_side: 1,
        make: Make::Inputs(|task, device| Box::new(LgMlp::new(task, device))),
    },
    ModelInfo {
        name: "lg-lenet5",
        doc: "conv5x5x6, pool, conv5x5x16, pool (features), 120, 100 (head)",
        paper: "Liang et al. 2020 (LG-FedAvg, CIFAR-10)",
        min_side: 16,
        make: Make::Inputs(|task, device| Box::new(LgLeNet5::new(task, device))),
    },
    ModelInfo {
        name: "lg-adult",
        doc: "32, 32, 32 (features), 32, 32 (head), dropout 0.2",
        paper: "Liang et al. 2020 (LG-FedAvg, Adult)",
        min_side: 1,
        make: Make::Inputs(|task, device| Box::new(AdultMlp::new(task, device))),
    },
    ModelInfo {
        name: "fedaa-cnn",
        doc: "conv5x5x64, pool, conv5x5x256, pool, 512, 256",
        paper: "FedAA",
        min_side: 16,
        make: Make::Inputs(|task, device| Box::new(FedAaConfig::default().init(task, device))),
    },
    ModelInfo {
        name: "fedaa-cnn-bn",
        doc: "fedaa-cnn with batch normalisation after each convolution",
        paper: "FedAA",
        min_side: 16,
        make: Make::Inputs(|task, device| {
            let config = FedAaConfig {
                norm: Some(NormKind::Batch),
                ..FedAaConfig::default()
            };
            Box::new(config.init(task, device))
        }),
    },
    ModelInfo {
        name: "digits-cnn",
        doc: "three conv5x5, 2048, 512, each with batch normalisation",
        paper: "Li et al. 2021 (FedBN)",
        min_side: 4,
        make: Make::Inputs(|task, device| Box::new(DigitsConfig::default().init(task, device))),
    },
    ModelInfo {
        name: "moon-lenet5",
        doc: "lenet5 with a projection of 256",
        paper: "Li et al. 2021 (MOON, CIFAR-10)",
        min_side: 16,
        make: Make::Inputs(|task, device| {
            let encoder = LeNet5::new(task, device).features;
            Box::new(Moon::new(encoder, 84, 256, task, device))
        }),
    },
    ModelInfo {
        name: "moon-resnet50",
        doc: "resnet50 with a projection of 256",
        paper: "Li et al. 2021 (MOON, CIFAR-100)",
        min_side: 8,
        make: Make::Inputs(|task, device| {
            let config = ResNetConfig::resnet50();
            let encoder = config.encoder(task.input[0], device);
            Box::new(Moon::new(encoder, config.features(), 256, task, device))
        }),
    },
    ModelInfo {
        name: "adcol-resnet50",
        doc: "ResNet-50 with the ImageNet stem, a projector of 2048 and a predictor of 512",
        paper: "ADCOL",
        min_side: 8,
        make: Make::Inputs(|task, device| {
            let config = ResNetConfig {
                stem: Stem::ImageNet,
                ..ResNetConfig::resnet50()
            };
            let encoder = config.encoder(task.input[0], device);
            Box::new(SimSiam::new(encoder, config.features(), 512, task, device))
        }),
    },
    ModelInfo {
        name: "adcol-digits",
        doc: "digits-cnn of 16, 16 and 32 channels and 128 units, a projector of 128 and a predictor of 32",
        paper: "ADCOL, smaller",
        min_side: 4,
        make: Make::Inputs(|task, device| {
            let config = DigitsConfig {
                channels: [16, 16, 32],
                units: [128, 128],
                ..DigitsConfig::default()
            };
            let encoder = config.init(task, device).features;
            Box::new(SimSiam::new(encoder, 128, 32, task, device))
        }),
    },
    ModelInfo {
        name: "captioner",
        doc: "ResNet-50, an LSTM of 512 with soft attention; 3x128x128 in the paper",
        paper: "FedAA; Xu et al. 2015",
        min_side: 32,
        make: Make::Words(|task, words, device| {
            Box::new(CaptionConfig::new(words).of(task).init(device))
        }),
    },
    ModelInfo {
        name: "captioner-small",
        doc: "the same of a residual network of 128 features and an LSTM of 128",
        paper: "-",
        min_side: 32,
        make: Make::Words(|task, words, device| {
            Box::new(CaptionConfig::small(words).of(task).init(device))
        }),
    },
    ModelInfo {
        name: "char-lstm",
        doc: "vectors of 8, an LSTM of two layers of 256: the next character of a text",
        paper: "McMahan et al. 2017 (Shakespeare)",
        min_side: 1,
        make: Make::Inputs(|task, device| Box::new(CharLstm::new(task, device))),
    },
    ModelInfo {
        name: "gpt",
        doc: "gpt:LAYERSxWIDTH, a decoder-only transformer (2x64 if not given): the next character of a text",
        paper: "Radford et al. 2019 (GPT-2), smaller",
        min_side: 1,
        make: Make::Sized(|task, size, device| Box::new(Gpt::new(task, size, device))),
    },
    ModelInfo {
        name: "vqa",
        doc: "ResNet-18 times an LSTM of two layers of 512, answers, answers; 3x224x224 in the paper",
        paper: "Liang et al. 2020 (LG-FedAvg, VQA)",
        min_side: 32,
        make: Make::Words(|task, words, device| {
            Box::new(VqaConfig::new(words).of(task).init(device))
        }),
    },
    ModelInfo {
        name: "vqa-small",
        doc: "the same of a residual network of 128 features and an LSTM of two layers of 64",
        paper: "-",
        min_side: 32,
        make: Make::Words(|task, words, device| {
            Box::new(VqaConfig::small(words).of(task).init(device))
        }),
    },
];

/// The bundled model of a name, which may have a size: `gpt:2x64`.
///
/// # Errors
///
/// No model has that name, or the model has no such size.
pub fn find(name: &str) -> Result<&'static ModelInfo, ModelError> {
    let base = name.split_once(':').map_or(name, |(base, _)| base);
    let found = const { &MODELS }.iter().find(|m| m.name == base);
    let found = found.ok_or_else(|| ModelError::Unknown {
        name: name.to_owned(),
        nearest: fedround_names::nearest(base, MODELS.map(|m| m.name)),
        known: MODELS.map(|m| m.name).join(", "),
    })?;
    found.size(name)?;
    Ok(found)
}

/// Builds the bundled model of a name, which may have a size. `words` is the size of the data's vocabulary, if
/// it has one.
///
/// # Errors
///
/// As [`find`] and [`ModelInfo::build_with`].
pub fn build(
    name: &str,
    task: Task,
    words: Option<usize>,
    device: &Device,
) -> Result<Box<dyn Model>, ModelError> {
    let info = find(name)?;
    match (&info.make, info.size(name)?) {
        (Make::Sized(make), Some(size)) => Ok(make(task, size, device)),
        _ => info.build_with(task, words, device),
    }
}
