use fedround::algorithms::{AdaptiveClip, Adcol, DpFtrl, DpSgd, FedAvg, FedFed};
use fedround::experiment::{Experiment, Run, privacy_spent};
use fedround::prelude::*;
use fedround_data::Partition;
use fedround_metrics::accountant::Sampling;
use fedround_simulation::Faults;

use super::*;
use crate::privacy::smaller_delta;

/// What a run's ε depends on, with another δ.
fn inputs(run: &Run, delta: f64) -> AccountingInputs {
    AccountingInputs {
        delta,
        ..run.privacy_inputs()
    }
}

/// Clients add noise to each of their steps.
#[derive(Hyper, Debug, Clone)]
#[hyper(name = "noisy-steps")]
struct NoisySteps {
    /// Its standard deviation.
    #[hyper(default = 300.0)]
    sigma: f32,
    /// Whether gradients are clipped one by one.
    #[hyper(default = false)]
    by_row: bool,
}

#[federated]
impl Algorithm for NoisySteps {
    fn round(&self, server: &ServerCx, w: Server<Params>) -> Server<Params> {
        server.claim(Dp::Local);
        let w_k = w.broadcast(&server.all_clients()).map(|k, w| {
            let mut w = w;
            let own = k.collect(10, |b| (b.x.clone(), b.y.clone()));
            for (x, y) in k.rows(3, 10, own.clone()) {
                let none = w.zeros_like();
                // Without running statistics, which a gradient leaves in what it is of.
                let at = w.replace_parts(&["Buffer"], &none);
                let g = if self.by_row {
                    let mut sum = none.clone();
                    for (x, y) in k.rows(1, 1, (x.clone(), y.clone())) {
                        let g = grad(&at, |w| cross_entropy(k.forward(w, &x), &y));
                        sum += g.clip(2.0);
                    }
                    sum
                } else {
                    grad(&at, |w| cross_entropy(k.forward(w, &x), &y)).clip(2.0)
                };
                w = &w - 0.1 * g.noise(self.sigma);
            }
            w
        });
        w_k.mean()
    }
}

fn run(by_row: bool) -> Run {
    let experiment = Experiment::new(NoisySteps {
        by_row,
        ..NoisySteps::default()
    });
    let experiment = experiment.model("logistic").data("synth-digits");
    let partition = Partition::Quantity {
        alpha: 1.0,
        min: Some(20),
    };
    let run = experiment.clients(7).partition(partition).seed(3);
    run.prepare(8).unwrap()
}

/// `δ` at `ε` of `n` times `N(0, σ²)` on values at a distance of `Δ`, by its definition, `∫ max(0, p −
/// e^ε q)`, for the mean of all: noise of 1 at a distance of `Δ √n / σ`.
fn delta_at(epsilon: f64, distance: f64) -> f64 {
    let density = |x: f64| (-0.5 * x * x).exp() / std::f64::consts::TAU.sqrt();
    let width = 1e-3;
    let points = (0..((distance + 40.0) / width) as u64).map(|i| i as f64 * width - 20.0);
    let over = points.map(|x| (density(x - distance) - epsilon.exp() * density(x)).max(0.0));
    over.sum::<f64>() * width
}

#[test]
fn noise_in_local_steps_is_composed_over_all_of_them() {
    let run = run(false);
    let inputs = inputs(&run, 1e-6);
    let sizes = &run.simulation().dataset().client_indices;
    let most = sizes.iter().map(Vec::len).max().unwrap();
    assert!(inputs.fewest_examples < most && most == inputs.most_examples);
    let steps = 3 * most.div_ceil(10) as u64;
    for rounds in [1, 5] {
        let spent = spent(run.program(), inputs, rounds, None).unwrap();
        let [found] = &spent.guarantees[..] else {
            panic!("{spent:?}")
        };
        assert_eq!(found.repetitions, Some(steps));
        assert_eq!((spent.delta, found.no_bound.as_ref()), (1e-6, None));
        let distance = 2.0 * 2.0 * ((rounds as u64 * steps) as f64).sqrt() / 300.0;
        let epsilon = spent.epsilon.unwrap();
        // Rounded up to three decimals.
        assert!(delta_at(epsilon, distance) < 1e-6);
        assert!(delta_at(epsilon - 2e-3, distance) > 1e-6);
    }
}

#[test]
fn local_dp_sgd_counts_passes_over_examples() {
    let run = run(true);
    let inputs = inputs(&run, 1e-5);
    let spent = spent(run.program(), inputs, 4, None).unwrap();
    let found = &spent.guarantees[0];
    assert_eq!((found.usual_epsilon, found.repetitions), (None, None));
    // Three passes a round, each with an example in one batch; it is there, or gives zeros.
    let distance = 2.0 * f64::sqrt(12.0) / 300.0;
    let epsilon = spent.epsilon.unwrap();
    assert!(epsilon > 0.0 && delta_at(epsilon, distance) < 1e-5);
    assert!(delta_at((epsilon - 2e-3).max(0.0), distance) > 1e-5);
}

/// DP-FedAvg: what clients clip is added up, with noise on the sum.
#[derive(Hyper, Debug, Clone)]
#[hyper(name = "dp-fed-avg")]
struct DpFedAvg {
    /// Its standard deviation.
    #[hyper(default = 4.0)]
    sigma: f32,
    /// Whether each client takes part with a probability of its own.
    #[hyper(default = true)]
    poisson: bool,
    /// Whether the noise is on the mean, not on the sum.
    #[hyper(default = false)]
    mean: bool,
}

#[federated]
impl Algorithm for DpFedAvg {
    fn round(&self, server: &ServerCx, w: Server<Params>) -> Server<Params> {
        server.claim(Dp::Central);
        let s_t = if self.poisson {
            server.bernoulli(0.3)
        } else {
            server.sample(0.3)
        };
        let g_k = w.broadcast(&s_t).map(|k, w| {
            let (b, w) = (k.batch(10), w.replace_parts(&["Buffer"], &w.zeros_like()));
            grad(&w, |w| k.loss(w, &b)).clip(2.0)
        });
        let g = if self.mean { g_k.mean() } else { g_k.sum() };
        w - 0.1 * g.noise(self.sigma)
    }
}

#[test]
fn noise_on_a_sum_over_a_cohort_is_composed_over_rounds() {
    for poisson in [true, false] {
        let experiment = Experiment::new(DpFedAvg {
            sigma: 4.0,
            poisson,
            ..DpFedAvg::default()
        });
        let experiment = experiment.model("logistic").data("synth-digits");
        let run = experiment.clients(10).seed(3).prepare(8).unwrap();
        let inputs = inputs(&run, 1e-5);
        for rounds in [1, 20] {
            let spent = spent(run.program(), inputs, rounds, None).unwrap();
            // One of ten is replaced, and moves the sum by 4; or it is there or not, and moves it by 2.
            let steps = Steps {
                sampling: match poisson {
                    true => Sampling::Poisson,
                    false => Sampling::Fixed,
                },
                rate: 0.3,
                noise: if poisson { 2.0 } else { 1.0 },
                count: rounds as u64,
            };
            let expected = steps.epsilon_by_losses(1e-5).unwrap();
            assert!(expected <= steps.epsilon(1e-5).unwrap());
            let found = spent.epsilon.unwrap();
            assert!((found - expected).abs() < 5e-3, "{found} {expected}");
            assert_eq!(spent.guarantees[0].no_bound, None);
            // Who knows the cohort gains by that.
            let known = AccountingInputs {
                known_cohorts: true,
                ..inputs
            };
            let found = super::spent(run.program(), known, rounds, None).unwrap();
            let all = Steps { rate: 1.0, ..steps };
            let expected = all.epsilon_by_losses(1e-5).unwrap();
            let found = found.epsilon.unwrap();
            assert!((found - expected).abs() < 5e-3, "{found} {expected}");
            assert!(found > spent.epsilon.unwrap());
        }
    }
    let nothing = Experiment::new(DpFedAvg {
        sigma: 0.0,
        ..DpFedAvg::default()
    });
    let nothing = nothing.model("logistic").data("synth-digits").clients(10);
    let error = nothing.prepare(8).err().unwrap().to_string();
    assert!(
        error.contains("the standard deviation of this noise is 0"),
        "{error}"
    );
}

#[test]
fn noise_on_a_mean_of_fewer_has_no_bound() {
    let prepared = |dropout| {
        let experiment = Experiment::new(DpFedAvg {
            mean: true,
            poisson: false,
            ..DpFedAvg::default()
        });
        let experiment = experiment.model("logistic").data("synth-digits");
        let faults = Faults {
            dropout,
            ..Faults::default()
        };
        let experiment = experiment.clients(10).seed(3).faults(faults);
        experiment.prepare(8).unwrap()
    };
    let mut run = prepared(0.0);
    run.step(&mut ()).unwrap();
    let whole = inputs(&run, 1e-5);
    let mut rounds = run.report().history.clone();
    let all = rounds.clone();
    rounds[0].not_finite = vec![7];
    let failing = inputs(&prepared(0.5), 1e-5);
    for (inputs, rounds, is_known) in [
        (whole, &all, true),
        (whole, &rounds, false),
        (failing, &all, false),
    ] {
        let spent = privacy_spent(run.program(), inputs, rounds, None).unwrap();
        assert_eq!(spent.epsilon.is_some(), is_known);
        let reason = spent.guarantees[0].no_bound.clone().unwrap_or_default();
        assert_eq!(
            reason.contains("a mean over fewer has a larger ε"),
            !is_known
        );
        let before = privacy_spent(run.program(), inputs, &[], None).unwrap();
        assert_eq!(before.epsilon, Some(0.0));
    }
}

#[test]
fn rounds_before_the_first_noise_have_no_epsilon() {
    let experiment = Experiment::new(FedFed::<FedAvg>::default());
    let experiment = experiment.model("lenet5").data("synth-digits").clients(4);
    let run = experiment.seed(3).prepare(20).unwrap();
    let at = |rounds| spent(run.program(), inputs(&run, 1e-5), rounds, None).unwrap();
    // Generators are trained and averaged without noise; the sixteenth round shares images with it.
    for (rounds, epsilon, noise) in [(0, true, false), (1, false, false), (16, true, true)] {
        let spent = at(rounds);
        assert_eq!(spent.epsilon.is_some(), epsilon, "{rounds}");
        assert_eq!(spent.has_noise(), noise, "{rounds}");
    }
}

#[test]
fn only_equal_neighbours_add_up() {
    let experiment = Experiment::new(FedFed {
        base: AdaptiveClip::<FedAvg>::default(),
        ..FedFed::default()
    });
    let experiment = experiment
        .model("lenet5")
        .data("synth-digits")
        .partition(Partition::Iid);
    let run = experiment.clients(4).seed(3).prepare(20).unwrap();
    // Images are shared in the sixteenth round; clients' updates have noise after it.
    let at = |rounds| spent(run.program(), inputs(&run, 1e-5), rounds, None).unwrap();
    let shared = at(16);
    let both = at(18);
    let totals = both.totals().unwrap();
    let kinds: Vec<Neighbours> = totals.iter().map(|total| total.neighbours).collect();
    assert_eq!(kinds, [Neighbours::RowReplaced, Neighbours::ClientAbsent]);
    assert_eq!(shared.epsilon, Some(totals[0].epsilon));
    assert!(totals[1].epsilon > 0.0);
    assert_eq!((totals[0].delta, totals[1].delta), (1e-5, 1e-5));
    assert_eq!(both.epsilon, None);
}

#[test]
fn adaptive_clipping_is_one_gaussian_mechanism_with_the_noise_of_both_sums() {
    let spec = AdaptiveClip {
        participation: 0.3,
        noise: 1.5,
        count_noise: 2.0,
        ..AdaptiveClip::<FedAvg>::default()
    };
    let experiment = Experiment::new(spec).model("logistic").data("synth-digits");
    let run = experiment.clients(10).seed(3).prepare(8).unwrap();
    let spent = spent(run.program(), inputs(&run, 1e-5), 20, None).unwrap();
    let [found] = &spent.guarantees[..] else {
        panic!("{spent:?}")
    };
    assert_eq!(found.at.matches("adaptive_clip.rs").count(), 2);
    let steps = Steps {
        sampling: Sampling::Poisson,
        rate: 0.3,
        noise: 1.5,
        count: 20,
    };
    let expected = steps.epsilon_by_losses(1e-5).unwrap();
    let epsilon = found.epsilon.unwrap();
    assert!((epsilon - expected).abs() < 5e-3, "{epsilon} {expected}");
}

#[test]
fn dp_ftrl_counts_the_nodes_above_a_client() {
    let spec = DpFtrl {
        clients: 3,
        noise: 4.0,
        clip: 0.5,
        ..DpFtrl::<FedAvg>::default()
    };
    let experiment = Experiment::new(spec).model("logistic").data("synth-digits");
    let run = experiment.clients(16).seed(3).prepare(8).unwrap();
    // Passes of five rounds: three nodes at most, then one of the next pass, then two.
    for (rounds, nodes) in [
        (0, 0),
        (1, 1),
        (2, 2),
        (3, 2),
        (5, 3),
        (6, 4),
        (7, 5),
        (10, 6),
    ] {
        let spent = spent(run.program(), inputs(&run, 1e-5), rounds, None).unwrap();
        let [found] = &spent.guarantees[..] else {
            panic!("{spent:?}")
        };
        assert_eq!(found.no_bound, None);
        let epsilon = found.epsilon.unwrap();
        // One client replaced moves its round by two bounds, in units of noise by one half.
        let distance = 0.5 * f64::from(nodes).sqrt();
        assert!(delta_at(epsilon, distance) < 1e-5, "{rounds}");
        assert!(
            epsilon == 0.0 || delta_at(epsilon - 2e-3, distance) > 1e-5,
            "{rounds}"
        );
    }
}

#[test]
fn a_delta_of_one_in_n_is_too_large() {
    let run = run(false);
    let smaller = |delta, examples| smaller_delta(run.program(), delta, examples);
    assert_eq!(smaller(1e-5, 99_999), None);
    assert_eq!(smaller(1e-5, 100_000), Some(1e-6));
    assert_eq!(smaller(0.01, 300), Some(1e-3));
}

#[test]
fn a_report_says_what_is_hidden_and_on_what_grounds() {
    let of = |experiment: Experiment| {
        let experiment = experiment.model("logistic").data("synth-digits");
        experiment.clients(10).delta(1e-6).run(2).unwrap().privacy
    };
    let clients = of(Experiment::new(DpFedAvg::default())).unwrap();
    let [sum] = &clients.guarantees[..] else {
        panic!("{clients:?}")
    };
    assert_eq!((sum.hides, sum.delta), (Some(Unit::Client), 1e-6));
    assert_eq!(sum.grounds, [Grounds::Cohort]);
    assert!(
        Grounds::Cohort
            .text()
            .contains("hides all of a client's data")
    );
    assert!(sum.epsilon.is_some_and(|epsilon| epsilon > 0.0) && sum.rounds == 2);
    let base = Adcol::<FedAvg> {
        share: 0.01,
        ..Adcol::default()
    };
    let rows = of(Experiment::new(DpSgd {
        base,
        ..DpSgd::default()
    }));
    let rows = rows.unwrap();
    let [steps] = &rows.guarantees[..] else {
        panic!("{rows:?}")
    };
    assert_eq!(steps.hides, Some(Unit::Row));
    assert_eq!(steps.grounds, [Grounds::RowsOnServer]);
    assert_eq!(steps.neighbours, Some(Neighbours::RowZeroed));
    assert!(of(Experiment::new(FedAvg::default())).is_none());
}
