//! Forms that specs may have: turns of any type, hooks under a condition, composed bases, draws.

use fedround::algorithms::{self, FedProx, Scaffold};
use fedround::ir::fed::print;
use fedround::prelude::*;
use fedround::simulation::Simulation;

use crate::common::{digits, federation, run, simulation};

/// A simulation of four clients after a round.
fn after_a_round(algorithm: &dyn Algorithm) -> Simulation {
    let federation = federation(&digits(8, 1).train, "iid", 4, 1);
    let mut simulation = simulation(algorithm, "logistic", federation);
    run(&mut simulation, 1);
    simulation
}

fn kept(simulation: &Simulation, name: &str) -> Vec<f32> {
    simulation.server_state(name).unwrap().unwrap().concat()
}

/// Hands a cohort, values of clients and numbers of Rust from turn to turn.
#[derive(Hyper, Debug, Clone)]
struct Handed {}

#[federated]
impl Algorithm for Handed {
    fn round(&self, server: &ServerCx, w: Server<Params>) -> Server<Params> {
        let mut cohort = server.all_clients();
        let mut w_k = w.broadcast(&cohort);
        let (mut a, mut b, mut c, mut d, mut e) = (0, 0, 0, 0, 0);
        for j in 0..3 {
            cohort = server.clients(j, 1);
            w_k = w.broadcast(&cohort);
            (a, b, c, d, e) = (b, c, d, e, j);
        }
        let digits = 10000 * a + 1000 * b + 100 * c + 10 * d + e;
        server.set_state("digits", &server.run(|_| Scalar::from(Index::from(digits))));
        server.set_state("client", &w_k.map(|k, _| k.number()).sum());
        server.set_state("clients", &cohort.num_clients());
        w
    }
}

#[test]
fn turns_that_are_written_out_hand_on_values_of_any_type() {
    let simulation = after_a_round(&Handed {});
    for (name, expected) in [("digits", 12.0), ("client", 2.0), ("clients", 1.0)] {
        let found = kept(&simulation, &format!("handed.{name}"));
        assert_eq!(found, [expected], "{name}");
    }
}

/// Adds up in equal turns, from a number that is known beforehand.
#[derive(Hyper, Debug, Clone)]
struct Added {
    /// How many turns.
    #[hyper(default = 5)]
    times: usize,
}

#[federated]
impl Algorithm for Added {
    fn round(&self, server: &ServerCx, w: Server<Params>) -> Server<Params> {
        let total = server.run(|s| {
            let mut total = Scalar::from(0.0);
            for _ in 0..self.times {
                total += s.num_clients();
            }
            total
        });
        server.set_state("total", &total);
        w
    }
}

#[test]
fn a_loop_from_a_known_number_makes_all_of_its_turns() {
    for (times, expected) in [(0, 0.0), (1, 4.0), (2, 8.0), (5, 20.0)] {
        let simulation = after_a_round(&Added { times });
        assert_eq!(kept(&simulation, "added.total"), [expected], "{times}");
    }
}

/// One of its rounds is of another build.
#[derive(Hyper, Debug, Clone)]
struct Conditional {}

#[federated]
impl Algorithm for Conditional {
    #[cfg(not(test))]
    fn round(&self, server: &ServerCx, w: Server<Params>) -> Server<Params> {
        server.of_another_build(w)
    }

    #[cfg(test)]
    fn round(&self, _: &ServerCx, w: Server<Params>) -> Server<Params> {
        w
    }
}

#[test]
fn a_hook_may_be_under_a_condition() {
    let module = fedround::stage(&Conditional {}).unwrap();
    assert_eq!(module.funcs.len(), 1);
}

/// Over a composition, if no base is named.
#[derive(Hyper, Debug, Clone)]
struct Composed<A = FedProx<Scaffold>> {
    /// What trains.
    base: A,
}

#[federated(base = base)]
impl<A: Algorithm> Algorithm for Composed<A> {}

#[test]
fn a_default_base_keeps_its_own_base() {
    let registry = algorithms::registry().with_type::<Composed<BoxedAlgorithm>>();
    let entry = registry.entry("composed").unwrap();
    assert_eq!(entry.default_base, Some("fedprox(scaffold)"));
    let text = |algorithm: &dyn Algorithm| print(&fedround::stage(algorithm).unwrap());
    assert_eq!(
        text(&*registry.parse("composed").unwrap()),
        text(&Composed::<FedProx<Scaffold>>::default())
    );
}

/// Each client would draw for itself what the server draws once.
#[derive(Hyper, Debug, Clone)]
struct Tossed {}

#[federated]
impl Algorithm for Tossed {
    fn round(&self, server: &ServerCx, w: Server<Params>) -> Server<Params> {
        let w_k = w.broadcast(&server.all_clients()).map(|_, w| {
            let coin = server.stream("coin").bernoulli(0.5);
            coin.choose(&w, &w.zeros_like())
        });
        w_k.mean()
    }
}

#[test]
fn a_draw_of_the_server_in_client_code_is_an_error() {
    let error = fedround::stage(&Tossed {}).unwrap_err().to_string();
    assert!(error.contains("draw before the `map`"), "{error}");
}
