//! The warning about steps of the server that move running statistics.

use fedround::algorithms::FedAvg;
use fedround::exec::Warning;
use fedround::passes::fed::{link, moved_statistics};
use fedround::prelude::*;

use crate::common::{GREY, compile, compile_model};
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
