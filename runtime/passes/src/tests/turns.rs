//! Tests of the passes and reports on clients that take turns.

use fedround::__private::for_each;
use fedround::Definer;
use fedround::prelude::*;
use fedround_ir::fed::Module;

use crate::fed::mechanisms;
use crate::report::{explain, wire, wire_table};
use crate::schedule::{runs, schedule, stream};
use crate::testing::{Closure, linked};

fn round(body: fn(&ServerCx, Server<Params>) -> Server<Params>) -> Module {
    linked(&Closure(move |m: &mut Definer| m.round(body)))
}

/// Each client doubles what it received, and the server halves it.
fn doubled(server: &ServerCx, w: Server<Params>) -> Server<Params> {
    let turns = server.sample(0.5).in_turn();
    for_each(turns, (w,), |client, (w,)| {
        let w_k = w.broadcast(&client).map(|_, w| 2.0 * w);
        (0.5 * w_k.mean(),)
    })
    .0
}

#[test]
fn the_box_has_one_client_after_the_other() {
    assert_eq!(
        explain(&round(doubled)),
        "\
test, round t
  S ← sample(0.5)
  w ← wᵗ
  for k ∈ S in turn
    on client k
      w_k ← 2 · w
    w ← 0.5 · (1/m Σ w_k)
  wᵗ⁺¹ ← w
"
    );
}

#[test]
fn a_client_of_the_cohort_receives_and_sends_once() {
    let module = round(doubled);
    let rows = wire(&module);
    let cohorts: Vec<_> = rows.iter().map(|row| row.cohort).collect();
    assert!(cohorts[0].is_some() && cohorts[0] == cohorts[1]);
    let text = wire_table(&rows, None);
    assert!(
        text.contains("total down: 4P bytes, up: 4P bytes"),
        "{text}"
    );
}

#[test]
fn what_a_turn_gives_is_added_up_as_it_arrives() {
    let mut schedule = schedule(&round(doubled)).unwrap();
    stream(&mut schedule);
    let runs = runs(&schedule);
    let of = |on_clients: bool| {
        let mut segments = runs
            .iter()
            .filter(move |runs| runs.on_clients == on_clients);
        (segments.next().unwrap().clone(), segments.next())
    };
    let (client, none) = of(true);
    assert_eq!(
        (client.for_each, client.loops.times, none),
        (false, 1, None)
    );
    let (server, _) = of(false);
    assert_eq!((server.for_each, server.loops.times), (true, 1));
}

/// The next clients train on what was noised for one.
#[test]
fn no_bound_is_claimed_of_noise_in_turns() {
    let found = mechanisms(&round(|server, w| {
        let turns = server.all_clients().in_turn();
        for_each(turns, (w,), |client, (w,)| {
            let w_k = w.broadcast(&client).map(|k, w| {
                let b = k.batch(10);
                grad(&w, |w| cross_entropy(k.forward(w, &b.x), &b.y)).clip(2.0)
            });
            (w_k.sum().noise(3.0),)
        })
        .0
    }));
    assert!(found.known.is_empty(), "{found:?}");
}
