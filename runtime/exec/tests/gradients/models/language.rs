//! Gradients of the models of captions and questions.

use fedround_models::layers::{Lstm, LstmState};
use fedround_models::{BlockKind, CaptionConfig, NormKind, Stem, VqaConfig};

use super::check::check;
use super::shallow;
use crate::gradients::case::{device, weigh};

#[test]
fn lstm() {
    check("lstm", &Lstm::new(3, 2, &device()), |m, at| {
        let start = LstmState {
            hidden: at.floats([2, 2]),
            cell: at.floats([2, 2]),
        };
        let (outputs, last) = m.forward(at.floats([2, 4, 3]), start);
        weigh(outputs) + weigh(last.cell)
    });
}

#[test]
fn captions() {
    let config = CaptionConfig {
        encoder: shallow(BlockKind::Basic, Stem::Small, NormKind::Batch),
        embedding: 3,
        attention: 4,
        units: 3,
        dropout: 0.0,
        ..CaptionConfig::new(5)
    };
    let model = config.init(&device());
    check("captions", &model, |m, at| {
        weigh(m.forward(at.floats([4, 3, 16, 16]), at.words([4, 3], 5), &at.cx))
    });
    check("features", &model, |m, at| {
        weigh(m.features(at.floats([4, 3, 16, 16]), &at.cx))
    });
    check("step", &model.head, |m, at| {
        let places = at.floats([2, 4, 16]);
        let step = m.step(places.clone(), at.words([2], 5), m.start(places), &at.cx);
        weigh(step.logits) + weigh(step.attention) + weigh(step.state.cell)
    });
}

#[test]
fn questions() {
    let config = VqaConfig {
        image: shallow(BlockKind::Basic, Stem::Small, NormKind::Batch),
        input: [1, 8, 8],
        image_classes: 3,
        embedding: 3,
        units: 2,
        joint: 4,
        answers: 3,
        dropout: 0.0,
        ..VqaConfig::new(5)
    };
    let model = config.init(&device());
    check("vqa", &model, |m, at| {
        weigh(m.forward(at.floats([5, 1, 8, 8]), at.words([5, 3], 5), &at.cx))
    });
    check("encode_question", &model, |m, at| {
        weigh(m.encode_question(at.words([2, 3], 5), &at.cx))
    });
}
