//! Tests of the passes on gathered values, and on the server's maps over them.

use fedround::Definer;
use fedround::prelude::*;
use fedround_ir::fed::{FedOp, Module, OpKind, print};

use crate::fed::{fuse_maps, link};
use crate::report::{Direction, explain, wire, wire_table};
use crate::schedule::{Item, Schedule, runs, schedule, stream};
use crate::testing::{Closure, linked};

#[path = "../../../../tests/common/adversary.rs"]
mod adversary;

#[test]
fn the_guide_has_the_code_the_box_and_the_wire() {
    let guide = include_str!("../../../../docs/server-work.md");
    let code = include_str!("../../../../tests/common/adversary.rs");
    let block = |language: &str, text: &str| format!("```{language}\n{text}```");
    let module = linked(&adversary::Adversary::default());
    for text in [explain(&module), wire_table(&wire(&module), None)] {
        let text = block("text", &text);
        assert!(guide.contains(&text), "{text}");
    }
    assert!(guide.contains(&block("rust", code)));
}

fn round(body: fn(&ServerCx, Server<Params>) -> Server<Params>) -> Module {
    linked(&spec(body))
}

fn spec(body: fn(&ServerCx, Server<Params>) -> Server<Params>) -> impl Algorithm {
    Closure(move |m: &mut Definer| m.round(body))
}

/// Every client's model, moved half way to the server's on the server, and back.
fn half_way(server: &ServerCx, w: Server<Params>) -> Server<Params> {
    let w_k = w.broadcast(&server.all_clients()).map(|_, w| 2.0 * w);
    let half_k = w_k.gather().map(|k, y| 0.5 * (y + k.get(&w)));
    half_k.scatter().map(|_, w| 3.0 * w).mean()
}

#[test]
fn the_box_says_where_code_runs() {
    assert_eq!(
        explain(&round(half_way)),
        "\
test, round t
  for k ∈ all clients in parallel
    w_k ← 2 · wᵗ
  for k ∈ all clients on the server
    w_k2 ← 0.5 · (w_k + wᵗ)
  for k ∈ all clients in parallel
    w_k3 ← 3 · w_k2
  wᵗ⁺¹ ← 1/m Σ w_k3
"
    );
}

#[test]
fn what_crosses_both_ways_is_in_the_table() {
    let module = round(half_way);
    let rows = wire(&module);
    let ops: Vec<(&str, Direction, usize)> = rows
        .iter()
        .map(|row| (row.op.as_str(), row.direction, row.exchange))
        .collect();
    let (down, up) = (Direction::Down, Direction::Up);
    let expected = [
        ("fed.broadcast", down, 1),
        ("fed.gather", up, 1),
        ("fed.scatter", down, 2),
        ("fed.mean", up, 2),
    ];
    assert_eq!(ops, expected);
    let table = wire_table(&rows, None);
    assert!(table.contains("the server's work for it"), "{table}");
    assert!(
        table.contains("total down: 8P bytes, up: 8P bytes"),
        "{table}"
    );
}

#[test]
fn released_labels_are_counted_apart() {
    let module = round(|server, w| {
        let (x_k, y_k) = w.broadcast(&server.all_clients()).map(|k, _| {
            let b = k.batch(10);
            (b.x.release("public"), b.y.release("public"))
        });
        let (x, y) = (x_k.gather().concat(), y_k.gather().concat());
        server.run(|s| {
            let (x, y) = (s.get(&x), s.get(&y));
            grad(&s.get(&w), |w| cross_entropy(s.forward(w, &x), &y))
        })
    });
    let table = wire_table(&wire(&module), None);
    assert!(table.contains("released: public"), "{table}");
    assert!(table.contains("up: 4F + 4L bytes"), "{table}");
}

#[test]
fn a_value_is_gathered_once_and_not_for_nothing() {
    let twice = round(|server, w| {
        let w_k = w.broadcast(&server.all_clients()).map(|_, w| 2.0 * w);
        w_k.gather().mean() + w_k.gather().sum()
    });
    assert_eq!(print(&twice).matches("fed.gather").count(), 1);
    let unread = spec(|server, w| {
        let _ = w
            .broadcast(&server.all_clients())
            .map(|_, w| 2.0 * w)
            .gather();
        w
    });
    let linked = link(fedround::stage(&unread).unwrap()).unwrap();
    assert!(!print(&linked.module).contains("fed.gather"));
    let [warning] = linked.warnings.as_slice() else {
        panic!("{:?}", linked.warnings);
    };
    assert!(
        warning
            .to_string()
            .contains("nothing reads what the clients upload")
    );
}

fn maps(module: &Module) -> usize {
    let ops = module.funcs[0].body.ops.iter();
    ops.filter(|op| op.kind == OpKind::Fed(FedOp::Map)).count()
}

#[test]
fn maps_of_the_server_fuse_where_what_they_read_is_known() {
    let mut module = round(|server, w| {
        let y_k = w.broadcast(&server.all_clients()).gather();
        y_k.map(|_, y| 2.0 * y).map(|k, y| y + k.get(&w)).mean()
    });
    assert_eq!(maps(&module), 2);
    assert!(fuse_maps(&mut module));
    assert_eq!(maps(&module), 1);
    // The second reads the mean of the first.
    let mut module = round(|server, w| {
        let y_k = w.broadcast(&server.all_clients()).gather();
        let y_k = y_k.map(|_, y| 2.0 * y);
        let mean = y_k.mean();
        y_k.map(|k, y| y - k.get(&mean)).sum()
    });
    assert!(!fuse_maps(&mut module));
    assert_eq!(maps(&module), 2);
}

fn streamed(schedule: &Schedule) -> Vec<usize> {
    let items = schedule.round.items.iter();
    let maps = items.filter_map(|(item, _)| match item {
        Item::Control(c) if c.op.kind == OpKind::Fed(FedOp::Map) => Some(c.reductions.len()),
        _ => None,
    });
    maps.collect()
}

#[test]
fn what_is_gathered_is_held_and_what_is_reduced_streams() {
    let mut schedule = schedule(&round(half_way)).unwrap();
    stream(&mut schedule);
    // Held for the server's map, for the scatter; streamed into the mean.
    assert_eq!(streamed(&schedule), [0, 0, 1]);
    let runs = runs(&schedule);
    let sides: Vec<(bool, bool)> = runs.iter().map(|r| (r.on_clients, r.for_each)).collect();
    assert_eq!(sides, [(true, false), (false, true), (true, false)]);
}
