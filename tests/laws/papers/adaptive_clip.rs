//! Adaptive clipping: what it is with a fixed bound, and where the bound goes.

use burn::tensor::Device;
use fedround::algorithms::{AdaptiveClip, DpFtrl};
use fedround::models::DigitsConfig;
use fedround::simulation::CohortBatch;

use super::*;

/// With little noise, all clients in each round.
fn adaptive<A>(base: A) -> AdaptiveClip<A> {
    AdaptiveClip {
        base,
        participation: 1.0,
        noise: 0.01,
        count_noise: 0.02,
        quantile: 0.5,
        clip_lr: 0.2,
        clip: 0.1,
        beta: 0.9,
        server_lr: 1.0,
    }
}

fn deal() -> Deal {
    of_sizes(&[12; 10])
}

/// The bound of the next round.
fn bound(simulation: &Simulation) -> f32 {
    let state = simulation.server_state("adaptive-clip.c").unwrap();
    state.unwrap().concat()[0]
}

/// DP-FedAvg with momentum.
#[derive(Hyper, Debug, Clone)]
pub struct FixedClip<A = FedAvg> {
    /// What trains.
    pub base: A,
    /// `q`.
    #[hyper(default = 0.5)]
    pub participation: f32,
    /// `z`.
    #[hyper(default = 0.3)]
    pub noise: f32,
    /// `C`.
    #[hyper(default = 0.2)]
    pub clip: f32,
}

#[federated(base = base)]
impl<A: Algorithm> Algorithm for FixedClip<A> {
    fn round(&self, server: &ServerCx, w: Server<Params>) -> Server<Params> {
        let s_t = server.bernoulli(self.participation);
        let m = self.participation * server.num_clients();
        let (delta_k, b_k) = w.broadcast(&s_t).map(|k, w| {
            let delta = self.client_update(k, w.clone()) - w;
            (delta.clip(self.clip), delta.sq_norm().clip(0.5))
        });
        let delta = delta_k.sum().noise(self.noise * self.clip) / m;
        // Unused: the noise of adaptive clipping is that of another draw, too.
        server.set_state("b", &b_k.sum().noise(1.0));
        let v = 0.9 * server.state("v") + delta;
        server.set_state("v", &v);
        w + v
    }
}

#[test]
fn with_a_bound_that_stays_it_is_dp_fed_avg() {
    let fixed = FixedClip {
        base: base(),
        participation: 0.5,
        noise: 0.3,
        clip: 0.2,
    };
    let still = AdaptiveClip {
        participation: 0.5,
        // 0.3⁻² = z⁻² − (2 · 1)⁻²
        noise: (1.0_f32 / (1.0 / 0.09 + 0.25)).sqrt(),
        count_noise: 1.0,
        quantile: 0.0,
        clip_lr: 0.0,
        clip: 0.2,
        ..adaptive(base())
    };
    let after = |spec: &dyn Algorithm| trained(spec, "logistic", deal(), 4);
    assert_close(&after(&still), &after(&fixed), 1e-5);
    let other = AdaptiveClip {
        clip_lr: 0.2,
        ..still.clone()
    };
    assert!(farthest(&after(&other), &after(&fixed)) > 1e-3);
}

/// Client `k` goes `0.01 (k + 1)` in each coordinate.
#[derive(Hyper, Debug, Clone)]
pub struct Moves {
    /// How far the first client goes in each coordinate.
    #[hyper(default = 0.01)]
    pub step: f32,
}

#[federated]
impl Algorithm for Moves {
    fn round(&self, server: &ServerCx, w: Server<Params>) -> Server<Params> {
        let w_k = w.broadcast(&server.all_clients());
        w_k.map(|k, w| self.client_update(k, w)).mean()
    }

    fn client_update(&self, k: &ClientCx, w: Params) -> Params {
        let far = self.step * (k.number() + 1.0);
        &w + far * w.zeros_like().add_scalar(1.0)
    }
}

#[test]
fn the_bound_approaches_the_quantile_from_either_side() {
    // Of ten clients, `γ` lies between the shares of those within the bound on either side of this one's.
    for (quantile, client) in [(0.45, 5.0), (0.85, 9.0)] {
        for first in [0.02, 500.0] {
            let spec = AdaptiveClip {
                quantile,
                clip_lr: 0.5,
                clip: first,
                ..adaptive(Moves { step: 0.01 })
            };
            let mut simulation = simulation(&spec, "logistic", deal());
            run(&mut simulation, 80);
            let length = 0.01 * client * (weights(&simulation).len() as f32).sqrt();
            let found = bound(&simulation) / length;
            assert!((found - 1.0).abs() < 0.06, "{quantile} {first} {found}");
        }
    }
}

/// `C ← C · exp(−η_C (b̃ − γ))`, but for the noise of `σ_b / m = 0.002` on `b̃`.
#[test]
fn the_bound_moves_by_the_share_of_updates_within_it() {
    let within = |clip: f32| {
        let spec = AdaptiveClip {
            clip,
            ..adaptive(Moves { step: 0.01 })
        };
        let mut simulation = simulation(&spec, "logistic", deal());
        run(&mut simulation, 1);
        0.5 - (bound(&simulation) / clip).ln() / 0.2
    };
    // Of lengths of 0.886 times 1 to 10.
    for (clip, share) in [(0.1, 0.0), (3.0, 0.3), (100.0, 1.0)] {
        let found = within(clip);
        assert!((found - share).abs() < 0.02, "{clip} {found}");
    }
}

#[test]
fn the_bound_survives_a_checkpoint_and_groups_agree() {
    let of = || simulation(&adaptive(base()), "logistic", deal());
    let mut whole = of();
    run(&mut whole, 2);
    let saved = whole.save().unwrap();
    let stats = run(&mut whole, 2);
    let mut resumed = of();
    resumed.restore(&saved).unwrap();
    run(&mut resumed, 2);
    assert_eq!(bits(&weights(&resumed)), bits(&weights(&whole)));
    assert_eq!(bound(&resumed).to_bits(), bound(&whole).to_bits());
    let mut grouped = of().with_cohort_batch(CohortBatch::Clients(3));
    run(&mut grouped, 4);
    assert_close(&weights(&grouped), &weights(&whole), 1e-5);
    // The model and the bound to each of ten clients, an update and a number back.
    let p = weights(&whole).len() as u64;
    assert_eq!(stats.bytes_down, 10 * (4 * p + 4));
    assert_eq!(stats.bytes_up, 10 * (4 * p + 4));
}

/// Noise never reaches running statistics: a variance could become negative.
#[test]
fn running_statistics_stay_as_they_are() {
    let tree = DpFtrl {
        base: base(),
        clients: 3,
        noise: 0.01,
        clip: 0.1,
        beta: 0.9,
        server_lr: 1.0,
    };
    let statistics = |simulation: &Simulation| -> Vec<f32> {
        let leaves = simulation.parameters().unwrap().into_iter();
        let kept = leaves.filter(|(name, ..)| name.contains("running_"));
        kept.flat_map(|(_, _, values)| values).collect()
    };
    let specs: [&dyn Algorithm; 2] = [&adaptive(base()), &tree];
    for spec in specs {
        let config = DigitsConfig {
            channels: [2, 2, 2],
            units: [4, 4],
            ..DigitsConfig::default()
        };
        let model = Box::new(config.init(GREY, &Device::default()));
        let program = compile_model(spec, "normalised", model, GREY);
        let mut simulation = of_sizes(&[4; 3]).simulation(program, 2);
        let (before, weights) = (statistics(&simulation), leaves(&simulation));
        run(&mut simulation, 2);
        assert!(!before.is_empty());
        assert_eq!(before, statistics(&simulation));
        assert_ne!(weights, leaves(&simulation));
    }
}
