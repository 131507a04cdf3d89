//! ADCOL with a shared predictor: all that parties have in common is its mean.

use fedround::algorithms::SharedHead;

use super::adcol::{JUDGE, OWN, SIZES, WIDTH, adcol, judge, own, parties};
use super::*;

/// Parameters of the predictor, which are the last of a party's own.
const PREDICTOR: usize = WIDTH * 10 + 10;

fn shared() -> SharedHead {
    SharedHead {
        base: adcol(1.0),
        part: SharedPart::Head,
    }
}

fn head(model: &[f32]) -> &[f32] {
    &model[OWN - PREDICTOR..OWN]
}

#[test]
fn the_server_has_the_mean_of_what_parties_trained_and_they_go_on_with_it() {
    let algorithm = shared();
    let mut simulation = parties(&algorithm).with_personal(&algorithm).unwrap();
    for _ in 0..2 {
        run(&mut simulation, 1);
        let trained: Vec<Vec<f32>> = (0..3).map(|k| own(&simulation, k)).collect();
        assert_ne!(head(&trained[0]), head(&trained[1]));
        let all: usize = SIZES.iter().sum();
        let mean = (0..PREDICTOR).map(|i| {
            let of = |k: usize| SIZES[k] as f32 * head(&trained[k])[i];
            (0..3).map(of).sum::<f32>() / all as f32
        });
        let mean: Vec<f32> = mean.collect();
        let server = part(&simulation, "head", true);
        assert_close(&server, &mean, 1e-6);
        let models = simulation.personal_models().unwrap().unwrap();
        for (k, trained) in trained.iter().enumerate() {
            let used = simulation.personal_parameters(&models, k).unwrap().unwrap();
            let used: Vec<f32> = used.into_iter().flat_map(|(_, _, values)| values).collect();
            assert_eq!(bits(head(&used)), bits(&server), "{k}");
            // All but the predictor is the party's own.
            let own = OWN - PREDICTOR;
            assert_eq!(bits(&used[..own]), bits(&trained[..own]), "{k}");
        }
    }
}

#[test]
fn representations_and_the_discriminator_are_as_without_it() {
    let (mut alone, mut together) = (parties(&adcol(1.0)), parties(&shared()));
    run(&mut alone, 1);
    run(&mut together, 1);
    assert_eq!(bits(&judge(&together)), bits(&judge(&alone)));
    for k in 0..3 {
        assert_eq!(bits(&own(&together, k)), bits(&own(&alone, k)), "{k}");
    }
    run(&mut alone, 1);
    run(&mut together, 1);
    assert!(farthest(&own(&together, 0), &own(&alone, 0)) > 1e-5);
}

#[test]
fn predictors_alone_cross_besides() {
    let mut simulation = parties(&shared());
    let stats = run(&mut simulation, 2);
    let predictor = PREDICTOR as u64;
    let rows = SIZES.iter().sum::<usize>() as u64;
    assert_eq!(stats.bytes_down, 4 * 3 * (JUDGE + predictor));
    // And the count of examples, for the mean.
    let up = rows * WIDTH as u64 + 3 * (predictor + 1);
    assert_eq!(stats.bytes_up, 4 * up);
}

#[test]
fn it_goes_on_with_those_who_were_drawn() {
    let mut simulation = parties(&SharedHead {
        base: Adcol {
            share: 0.34,
            ..adcol(1.0)
        },
        ..shared()
    });
    for _ in 0..3 {
        let before: Vec<_> = states(&simulation);
        let stats = run(&mut simulation, 1);
        let after = states(&simulation);
        let drawn = (0..3).find(|&k| before[k] != after[k]).unwrap();
        assert_eq!(stats.bytes_down, 4 * (JUDGE + PREDICTOR as u64));
        // Of one party alone it is the party's.
        let trained = own(&simulation, drawn);
        assert_close(&part(&simulation, "head", true), head(&trained), 1e-7);
    }
}

fn states(simulation: &Simulation) -> Vec<Option<Vec<Vec<f32>>>> {
    (0..3)
        .map(|k| simulation.client_state(k, "adcol.Model").unwrap())
        .collect()
}

#[test]
fn parties_learn_with_one_predictor() {
    let mut simulation = parties(&shared());
    let first = run(&mut simulation, 1).train_loss;
    let last = run(&mut simulation, 5).train_loss;
    assert!(last < first, "{first} {last}");
}
