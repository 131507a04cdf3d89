//! Snapshots of [`Decay`] at every stage of its compilation.

use fedround::ModelSource;
use fedround::algorithms::FedAvg;
use fedround::models::Task;
use fedround::testing::{Stage, View, assert_graph_snapshot};
use graph_snapshots::{Decay, tiny};

fn decay() -> Decay {
    Decay {
        base: FedAvg::default(),
        weight: 0.1,
    }
}

#[test]
fn staged() {
    assert_graph_snapshot!(decay(), Stage::Fed);
}

#[test]
fn linked() {
    assert_graph_snapshot!(decay(), Stage::Linked);
}

#[test]
fn algorithm_box() {
    assert_graph_snapshot!(decay(), Stage::Box);
}

#[test]
fn wire() {
    assert_graph_snapshot!(decay(), Stage::Wire);
}

/// The local step of a bundled model, for another batch size than the spec's.
#[test]
fn step_of_logistic_regression() {
    assert_graph_snapshot!(decay(), View::of(Stage::Tensor).model("logistic").batch(7));
}

/// The plan and the costs of one's own model, on inputs of one's own shape.
#[test]
fn plan_and_costs_of_an_own_model() {
    let task = Task {
        input: [1, 2, 3],
        classes: 4,
    };
    let tiny = ModelSource::own_boxed("tiny", tiny);
    let view = |stage| View::of(stage).model(tiny.clone()).task(task);
    assert_graph_snapshot!("tiny_plan", decay(), view(Stage::Plan));
    assert_graph_snapshot!("tiny_costs", decay(), view(Stage::Costs));
}
