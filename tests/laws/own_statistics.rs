//! Equal trees have running statistics of their own: a gradient moves those of its point and of no other tree.

use fedround::__private::{Definer, for_each, range};
use fedround::data::Examples;
use fedround::prelude::*;
use fedround::simulation::{CohortBatch, Simulation};

use crate::common::{Deal, assert_close, dealt, digits, leaves, run, weights};
use crate::optimizers::Closure;
use crate::training::{MEAN, moments, near, start};

fn images() -> Examples {
    digits(12, 1).train
}

/// A round in which every client runs `update` and the server takes the mean.
fn clients(
    deal: Deal,
    update: impl Fn(&ClientCx, Params) -> Params + Copy + 'static,
) -> Simulation {
    let define = move |m: &mut Definer| {
        m.round(move |s, w| w.broadcast(&s.all_clients()).map(update).mean());
    };
    start(&Closure(define), deal)
}

/// The running mean after a round of one client, as a multiple of the mean of its images.
fn moved(update: impl Fn(&ClientCx, Params) -> Params + Copy + 'static) -> f32 {
    let all: Vec<usize> = (0..12).collect();
    let mut simulation = clients(dealt(&images(), vec![all.clone()], 3), update);
    assert_eq!(leaves(&simulation)[MEAN], [0.0]);
    run(&mut simulation, 1);
    let (mean, _) = moments(&images(), &all);
    (f64::from(leaves(&simulation)[MEAN][0]) / mean) as f32
}

/// The gradient at `w`, whose running statistics it moves by a tenth of the way to those of the client's images.
fn slope(k: &ClientCx, w: &Params) -> Params {
    let b = k.batch(12);
    grad(w, |w| cross_entropy(k.forward(w, &b.x), &b.y))
}

#[test]
fn a_copy_keeps_the_statistics_that_it_was_made_with() {
    near(moved(|k, w| &w - slope(k, &w)), 0.1);
    let kept = moved(|k, w| {
        let copy = 1.0 * &w;
        copy - slope(k, &w)
    });
    near(kept, 0.0);
    let negative = moved(|k, w| {
        let minus = -1.0 * &w;
        slope(k, &w) + minus
    });
    near(negative, 0.0);
}

#[test]
fn zeros_where_a_gradient_is_taken_have_statistics() {
    let moved = moved(|k, w| {
        let zeros = 0.0 * &w;
        let g = slope(k, &zeros);
        &w + &zeros - g
    });
    near(moved, 0.1);
}

#[test]
fn a_loop_without_turns_gives_another_tree() {
    let after = moved(|k, w| {
        let (next,) = for_each(range(0), (w.clone(),), |(), (w,)| (2.0 * w,));
        &w - slope(k, &next)
    });
    near(after, 0.0);
    // Each turn hands `old` on as it is, and moves the statistics of what it began as.
    let handed_on = moved(|k, w| {
        let (sum, old) = for_each(range(2), (w.zeros_like(), w.clone()), |(), (sum, old)| {
            (sum + slope(k, &w), old)
        });
        old - sum
    });
    near(handed_on, 0.0);
}

#[test]
fn the_same_code_before_and_after_a_gradient_has_other_statistics() {
    let difference = moved(|k, w| {
        let before = 2.0 * &w;
        let g = slope(k, &w);
        2.0 * &w - before - g
    });
    near(difference, 0.2);
}

#[test]
fn parts_of_the_differentiated_tree_move_its_statistics() {
    // The pass is of another tree's weights with its running statistics.
    let replaced = moved(|k, w| {
        let (b, other) = (k.batch(12), 3.0 * &w);
        let g = grad(&w, |w| {
            cross_entropy(k.forward(&other.replace_parts(&["Buffer"], w), &b.x), &b.y)
        });
        w - g
    });
    near(replaced, 0.1);
    // A sum has statistics of its own.
    let sum = moved(|k, w| {
        let b = k.batch(12);
        let g = grad(&w, |w| cross_entropy(k.forward(&(2.0 * w), &b.x), &b.y));
        w - g
    });
    near(sum, 0.0);
}

#[test]
fn passes_on_trees_that_share_statistics_follow_one_another() {
    // Two passes on trees that were made before the first pass, and one on what they share the statistics of.
    let thrice = moved(|k, w| {
        let (b, others) = (k.batch(12), [3.0 * &w, 5.0 * &w]);
        let g = grad(&w, |w| {
            let sharing = others.each_ref().map(|t| t.replace_parts(&["Buffer"], w));
            let loss = |w: &Params| cross_entropy(k.forward(w, &b.x), &b.y);
            loss(&sharing[0]) + loss(w) + loss(&sharing[1])
        });
        w - g
    });
    near(thrice, 1.0 - 0.9_f64.powi(3));
}

#[test]
fn a_gradient_inside_a_gradient_moves_the_statistics_of_its_point() {
    let inner = moved(|k, w| {
        let b = k.batch(12);
        let g = grad(&w, |v| {
            let inner = slope(k, &w);
            cross_entropy(k.forward(&(v - 0.1 * inner), &b.x), &b.y)
        });
        w - g
    });
    near(inner, 0.1);
    // Where the outer one has a pass on the same statistics, it goes on from there.
    let both = |point: fn(&Params, &Params) -> Params| {
        moved(move |k, w| {
            let b = k.batch(12);
            let g = grad(&w, |v| {
                let inner = slope(k, &point(&w, v));
                cross_entropy(k.forward(v, &b.x), &b.y) + 1e-3 * inner.dot(v)
            });
            w - g
        })
    };
    near(both(|w, _| w.clone()), 0.19);
    near(both(|w, v| (3.0 * w).replace_parts(&["Buffer"], v)), 0.19);
}

#[test]
fn a_tree_that_is_made_in_each_turn_has_new_statistics() {
    let moved = moved(|k, w| {
        let (sum,) = for_each(range(2), (w.zeros_like(),), |(), (sum,)| {
            let z = 2.0 * &w;
            let g = slope(k, &z);
            (sum + &z - g,)
        });
        sum
    });
    near(moved, 0.2);
}

/// Takes gradients on public examples, as often as it has batches of its own.
fn on_public(k: &ClientCx, w: Params) -> Params {
    let (sum,) = for_each(k.batches(1, 4), (w.zeros_like(),), |_, (sum,)| {
        let b = k.public();
        (sum + grad(&w, |w| cross_entropy(k.forward(w, &b.x), &b.y)),)
    });
    w - 0.1 * sum
}

#[test]
fn clients_that_sit_out_a_step_keep_theirs() {
    let parts = vec![(0..4).collect(), (4..12).collect()];
    let of = |batch| {
        let public = digits(6, 1).train;
        let simulation = clients(dealt(&images(), parts.clone(), 3), on_public);
        let mut simulation = simulation.with_cohort_batch(batch).with_public(public);
        run(&mut simulation, 1);
        weights(&simulation)
    };
    assert_close(&of(CohortBatch::Clients(2)), &of(CohortBatch::Off), 1e-6);
}
