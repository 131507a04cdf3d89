//! Loops that are staged, and those that are unrolled.

use super::body;
use fedround::__private::{for_each, hyper, range};
use fedround::prelude::*;

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
