//! The promises that the algorithm's documentation makes, as tests.

use fedround::algorithms::FedAvg;
use fedround::testing::{Stage, assert_graph_snapshot, assert_trains_alike, train};

use crate::lookahead::Lookahead;

fn lookahead(alpha: f32) -> Lookahead {
    Lookahead {
        base: FedAvg::default(),
        alpha,
    }
}

#[test]
fn graph_is_as_reviewed() {
    assert_graph_snapshot!(lookahead(0.5), Stage::Linked);
}

#[test]
fn a_whole_step_is_the_base() {
    assert_trains_alike!(lookahead(1.0), FedAvg::default());
}

#[test]
fn no_step_stays_where_it_is() {
    let (still, start) = (train(lookahead(0.0), 3), train(FedAvg::default(), 0));
    let (still, start) = (still.unwrap().weights, start.unwrap().weights);
    assert!(still == start, "with α = 0 the weights move");
}

#[test]
fn half_a_step_is_half_way() {
    let start = train(FedAvg::default(), 0).unwrap().weights;
    let theta = train(FedAvg::default(), 1).unwrap().weights;
    let phi = train(lookahead(0.5), 1).unwrap().weights;
    for ((phi, start), theta) in phi.iter().zip(start).zip(theta) {
        assert!((phi - (start + theta) / 2.0).abs() < 1e-6);
    }
}

#[test]
fn the_loss_falls() {
    let losses = train(lookahead(0.5), 20).unwrap().losses;
    assert!(losses[19] < 0.9 * losses[0], "{losses:?}");
}
