//! Staging of specs, hand-expanded or from closures.

mod errors;
mod loops;

use crate::common::{Closure, FedAvg, FedProx};
use fedround::__private::{Definer, hyper};
use fedround::prelude::*;
use fedround::{StageError, stage};
use fedround_ir::fed::{FedOp, Module, OpKind, equal, print};

fn staged(define: impl Fn(&mut Definer) + 'static) -> Result<Module, StageError> {
    stage(&Closure(define))
}

/// The printed body of the only function.
fn body(define: impl Fn(&mut Definer) + 'static) -> String {
    let text = print(&staged(define).unwrap());
    let lines: Vec<&str> = text.lines().collect();
    lines[3..lines.len() - 2]
        .iter()
        .map(|line| line[4..].to_owned() + "\n")
        .collect()
}

#[test]
fn a_base_chosen_at_run_time_gives_the_same_graph() {
    let boxed: BoxedAlgorithm = Box::<FedAvg>::default();
    let at_run_time = stage(&FedProx {
        base: boxed,
        mu: 0.1,
    })
    .unwrap();
    let at_compile_time = stage(&FedProx::<FedAvg>::default()).unwrap();
    assert!(equal(&at_run_time, &at_compile_time));
    assert_eq!(print(&at_run_time), print(&at_compile_time));
}

#[test]
fn a_plug_in_stages_its_base_first() {
    let text = print(&stage(&FedProx::<FedAvg>::default()).unwrap());
    let funcs: Vec<&str> = text
        .lines()
        .filter_map(|line| line.trim().strip_prefix("fed.func @"))
        .collect();
    let names: Vec<&str> = funcs
        .iter()
        .filter_map(|line| line.split('(').next())
        .collect();
    assert_eq!(names[0], "fedavg::round");
    assert_eq!(names[5..], ["fedavg::regularizer", "fedprox::regularizer"]);
    assert!(text.contains("%0 = fed.super @regularizer(%k, %w) : f32"));
}

#[test]
fn ops_know_their_line() {
    let module = stage(&FedAvg::default()).unwrap();
    let sample = &module.funcs[0].body.ops[1];
    assert_eq!(sample.kind, OpKind::Fed(FedOp::Sample));
    assert!(
        sample.loc.position().0.ends_with("fed_avg.rs"),
        "{}",
        sample.loc
    );
}

#[test]
fn numbers_are_staged_where_they_meet_a_value() {
    let text = body(|m| {
        m.regularizer(|_, w| {
            let mu = hyper("mu", &0.1_f32);
            let half = 0.5 * &mu;
            half * w.sq_norm() - w.dot(w) / 2.0
        });
    });
    assert_eq!(
        text,
        "\
%0 = tree.sq_norm %w : f32
%1 = arith.const 0.5 : f32
%2 = arith.mul %1, %mu : f32
%3 = arith.mul %2, %0 : f32
%4 = tree.dot %w, %w : f32
%5 = arith.const 2.0 : f32
%6 = arith.div %4, %5 : f32
%7 = arith.sub %3, %6 : f32
fed.yield %7 : f32
"
    );
}

#[test]
fn a_literal_needs_no_type() {
    let text = body(|m| m.regularizer(|_, w| 1.0 - (0.5 * w).sq_norm()));
    assert!(text.contains("tree.scale %0, %w : params"), "{text}");
}

#[test]
fn numbers_are_kept_beside_parameters() {
    let text = body(|m| {
        m.client_update(|k, w| {
            let t = k.scalar_state("t") + 1.0;
            k.set_state("t", &t);
            k.set_state("seen", &w);
            t.sqrt().min(2.0) * w
        });
    });
    assert_eq!(
        text,
        "\
%0 = fed.client_state \"test.t\" %k : f32
%1 = arith.const 1.0 : f32
%2 = arith.add %0, %1 : f32
fed.set_client_state \"test.t\" %k, %2
fed.set_client_state \"test.seen\" %k, %w
%3 = arith.sqrt %2 : f32
%4 = arith.const 2.0 : f32
%5 = arith.sub %3, %4 : f32
%6 = arith.const 2.0 : f32
%7 = arith.select %5, %6, %3 : f32
%8 = tree.scale %7, %w : params
fed.yield %8 : params
"
    );
}

#[test]
fn server_state_and_algebra() {
    let text = body(|m| {
        m.round(|server, w| {
            let v = server.state("v");
            let change = v.dot(&w) * &w - &v;
            server.set_state("v", &change);
            w + hyper("momentum", &0.9_f32) * change
        });
    });
    assert_eq!(
        text,
        "\
%0 = fed.server_state \"test.v\" : params@server
%1 = tree.dot %0, %w : f32@server
%2 = tree.scale %1, %w : params@server
%3 = tree.sub %2, %0 : params@server
fed.set_server_state \"test.v\" %3
%4 = tree.scale %momentum, %3 : params@server
%5 = tree.add %w, %4 : params@server
fed.yield %5 : params@server
"
    );
}

#[test]
fn maps_take_and_give_tuples() {
    let text = body(|m| {
        m.round(|server, w| {
            let everyone = server.all_clients();
            let (w_k, c_k) = (
                w.broadcast(&everyone),
                server.state("c").broadcast(&everyone),
            );
            let (y_k, norm_k) = w_k.zip(&c_k).map(|k, (w, c)| {
                k.set_state("c", &c);
                (w - c, k.state("old").sq_norm())
            });
            y_k.weighted_mean(|k| k.num_examples()) - norm_k.sum() * y_k.mean()
        });
    });
    assert!(
        text.contains("%4, %5 = fed.map(%k, %6 = %1, %7 = %3) {"),
        "{text}"
    );
    assert!(
        text.contains("fed.set_client_state \"test.c\" %k, %7"),
        "{text}"
    );
    assert!(text.contains("fed.sum %5 : f32@server"), "{text}");
}

/// Values of every kind, as many as a tuple may have, and zips of zips.
#[test]
fn many_values_cross_and_meet() {
    let text = body(|m| {
        m.round(|server, w| {
            let many = w.broadcast(&server.all_clients()).map(|k, w| {
                let x = k.batch(1).x.release("a test");
                let [a, b, c, d, e, f, g] =
                    [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0].map(|c| c * k.number());
                (
                    w.clone(),
                    k.num_examples(),
                    w,
                    x.clone(),
                    a,
                    b,
                    c,
                    d,
                    e,
                    f,
                    g,
                    x,
                )
            });
            let (w_k, n_k, v_k, .., g_k, x_k) = many;
            let all_k = w_k.zip(&n_k).zip(&v_k).zip(&g_k.zip(&x_k));
            let all_k = all_k.map(|_, (((w, n), v), (g, x))| n * w + g * v * x.sq_norm());
            all_k.mean() + 0.5 * server.global_params()
        });
    });
    let map = text.lines().filter(|line| line.contains("fed.map("));
    let operands: Vec<usize> = map.map(|line| line.matches(" = %").count()).collect();
    assert_eq!(operands, [1, 5], "{text}");
    assert!(
        text.contains("= fed.start_params : params@server"),
        "{text}"
    );
}
