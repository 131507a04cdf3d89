//! ADCOL with as many parties in every round, who train twice.

use fedround::algorithms::FixedParties;
use fedround::simulation::ServerObservation;

use super::adcol::{OWN, SIZES, WIDTH, adcol, judge, own, parties};
use super::*;
use crate::rows::numbered;

pub(super) fn fixed(parties: usize, mu: f32) -> FixedParties {
    FixedParties {
        base: Adcol {
            base: full_batch(),
            ..adcol(1.0)
        },
        mu,
        parties,
        dropped: parties,
        rows: 16,
        d_lr: 0.05,
        d_momentum: 0.9,
        passes: 1,
        sample: 1.0,
        normalised: false,
        noise: RepresentationNoise::None,
        epsilon: 5.0,
        restart: true,
    }
}

/// Parameters of a discriminator of so many parties.
fn outputs(m: u64) -> u64 {
    let width = WIDTH as u64;
    (width * 512 + 512) + (512 * 512 + 512) + (512 * m + m)
}

#[test]
fn the_discriminator_has_an_output_for_each_who_takes_part() {
    for m in 1..=3 {
        let simulation = parties(&fixed(m, 1.0));
        assert_eq!(judge(&simulation).len() as u64, outputs(m as u64));
    }
    // There are no more than three.
    assert_eq!(judge(&parties(&fixed(9, 1.0))).len() as u64, outputs(3));
}

/// Who joins late takes a place, and none is added.
#[test]
fn a_newcomer_is_one_of_them() {
    let simulation = parties(&fixed(2, 1.0));
    let newcomer = "1:1".parse().unwrap();
    let mut simulation = simulation.with_late_client(Some(newcomer)).unwrap();
    for _ in 0..3 {
        let mut taught = 0;
        simulation.run_round_observed(|_| taught += 1).unwrap();
        assert_eq!(taught, 2);
    }
    assert!(simulation.client_state(2, "adcol.Model").unwrap().is_some());
}

#[test]
fn noise_is_on_what_they_send() {
    let first = |noise: RepresentationNoise| {
        let mut simulation = parties(&FixedParties {
            noise,
            ..fixed(3, 1.0)
        });
        let mut all = vec![];
        simulation
            .run_round_observed(|seen| all.push(seen))
            .unwrap();
        all
    };
    let (plain, noised) = (
        first(RepresentationNoise::None),
        first(RepresentationNoise::Laplace),
    );
    assert!(plain.len() == noised.len() && plain != noised);
}

#[test]
fn without_its_term_parties_train_twice_as_long() {
    let solo = Solo {
        epochs: 2,
        batch: 1000,
        lr: LR,
        ..Solo::default()
    };
    let (mut solo, mut simulation) = (parties(&solo), parties(&fixed(3, 0.0)));
    let first = leaves(&simulation);
    assert!(solo.set_parameters(first[..4].to_vec()));
    run(&mut solo, 2);
    run(&mut simulation, 2);
    for k in 0..3 {
        let expected = solo.client_state(k, "solo.own").unwrap().unwrap().concat();
        assert_close(&own(&simulation, k)[..OWN], &expected, 1e-6);
    }
}

/// The representations that a first round shows, and a party's model after it.
fn first_round(mu: f32) -> (Vec<ServerObservation>, Vec<f32>) {
    let mut simulation = parties(&fixed(3, mu));
    let mut all = vec![];
    simulation
        .run_round_observed(|seen| all.push(seen))
        .unwrap();
    (all, own(&simulation, 0)[..OWN].to_vec())
}

#[test]
fn what_they_send_is_of_training_alone_and_what_they_keep_is_not() {
    let ((alone, own_alone), (against, own_against)) = (first_round(0.0), first_round(5.0));
    assert_eq!(alone.len(), 3);
    assert_eq!(alone, against);
    assert!(farthest(&own_alone, &own_against) > 1e-5);
}

#[test]
fn the_discriminator_goes_down_once_and_begins_anew() {
    let mut simulation = parties(&fixed(2, 1.0));
    let first = weights(&simulation);
    for _ in 0..2 {
        let before = states(&simulation);
        let stats = run(&mut simulation, 1);
        let after = states(&simulation);
        let chosen: Vec<usize> = (0..3).filter(|&k| before[k] != after[k]).collect();
        assert_eq!(chosen.len(), 2);
        assert_eq!(stats.bytes_down, 4 * 2 * outputs(2));
        let rows: usize = chosen.iter().map(|k| SIZES[*k]).sum();
        assert_eq!(stats.bytes_up, 4 * (rows * WIDTH) as u64);
        assert_eq!(bits(&weights(&simulation)), bits(&first));
    }
    let mut warm = parties(&FixedParties {
        restart: false,
        ..fixed(2, 1.0)
    });
    run(&mut warm, 1);
    assert!(farthest(&judge(&warm), &judge(&simulation)) > 1e-5);
}

#[test]
fn those_who_are_dropped_sit_the_next_round_out() {
    let mut simulation = parties(&fixed(1, 1.0));
    let mut last = None;
    for _ in 0..6 {
        let before = states(&simulation);
        run(&mut simulation, 1);
        let after = states(&simulation);
        let chosen = (0..3).find(|&k| before[k] != after[k]);
        assert!(chosen.is_some() && chosen != last, "{chosen:?} {last:?}");
        last = chosen;
    }
}

fn states(simulation: &Simulation) -> Vec<Option<Vec<Vec<f32>>>> {
    (0..3)
        .map(|k| simulation.client_state(k, "adcol.Model").unwrap())
        .collect()
}

/// How far the rows of all are from their clients' places.
#[derive(Hyper, Debug, Clone)]
pub struct Places {
    /// Rows in a batch.
    #[hyper(default = 2)]
    pub size: usize,
}

#[federated]
impl Algorithm for Places {
    fn round(&self, server: &ServerCx, w: Server<Params>) -> Server<Params> {
        // Clients 1 and 2, whose places are 0 and 1.
        let x_k = w.broadcast(&server.clients(1, 2)).map(|k, _| {
            k.collect(self.size, |b| function("numbers", &b.x))
                .release("numbers")
        });
        let x_k = x_k.gather();
        let (x, places) = (x_k.concat(), x_k.positions());
        let apart = server.run(|s| loss("apart", (&s.get(&x).tensor(), &s.get(&places))));
        server.set_state("apart", &apart);
        w
    }
}

#[test]
fn places_are_those_in_the_cohort() {
    let mut simulation = numbered(&Places { size: 2 }, &[2, 3, 1], 2);
    run(&mut simulation, 1);
    // Rows 3, 4 and 5 of place 0, row 6 of place 1.
    let apart = simulation.server_state("places.apart").unwrap().unwrap();
    assert_eq!(apart.concat(), [17.0]);
}

#[test]
fn parties_learn_by_turns() {
    let mut simulation = parties(&FixedParties {
        base: adcol(1.0),
        ..fixed(2, 1.0)
    });
    let first = run(&mut simulation, 2).train_loss;
    let last = run(&mut simulation, 8).train_loss;
    assert!(last < first, "{first} {last}");
}
