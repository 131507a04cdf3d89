//! Staging of specs, hand-expanded or from closures.

use crate::common::{Closure, FedAvg, FedProx};
use fedround::__private::{Definer, for_each, hyper, range};
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
fn loops_carry_several_variables() {
    let text = body(|m| {
        m.client_update(|_, w| {
            let (mut w, mut v) = (w.clone(), w);
            (w, v) = for_each(range(hyper("steps", &3_usize)), (w, v), |(), (w, v)| {
                let (mut w, mut v) = (w, v);
                v = 0.9 * v;
                w -= &v;
                (w, v)
            });
            w + v
        });
    });
    assert_eq!(
        text,
        "\
%0, %1 = opt.repeat %steps with(%2 = %w, %3 = %w) {
  %4 = arith.const 0.9 : f32
  %5 = tree.scale %4, %3 : params
  %6 = tree.sub %2, %5 : params
  opt.yield %6, %5 : params, params
} : params, params
%7 = tree.add %0, %1 : params
fed.yield %7 : params
"
    );
}

#[test]
fn a_loop_over_constants_alone_is_unrolled() {
    let text = body(|m| {
        m.regularizer(|_, _| {
            let (total,) = for_each(
                range(2),
                (Scalar::from(0.0),),
                |(), (total,)| (total + 1.0,),
            );
            total
        });
    });
    assert_eq!(text.matches("arith.add").count(), 2, "{text}");
}

#[test]
fn a_loop_from_a_constant_is_staged_from_its_second_turn_on() {
    let text = |turns: usize| {
        body(move |m| {
            m.regularizer(move |_, w| {
                let start = (Scalar::from(0.0),);
                let (total,) = for_each(range(turns), start, |(), (total,)| (total + w.sq_norm(),));
                total
            });
        })
    };
    assert_eq!(
        text(5),
        "\
%0 = tree.sq_norm %w : f32
%1 = arith.const 0.0 : f32
%2 = arith.add %1, %0 : f32
%3 = arith.index_const 4 : index
%4 = opt.repeat %3 with(%5 = %2) {
  %6 = tree.sq_norm %w : f32
  %7 = arith.add %5, %6 : f32
  opt.yield %7 : f32
} : f32
fed.yield %4 : f32
"
    );
    assert!(!text(1).contains("opt.repeat"));
}

#[test]
fn loops_carry_bundles() {
    let text = body(|m| {
        m.client_update(|k, w| {
            let bundle = (w.clone(), (vec![w.zeros_like(), w], k.round()));
            let (w, (history, _)) = for_each(range(3), bundle, |(), (w, (mut history, t))| {
                history.push(w.clone());
                let oldest = history.remove(0);
                (w.mul(&oldest), (history, t + 1.0))
            });
            w + &history[1]
        });
    });
    assert_eq!(
        text,
        "\
%0 = arith.const 0.0 : f32
%1 = tree.scale %0, %w : params
%2 = fed.round_index : f32
%3 = arith.index_const 3 : index
%4, %5, %6, %7 = opt.repeat %3 with(%8 = %w, %9 = %1, %10 = %w, %11 = %2) {
  %12 = tree.mul %8, %9 : params
  %13 = arith.const 1.0 : f32
  %14 = arith.add %11, %13 : f32
  opt.yield %12, %10, %8, %14 : params, params, params, f32
} : params, params, params, f32
%15 = tree.add %4, %6 : params
fed.yield %15 : params
"
    );
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

#[test]
fn a_servers_value_in_client_code_is_an_error_at_its_line() {
    let error = staged(|m| {
        m.round(|server, w| {
            let outside = w.clone();
            let w_k = w.broadcast(&server.all_clients()).map(|_, w| {
                let _ = outside.sq_norm();
                w
            });
            w_k.mean()
        });
    });
    let text = error.unwrap_err().to_string();
    assert!(
        text.contains("stage.rs") && text.contains("`params@server` is captured"),
        "{text}"
    );
}

#[test]
fn a_value_that_leaves_its_region_is_an_error() {
    let error = staged(|m| {
        m.regularizer(|_, w| {
            let mut leaked = Scalar::from(0.0);
            let _ = grad(w, |w| {
                leaked = w.sq_norm();
                leaked.clone()
            });
            leaked
        });
    });
    let text = error.unwrap_err().to_string();
    assert!(
        text.contains("outside the region that defines it"),
        "{text}"
    );
}

#[test]
fn a_negative_count_is_an_error() {
    let error = staged(|m| {
        m.client_update(|k, w| {
            let (w,) = for_each(k.batches(-1, 10), (w,), |_, (w,)| (w,));
            w
        });
    });
    let text = error.unwrap_err().to_string();
    assert!(
        text.contains("a count must be at least 0, found -1"),
        "{text}"
    );
}

#[test]
fn a_slip_of_a_phase_is_an_error() {
    let asks = |name: &'static str, others: &'static [&'static str]| {
        staged(move |m| {
            m.round(|server, w| {
                for declared in others {
                    let _ = server.phase(declared, 2_usize);
                }
                w
            });
            m.client_update(move |k, w| if k.phase(name) { 2.0 * w } else { w });
        })
    };
    let text = asks("warmup", &["share", "warm-up"])
        .unwrap_err()
        .to_string();
    assert!(
        text.contains("no phase is called `warmup` (did you mean `warm-up`?)"),
        "{text}"
    );
    // What is not declared here may be with other hyper-parameters.
    for declared in [&["share", "warm-up"][..], &["share"], &[]] {
        asks("warm-up", declared).unwrap();
    }
}

#[test]
fn values_of_two_algorithms_do_not_mix() {
    use std::cell::RefCell;
    use std::rc::Rc;
    let stolen: Rc<RefCell<Option<Params>>> = Rc::default();
    let thief = Rc::clone(&stolen);
    let _ = staged(move |m| {
        m.regularizer(|_, w| {
            *thief.borrow_mut() = Some(w.clone());
            0.0.into()
        });
    });
    let error = staged(move |m| {
        m.regularizer(|_, w| {
            stolen
                .borrow()
                .as_ref()
                .map_or_else(|| 0.0.into(), |other| w.dot(other))
        });
    });
    assert!(matches!(error, Err(StageError::Build(_))));
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
