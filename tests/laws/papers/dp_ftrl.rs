//! DP-FTRL: who takes part, what is left of the noise of a tree, and where it goes on.

use fedround::algorithms::DpFtrl;
use fedround::simulation::{CohortBatch, Faults};
use fedround_store::TensorBytes;

use super::*;

/// With hardly any noise, and a bound that nothing reaches.
fn ftrl() -> DpFtrl {
    DpFtrl {
        base: base(),
        clients: 3,
        noise: 1e-6,
        clip: 100.0,
        beta: 0.9,
        server_lr: 1.0,
    }
}

fn noisy() -> DpFtrl {
    DpFtrl {
        noise: 0.3,
        clip: 0.2,
        ..ftrl()
    }
}

fn deal() -> Deal {
    of_sizes(&[12; 10])
}

/// FedAvg over reshuffled cohorts with momentum at the server.
#[derive(Hyper, Debug, Clone)]
pub struct Reshuffled<A = FedAvg> {
    /// What trains.
    pub base: A,
    /// `m`.
    #[hyper(default = 3)]
    pub clients: usize,
}

#[federated(base = base)]
impl<A: Algorithm> Algorithm for Reshuffled<A> {
    fn round(&self, server: &ServerCx, w: Server<Params>) -> Server<Params> {
        let s_t = server.reshuffled(self.clients);
        let delta_k = w
            .broadcast(&s_t)
            .map(|k, w| self.client_update(k, w.clone()) - w);
        let v = 0.9 * server.state("v") + delta_k.mean();
        server.set_state("v", &v);
        w + v
    }
}

#[test]
fn with_hardly_any_noise_it_is_fed_avg_with_momentum() {
    let plain = Reshuffled {
        base: base(),
        clients: 3,
    };
    let after = |spec: &dyn Algorithm| trained(spec, "logistic", deal(), 5);
    // Noise of 1e-6 · 100 a node, divided by three clients.
    assert_close(&after(&ftrl()), &after(&plain), 5e-3);
    let more = DpFtrl {
        noise: 1e-3,
        ..ftrl()
    };
    assert!(farthest(&after(&more), &after(&plain)) > 0.1);
}

/// Nobody moves, and the server adds up what the tree gives: after `t` rounds its parameters are `N_t`.
fn still(clients: usize) -> (Simulation, Vec<f32>) {
    let spec = DpFtrl {
        base: FedAvg { lr: 0.0, ..base() },
        clients,
        noise: 2.0,
        clip: 1.0,
        beta: 0.0,
        server_lr: clients as f32,
    };
    let simulation = simulation(&spec, "2nn", of_sizes(&[12; 20]));
    let first = weights(&simulation);
    (simulation, first)
}

/// The mean square of what was added to some parameters.
fn variance(now: &[f32], before: &[f32]) -> f64 {
    let squares = now.iter().zip(before);
    let squares = squares.map(|(a, b)| (f64::from(*a) - f64::from(*b)).powi(2));
    squares.sum::<f64>() / now.len() as f64
}

/// Of 199,210 numbers, whose mean square is within 1.6 % five standard deviations long.
fn nodes(found: f64) -> u32 {
    let count = found / 4.0;
    assert!((count - count.round()).abs() < 0.016 * count, "{count}");
    count.round() as u32
}

#[test]
fn a_prefix_has_the_noise_of_as_many_nodes_as_it_has_bits() {
    let (mut simulation, first) = still(2);
    let mut before = vec![first];
    // A pass has ten rounds.
    for t in 1..=10_u32 {
        run(&mut simulation, 1);
        let now = weights(&simulation);
        assert_eq!(nodes(variance(&now, &before[0])), t.count_ones(), "{t}");
        // From one round to the next, the nodes of the lowest levels close and one opens.
        let closed = t.trailing_zeros();
        assert_eq!(
            nodes(variance(&now, &before[t as usize - 1])),
            1 + closed,
            "{t}"
        );
        before.push(now);
    }
    // The node of rounds 1 to 8 is that of rounds 9 and 10 too.
    assert_eq!(nodes(variance(&before[10], &before[8])), 1);
    assert_eq!(nodes(variance(&before[9], &before[8])), 1);
    // The next pass has a tree of its own, beside the noise of all of this one.
    run(&mut simulation, 1);
    let now = weights(&simulation);
    assert_eq!(nodes(variance(&now, &before[10])), 1);
    assert_eq!(nodes(variance(&now, &before[0])), 10_u32.count_ones() + 1);
}

/// A pass whose first round is skipped leaves the nodes of the pass before it as they are: what they hide stays
/// hidden.
#[test]
fn a_skipped_first_round_begins_a_new_tree_all_the_same() {
    // A pass has three rounds. Then two nodes are open: that of the first two, and that of the third.
    let (mut simulation, first) = still(6);
    run(&mut simulation, 3);
    let before = weights(&simulation);
    assert_eq!(nodes(variance(&before, &first)), 2);
    let nobody = Faults {
        dropout: 0.999_999,
        ..Faults::default()
    };
    let mut simulation = simulation.with_faults(nobody).unwrap();
    assert!(run(&mut simulation, 1).skipped);
    let mut simulation = simulation.with_faults(Faults::default()).unwrap();
    // The second round of the next pass closes what is open below its level.
    run(&mut simulation, 1);
    let now = weights(&simulation);
    assert_eq!(nodes(variance(&now, &before)), 1);
    assert_eq!(nodes(variance(&now, &first)), 3);
}

#[test]
fn a_run_goes_on_with_the_same_bits_from_any_round_of_a_pass() {
    let of = || simulation(&noisy(), "logistic", deal());
    let mut whole = of();
    let mut saved = vec![];
    for _ in 0..8 {
        saved.push(whole.save().unwrap());
        run(&mut whole, 1);
    }
    for (done, archive) in saved.iter().enumerate() {
        let mut resumed = of();
        resumed.restore(archive).unwrap();
        run(&mut resumed, 8 - done);
        assert_eq!(bits(&weights(&resumed)), bits(&weights(&whole)), "{done}");
    }
    // Checkpoints from before the pass stood with the nodes can be read.
    let mut older = saved[3].clone();
    let mut states: Vec<(String, Vec<TensorBytes>)> = older.get("simulation/server").unwrap();
    let tree = states.iter_mut().find(|(name, _)| name == "tree noise 0");
    let head = &mut tree.unwrap().1[0];
    let levels = head.floats().unwrap().split_off(1);
    *head = TensorBytes::of_floats(&levels, &[levels.len()]);
    older.insert("simulation/server", &states).unwrap();
    let mut resumed = of();
    resumed.restore(&older).unwrap();
    run(&mut resumed, 8 - 3);
    assert_eq!(bits(&weights(&resumed)), bits(&weights(&whole)));
    // Other noise is seen.
    let mut other = of();
    other.restore(&saved[3]).unwrap();
    let mut hidden = of().with_system_noise().unwrap();
    hidden.restore(&saved[3]).unwrap();
    run(&mut other, 1);
    run(&mut hidden, 1);
    assert!(farthest(&weights(&other), &weights(&hidden)) > 1e-3);
}

#[test]
fn groups_of_clients_agree_and_the_server_takes_states_of_another_run() {
    let of = || simulation(&noisy(), "logistic", deal());
    let mut alone = of().with_cohort_batch(CohortBatch::Clients(1));
    let stats = run(&mut alone, 4);
    let mut grouped = of().with_cohort_batch(CohortBatch::Clients(3));
    run(&mut grouped, 4);
    assert_close(&weights(&grouped), &weights(&alone), 1e-5);
    // Three of ten clients, and no noise on the wire.
    let p = weights(&alone).len() as u64;
    assert_eq!((stats.bytes_down, stats.bytes_up), (12 * p, 12 * p));
    let names = of().load_server_states(&alone.save().unwrap()).unwrap();
    assert_eq!(names, ["dp-ftrl.v", "tree noise 0"]);
}
