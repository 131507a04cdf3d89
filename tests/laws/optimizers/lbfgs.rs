//! Laws of L-BFGS.

use fedround::__private::for_each;
use fedround::optim::Lbfgs;
use fedround::prelude::*;

use super::{EXAMPLES, before_and_after, client};
use crate::common::{assert_close, bits, run};

/// Where the quadratic begins; `r` is what the client received.
fn curvature(r: &Params) -> Params {
    (10.0 * r.mul(r)).add_scalar(1.0)
}

/// `½ ⟨w, D w⟩ − ⟨r, w⟩` with `D = 10 r² + 1`: least at `r / D`.
fn quadratic(w: &Params, r: &Params) -> Scalar {
    0.5 * w.dot(&curvature(r).mul(w)) - r.dot(w)
}

fn minimized(opt: fn() -> Lbfgs, iterations: usize) -> (Vec<f32>, Vec<f32>) {
    let update =
        move |_: &ClientCx, r: Params| opt().minimize(&r, iterations, |w| quadratic(w, &r));
    before_and_after(client(update), 1)
}

fn reference(r: &[f32], history: usize, iterations: usize) -> Vec<f32> {
    let r: Vec<f64> = r.iter().copied().map(f64::from).collect();
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let axpy =
        |y: &mut [f64], s: f64, x: &[f64]| y.iter_mut().zip(x).for_each(|(y, x)| *y += s * x);
    let minus =
        |a: &[f64], b: &[f64]| -> Vec<f64> { a.iter().zip(b).map(|(a, b)| a - b).collect() };
    let gradient = |w: &[f64]| -> Vec<f64> {
        w.iter()
            .zip(&r)
            .map(|(w, r)| (10.0 * r * r + 1.0) * w - r)
            .collect()
    };
    let (mut w, mut pairs) = (r.clone(), Vec::<(Vec<f64>, Vec<f64>)>::new());
    let mut g = gradient(&w);
    for _ in 0..iterations {
        let (mut d, mut alphas) = (g.clone(), vec![]);
        for (s, y) in pairs.iter().rev() {
            let alpha = dot(s, &d) / dot(s, y);
            axpy(&mut d, -alpha, y);
            alphas.push(alpha);
        }
        let gamma = match pairs.last() {
            Some((s, y)) => dot(s, y) / dot(y, y),
            None => (1.0 / dot(&g, &g).sqrt()).min(1.0),
        };
        d.iter_mut().for_each(|d| *d *= gamma);
        for ((s, y), alpha) in pairs.iter().zip(alphas.iter().rev()) {
            let beta = dot(y, &d) / dot(s, y);
            axpy(&mut d, alpha - beta, s);
        }
        let next: Vec<f64> = minus(&w, &d);
        let next_g = gradient(&next);
        pairs.push((minus(&next, &w), minus(&next_g, &g)));
        if pairs.len() > history {
            pairs.remove(0);
        }
        (w, g) = (next, next_g);
    }
    w.into_iter().map(|x| x as f32).collect()
}

#[test]
fn the_two_loops_are_the_textbooks() {
    for iterations in [1, 2, 3, 6] {
        let (r, w) = minimized(|| Lbfgs::new(3), iterations);
        assert_close(&w, &reference(&r, 3, iterations), 1e-4);
    }
}

#[test]
fn a_quadratic_is_minimized_in_few_iterations() {
    for opt in [|| Lbfgs::new(5), || Lbfgs::new(5).armijo(10)] {
        let (r, w) = minimized(opt, 15);
        let least: Vec<f32> = r.iter().map(|r| r / (10.0 * r * r + 1.0)).collect();
        assert_close(&w, &least, 1e-3);
    }
}

/// The training loss of a client's whole data after some iterations, from too large a step.
fn losses(opt: fn() -> Lbfgs, rounds: usize) -> Vec<f64> {
    let update = move |k: &ClientCx, w: Params| {
        for_each(k.batches(1, EXAMPLES), (w,), |b, (w,)| {
            let loss = |w: &Params| cross_entropy(k.forward(w, &b.x), &b.y) + 0.005 * w.sq_norm();
            (opt().minimize(&w, 3, loss),)
        })
        .0
    };
    // A round's training loss is the mean of its iterations', each before its step.
    let mut simulation = client(update);
    (0..rounds)
        .map(|_| run(&mut simulation, 1).train_loss)
        .collect()
}

#[test]
fn a_search_never_raises_the_loss() {
    let searched = losses(|| Lbfgs::new(3).lr(64.0).armijo(20), 6);
    assert!(
        searched.windows(2).all(|pair| pair[1] <= pair[0]),
        "{searched:?}"
    );
    assert!(searched[5] < 0.5 * searched[0], "{searched:?}");
}

#[test]
fn a_search_ends_when_it_has_found_a_step() {
    // Through all of these tries it would take hours.
    let (_, endless) = minimized(|| Lbfgs::new(3).lr(8.0).armijo(100_000_000), 4);
    let (_, short) = minimized(|| Lbfgs::new(3).lr(8.0).armijo(20), 4);
    assert_eq!(bits(&endless), bits(&short));
}

#[test]
fn no_step_is_taken_where_none_is_enough() {
    // Against the direction of the search every step size raises the loss.
    let (before, after) = minimized(|| Lbfgs::new(3).lr(-1.0).armijo(5), 3);
    assert_eq!(bits(&after), bits(&before));
}
