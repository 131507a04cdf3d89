//! Every function of every bundled model, in training and in inference, on small shapes.

mod check;
mod classifiers;
mod generators;
mod language;
mod representations;

use fedround_models::{BlockKind, NormKind, ResNetConfig, Stem, Task};

const TINY: Task = Task {
    input: [1, 16, 16],
    classes: 3,
};

/// A residual network of one block in each stage.
fn shallow(block: BlockKind, stem: Stem, norm: NormKind) -> ResNetConfig {
    ResNetConfig {
        stem,
        block,
        depths: [1, 1, 1, 1],
        width: 2,
        norm,
    }
}
