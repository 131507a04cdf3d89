//! Optimizers against plain loops of PyTorch's formulas, and the laws that relate them.

mod clip;
mod lbfgs;
mod reference;
mod schedules;
mod specs;
mod steps;

#[path = "../../../runtime/dsl/tests/common/closure.rs"]
mod closure;

use fedround::__private::Definer;
use fedround::prelude::*;
use fedround::simulation::Simulation;

use crate::common::{dealt, digits, leaves, run, simulation, weights};
pub(crate) use closure::Closure;

/// How many examples the one client has.
const EXAMPLES: usize = 10;

/// A federation of one client with parameters that are neither small nor alike.
fn alone(define: impl Fn(&mut Definer) + 'static) -> Simulation {
    let data = digits(EXAMPLES, 1).train;
    let federation = dealt(&data, vec![(0..EXAMPLES).collect()], 1);
    let mut simulation = simulation(&Closure(define), "logistic", federation);
    let mut values = leaves(&simulation);
    for (i, x) in values.iter_mut().flatten().enumerate() {
        *x = (0.7 * i as f32).sin();
    }
    assert!(simulation.set_parameters(values));
    simulation
}

/// A round in which every client runs `update` and the server takes the mean.
fn client(update: impl Fn(&ClientCx, Params) -> Params + 'static) -> Simulation {
    alone(move |m| m.round(|s, w| w.broadcast(&s.all_clients()).map(&update).mean()))
}

/// A round on the server alone.
fn server(update: impl Fn(&ServerCx, Server<Params>) -> Server<Params> + 'static) -> Simulation {
    alone(move |m| m.round(&update))
}

/// The parameters before and after some rounds.
fn before_and_after(mut simulation: Simulation, rounds: usize) -> (Vec<f32>, Vec<f32>) {
    let before = weights(&simulation);
    run(&mut simulation, rounds);
    (before, weights(&simulation))
}
