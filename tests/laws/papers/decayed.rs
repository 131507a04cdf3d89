//! Steps that become shorter with the rounds.

use fedround::algorithms::Decayed;

use super::*;

fn deal() -> Deal {
    of_sizes(&[40, 10, 25])
}

#[test]
fn without_decay_it_is_the_base() {
    let decayed = Decayed {
        base: base(),
        decay: 0.0,
    };
    let [a, b] = [
        trained(&decayed, "logistic", deal(), 3),
        trained(&base(), "logistic", deal(), 3),
    ];
    assert_eq!(bits(&a), bits(&b));
}

#[test]
fn a_step_is_shorter_by_the_round() {
    let decayed = Decayed {
        base: full_batch(),
        decay: 0.5,
    };
    let mut simulation = simulation(&decayed, "logistic", deal());
    for t in 0..4 {
        // One step of the base from the same parameters.
        let mut plain = super::simulation(&full_batch(), "logistic", deal());
        assert!(plain.set_parameters(leaves(&simulation)));
        let start = weights(&plain);
        run(&mut plain, 1);
        run(&mut simulation, 1);
        let after = weights(&simulation);
        let whole = weights(&plain);
        let by = 1.0 / (1.0 + 0.5 * t as f32);
        let step = |i: usize| start[i] + by * (whole[i] - start[i]);
        let expected: Vec<f32> = (0..start.len()).map(step).collect();
        assert_close(&after, &expected, 1e-6);
    }
}
