//! Optimizers in the graph: what is left of them, and how they read.

use fedround::__private::{for_each, hyper};
use fedround::optim::{Adam, Lbfgs, Sgd};
use fedround::prelude::*;
use fedround_ir::fed::{Math, OpKind, TreeOp};

use crate::fed::link;
use crate::report::explain;
use crate::testing::Closure;

/// The box of a round, without its first line.
fn round(body: impl Fn(&ServerCx, Server<Params>) -> Server<Params> + 'static) -> String {
    let staged = fedround::stage(&Closure(move |m: &mut fedround::Definer| m.round(&body)));
    let text = explain(&link(staged.unwrap()).unwrap().module);
    let lines: Vec<&str> = text.lines().skip(1).map(|line| &line[2..]).collect();
    lines.join("\n")
}

/// The body of the batch loop of clients that train with an optimizer.
fn local<O: Optimizer + 'static>(opt: impl Fn(&ClientCx) -> O + 'static) -> String {
    let text = round(move |server, w| {
        let received = w.broadcast(&server.all_clients());
        let update = |k: &ClientCx, w: Params| {
            let start = (w.clone(), opt(k).start(&w));
            for_each(k.batches(1, 10), start, |b, (mut w, mut opt)| {
                let g = grad(&w, |w| cross_entropy(k.forward(w, &b.x), &b.y));
                opt.step(&mut w, g);
                (w, opt)
            })
            .0
        };
        received.map(update).mean()
    });
    let gradient = "∇[cross_entropy(model(w, b.x), b.y)]";
    let lines = text.lines().filter_map(|line| line.strip_prefix("    "));
    let lines: Vec<String> = lines.map(|line| line.replace(gradient, "∇F")).collect();
    lines.join("\n")
}

#[test]
fn a_factor_of_zero_leaves_nothing() {
    let plain = "w ← w − lr · ∇F";
    let sgd = || Sgd::new(hyper("lr", &0.1_f32));
    assert_eq!(local(move |_| sgd()), plain);
    let none = move || sgd().momentum(hyper("beta", &0.0_f32)).weight_decay(0.0);
    assert_eq!(local(move |_| none()), plain);
    assert_eq!(local(move |_| none().nesterov()), plain);
}

#[test]
fn a_loop_carries_the_velocity() {
    let sgd = |_: &ClientCx| Sgd::new(0.1).momentum(0.9);
    assert_eq!(
        local(sgd),
        "u ← 0.9 · w2 + ∇F\n\
         w, w2 ← w − 0.1 · u, u"
    );
    assert_eq!(
        local(move |k| sgd(k).weight_decay(1e-4)),
        "u ← 0.9 · w2 + ∇F + 1e-4 · w[Buffer ← 0]\n\
         w, w2 ← w − 0.1 · u, u"
    );
    assert_eq!(
        local(move |k| sgd(k).weight_decay(0.01).nesterov()),
        "u ← ∇F + 0.01 · w[Buffer ← 0]\n\
         u2 ← 0.9 · w2 + u\n\
         w, w2 ← w − 0.1 · (u + 0.9 · u2), u2"
    );
}

#[test]
fn a_server_keeps_its_moments() {
    let text = round(|server, mut w| {
        let mut opt = Adam::new(0.1).resume(server, "adam", &w);
        let g = &w - w.broadcast(&server.all_clients()).sum();
        opt.step(&mut w, g);
        opt.keep(server, "adam");
        w
    });
    assert_eq!(
        text,
        "adam_m ← state(adam_m)\n\
         adam_v ← state(adam_v)\n\
         adam_c1 ← state(adam_c1)\n\
         adam_c2 ← state(adam_c2)\n\
         u ← wᵗ − (Σ wᵗ)\n\
         u2 ← 0.9 · adam_m + 0.1 · u\n\
         u3 ← 0.999 · adam_v + 0.001 · u ⊙ u\n\
         a ← 0.9 · adam_c1 + 0.1\n\
         a2 ← 0.999 · adam_c2 + 0.001\n\
         state(adam_m) ← u2\n\
         state(adam_v) ← u3\n\
         state(adam_c1) ← a\n\
         state(adam_c2) ← a2\n\
         wᵗ⁺¹ ← wᵗ − 0.1 · 1 / a · u2 ⊘ (1 / √a2 · √u3 + 1e-8)"
    );
}

#[test]
fn a_search_is_a_loop_of_the_graph() {
    let text = round(|server, w| {
        let lbfgs = |_: &ClientCx, w: Params| {
            let opt = Lbfgs::new(2).armijo(10);
            opt.minimize(&w, 5, |w| w.sq_norm())
        };
        w.broadcast(&server.all_clients()).map(lbfgs).mean()
    });
    let lines = |what: &str| text.lines().filter(|line| line.trim() == what).count();
    assert_eq!((lines("5 times"), lines("10 times")), (1, 1), "{text}");
    assert!(
        text.contains("s4, s5 ← 0.5 · s4, [s5 if s5 > 0 else"),
        "{text}"
    );
}

#[test]
fn the_ops_of_a_step_are_at_the_users_line() {
    let line = line!() + 4;
    let staged = fedround::stage(&Closure(|m: &mut fedround::Definer| {
        m.round(|server, mut w| {
            let mut opt = Adam::new(0.1).start(&w);
            opt.step(&mut w, server.state("g"));
            w
        });
    }));
    let module = staged.unwrap();
    let ops = &module.funcs[0].body.ops;
    for kind in [
        OpKind::Tree(TreeOp::Math(Math::Sqrt)),
        OpKind::Tree(TreeOp::Sub),
    ] {
        let op = ops.iter().find(|op| op.kind == kind).unwrap();
        assert_eq!(op.loc.position().1, line, "{kind:?} at {}", op.loc);
    }
}
