//! AdFL: the images that the server makes stay in the range of the data's pixels.

use fedround::ir::fed::Kind;

use super::adfl::adfl;
use super::*;

/// The images that the server makes, one row a client.
fn images(algorithm: &Adfl) -> Vec<Vec<f32>> {
    let mut simulation = simulation(algorithm, "logistic", of_sizes(&[20, 50, 30]));
    let mut images = vec![];
    let round = simulation.run_round_observed(|seen| {
        if !seen.sent && seen.kind == Kind::Tensor {
            images.push(seen.tensors[0].values.clone());
        }
    });
    round.unwrap();
    images
}

#[test]
fn noise_and_steps_are_between_black_and_white() {
    let scaled = Adfl {
        start: AdflStart::Noise,
        black: -2.0,
        white: 2.0,
        ..adfl(base())
    };
    // Steps of size 0 leave the images that all models begin with.
    let still = |black, white| {
        images(&Adfl {
            epsilon: 0.0,
            black,
            white,
            ..scaled.clone()
        })
    };
    let (unit, wide) = (still(0.0, 1.0), still(-2.0, 2.0));
    assert_eq!(wide.len(), 3);
    for (unit, own) in unit.iter().zip(&wide) {
        let expected: Vec<f32> = unit.iter().map(|x| 4.0 * x - 2.0).collect();
        assert_close(own, &expected, 1e-6);
        assert!(own.iter().any(|x| *x < -1.9) && own.iter().any(|x| *x > 1.9));
        // The images of a class begin alike, and each class begins as noise of its own.
        assert_eq!(bits(own), bits(&wide[0]));
        assert!(farthest(&own[..784], &own[784..2 * 784]) > 1.0);
    }
    let (moved, limits) = (images(&scaled).concat(), -2.0..=2.0);
    assert!(moved.iter().all(|x| limits.contains(x)));
    assert!(farthest(&moved, &wide.concat()) > 0.5);
}
