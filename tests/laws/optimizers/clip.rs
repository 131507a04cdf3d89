//! Laws of gradient clipping.

use fedround::prelude::*;

use super::{before_and_after, client, server};
use crate::common::{assert_close, bits};

fn norm(w: &[f32]) -> f64 {
    w.iter().map(|&x| f64::from(x).powi(2)).sum::<f64>().sqrt()
}

#[test]
fn by_norm_scales_down_to_it() {
    let (before, after) = before_and_after(client(|_, w| w.clip_norm(2.0)), 1);
    let factor = 2.0 / (norm(&before) + 1e-6);
    let expected: Vec<f32> = before
        .iter()
        .map(|x| (f64::from(*x) * factor) as f32)
        .collect();
    assert!(factor < 1.0);
    assert_close(&after, &expected, 1e-7);
    let (_, on_server) = before_and_after(server(|_, w| w.clip_norm(2.0)), 1);
    assert_eq!(bits(&on_server), bits(&after));
}

#[test]
fn by_value_bounds_each_entry() {
    let (before, after) = before_and_after(client(|_, w| w.clip_value(0.25)), 1);
    let expected: Vec<f32> = before.iter().map(|x| x.clamp(-0.25, 0.25)).collect();
    assert_eq!(bits(&after), bits(&expected));
}

#[test]
fn a_bound_beyond_reach_changes_nothing() {
    for clip in [|w: Params| w.clip_norm(1e9), |w: Params| w.clip_value(1e9)] {
        let (before, after) = before_and_after(client(move |_, w| clip(w)), 1);
        assert_eq!(bits(&after), bits(&before));
    }
}

#[test]
fn zeros_stay_zeros() {
    let (_, after) = before_and_after(client(|_, w| w.zeros_like().clip_norm(1.0)), 1);
    assert!(after.iter().all(|x| *x == 0.0));
}

#[test]
fn a_bounded_movement_of_zero_has_the_gradient_of_the_movement() {
    let at_start = |_: &ClientCx, w: Params| {
        let start = 1.0 * &w;
        grad(&w, |w| (w - &start).clip(1.0).dot(&start))
    };
    let (before, after) = before_and_after(client(at_start), 1);
    assert_eq!(bits(&after), bits(&before));
}

#[test]
fn entries_are_chosen_one_by_one() {
    let larger = |w: Params| {
        let half = w.zeros_like().add_scalar(0.5);
        (&w - &half).select(&w, &half).sqrt().div(&half)
    };
    let (before, after) = before_and_after(client(move |_, w| larger(w)), 1);
    let expected: Vec<f32> = before.iter().map(|x| x.max(0.5).sqrt() / 0.5).collect();
    assert_close(&after, &expected, 1e-6);
}
