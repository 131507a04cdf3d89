//! The warning about steps of the server that move running statistics.

use fedround::algorithms::FedAvg;
use fedround::exec::Warning;
use fedround::passes::fed::{link, moved_statistics};
use fedround::prelude::*;

use crate::common::{GREY, compile, compile_model, digits, federation};
use crate::training::normalised;

/// Momentum on the server.
#[derive(Hyper, Debug, Clone)]
pub struct Heavy<A = FedAvg> {
    /// What trains.
    pub base: A,
    /// Whether running statistics are restored.
    #[hyper(default = false)]
    pub restores: bool,
}

#[federated(base = base)]
impl<A: Algorithm> Algorithm for Heavy<A> {
    fn aggregate(&self, server: &ServerCx, w_k: Clients<Params>) -> Server<Params> {
        let (w, mean) = (server.global_params(), w_k.mean());
        let v = 0.9 * server.state("v") + (&mean - &w);
        server.set_state("v", &v);
        if self.restores {
            (w + v).replace_parts(&["Buffer"], &mean)
        } else {
            w + v
        }
    }
}

fn heavy(restores: bool) -> Heavy {
    Heavy {
        base: FedAvg::default(),
        restores,
    }
}

fn moved(warnings: &[Warning]) -> Vec<String> {
    let moved = |warning: &&Warning| matches!(warning, Warning::MovedStatistics { .. });
    let all = warnings.iter().filter(moved);
    all.map(ToString::to_string).collect()
}

#[test]
fn a_momentum_over_running_statistics_is_warned_about() {
    let warned = |restores| {
        let program = compile_model(&heavy(restores), "normalised", normalised(), GREY);
        moved(program.warnings())
    };
    let found = warned(false);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].contains("moved_statistics.rs"), "{found:?}");
    assert!(
        found[0].contains("running statistics of normalised"),
        "{found:?}"
    );
    assert_eq!(warned(true), [""; 0]);
    // A model without running statistics.
    assert_eq!(
        moved(compile(&heavy(false), "logistic", GREY).warnings()),
        [""; 0]
    );
}

#[test]
fn bundled_algorithms_restore_running_statistics() {
    let registry = fedround::algorithms::registry();
    for name in registry.names() {
        let phases = fedround_dsl::phases(&*registry.parse(name).unwrap());
        for phase in phases.unwrap() {
            let linked = link(phase.module).unwrap_or_else(|error| panic!("{name}: {error}"));
            assert_eq!(moved_statistics(&linked.module), None, "{name}");
        }
    }
}

/// Steps whose gradient is taken at another point.
#[derive(Hyper, Debug, Clone)]
struct Ahead {
    /// How far, in units of a state that is zero in the first round.
    #[hyper(default = 1.0)]
    beta: f32,
}

#[federated]
impl Algorithm for Ahead {
    fn round(&self, server: &ServerCx, w: Server<Params>) -> Server<Params> {
        let w_k = w.broadcast(&server.all_clients());
        w_k.map(|k, w| self.client_update(k, w)).mean()
    }

    fn client_update(&self, k: &ClientCx, mut w: Params) -> Params {
        for b in k.batches(1, 10) {
            let z = &w + self.beta * &k.state("v");
            w -= 0.1 * grad(&z, |z| cross_entropy(k.forward(z, &b.x), &b.y));
        }
        k.set_state("v", &w);
        w
    }
}

/// The statistics of the point move, and not those of the model, also where the point is the model.
#[test]
fn a_gradient_at_a_computed_point_moves_no_statistics_of_the_model() {
    let data = digits(40, 10).train;
    let trained = |beta| {
        let program = compile_model(&Ahead { beta }, "normalised", normalised(), GREY);
        let mut one = federation(&data, "iid", 2, 9).simulation(program, 1);
        one.run_round().unwrap();
        one.parameters().unwrap()
    };
    let (at, ahead) = (trained(0.0), trained(1.0));
    assert!(at.iter().any(|(name, ..)| name.ends_with("running_mean")));
    for ((name, _, at), (_, _, ahead)) in at.iter().zip(&ahead) {
        assert_eq!(at, ahead, "{name}");
    }
}
