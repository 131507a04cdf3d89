//! Which rounds move running statistics.

use fedround::prelude::*;
use fedround::{Definer, ServerCx};

use super::*;
use crate::testing::{Closure, linked};

type Step = fn(&ServerCx, Server<Params>, Server<Params>) -> Server<Params>;
type Combine = fn(Server<Params>, &Clients<Params>) -> Server<Params>;

/// Whether a step of the server moves running statistics, made of the model and of what clients have sent.
fn combining_moves(combine: Combine) -> bool {
    let own = Closure(move |m: &mut Definer| {
        m.round(|server, w| {
            let d_k = w.broadcast(&server.all_clients()).map(|k, w| {
                let b = k.batch(10);
                let g = grad(&w, |w| cross_entropy(k.forward(w, &b.x), &b.y));
                (&w - 0.1 * g) - w
            });
            combine(w, &d_k)
        });
    });
    moved_statistics(&linked(&own)).is_some()
}

/// Whether a round moves running statistics.
fn round_moves(round: fn(&ServerCx, Server<Params>) -> Server<Params>) -> bool {
    let own = Closure(move |m: &mut Definer| m.round(round));
    moved_statistics(&linked(&own)).is_some()
}

/// The sum of what the clients of a cohort send, each within a bound.
fn sum(w: &Server<Params>, cohort: &Cohort) -> Server<Params> {
    let d_k = w.broadcast(cohort).map(|k, w| {
        let b = k.batch(10);
        let g = grad(&w, |w| cross_entropy(k.forward(w, &b.x), &b.y));
        ((&w - 0.1 * g) - w).clip(1.0)
    });
    d_k.sum()
}

/// Whether a step of the server from its model and the mean of the clients' moves running statistics.
fn moves(step: Step) -> bool {
    let own = Closure(move |m: &mut Definer| {
        m.round(|server, w| {
            let w_k = w.broadcast(&server.all_clients()).map(|k, w| {
                let b = k.batch(10);
                let g = grad(&w, |w| cross_entropy(k.forward(w, &b.x), &b.y));
                w - 0.1 * g
            });
            step(server, w, w_k.mean())
        });
    });
    moved_statistics(&linked(&own)).is_some()
}

#[test]
fn means_and_parts_of_the_way_are_between_models() {
    assert!(!moves(|_, _, mean| mean));
    assert!(!moves(|_, w, mean| &w + 0.5 * (mean - &w)));
    assert!(!moves(|_, w, mean| 0.3 * w + 0.7 * mean));
    assert!(!moves(|server, w, mean| {
        let kept = server.state_or("kept", &w);
        let next = 0.9 * kept + 0.1 * mean;
        server.set_state("kept", &next);
        next
    }));
}

/// They are means, which divide sums by what is known in the round alone.
#[test]
fn quotients_of_sums_are_not_known_to_move_them() {
    assert!(!combining_moves(|w, d_k| {
        let n = d_k.map(|k, _| k.num_examples()).sum();
        w + d_k.map(|k, d| k.num_examples() * d).sum() / n
    }));
    assert!(!combining_moves(|w, d_k| {
        let a_k = d_k.map(|_, d| d.sq_norm());
        w + d_k.weighted_sum(&a_k) / a_k.sum()
    }));
    assert!(!combining_moves(|w, d_k| w + d_k.mean()));
}

#[test]
fn sums_move_them_as_means_do() {
    assert!(!round_moves(|server, w| {
        let s_t = server.sample(0.5);
        let sum = sum(&w, &s_t);
        w + 0.5 * sum / s_t.num_clients()
    }));
    assert!(!round_moves(|server, w| {
        let sum = sum(&w, &server.all_clients());
        w + sum / 100.0
    }));
    assert!(round_moves(|server, w| {
        let sum = sum(&w, &server.bernoulli(0.5));
        w + sum.noise(0.1) / server.num_clients()
    }));
    assert!(round_moves(|server, w| {
        let s_t = server.reshuffled(5_usize);
        let sum = sum(&w, &s_t);
        w + sum.tree_noise(0.1, &s_t) / 5.0
    }));
    assert!(round_moves(|server, w| {
        let s_t = server.sample(0.5);
        let v = 0.9 * server.state("v") + sum(&w, &s_t) / s_t.num_clients();
        server.set_state("v", &v);
        w + v
    }));
    assert!(round_moves(|server, w| {
        let s_t = server.sample(0.5);
        let sum = sum(&w, &s_t);
        w + 1.5 * (sum / s_t.num_clients())
    }));
}

#[test]
fn noise_and_bounds_move_them() {
    assert!(combining_moves(|w, d_k| w + d_k
        .mean()
        .clip(1.0)
        .noise(0.1)));
    assert!(combining_moves(|w, d_k| w + d_k.mean().clip(1.0)));
    // Nobody knows before the round how far this goes.
    assert!(combining_moves(|w, d_k| {
        let far = d_k.map(|_, d| d.sq_norm()).mean();
        w + far * d_k.mean()
    }));
}

fn momentum(server: &ServerCx, w: &Server<Params>, mean: &Server<Params>) -> Server<Params> {
    let v = 0.9 * server.state("v") + (mean - w);
    server.set_state("v", &v);
    w + v
}

#[test]
fn momenta_long_and_adaptive_steps_move_them() {
    assert!(moves(|server, w, mean| momentum(server, &w, &mean)));
    assert!(moves(|_, w, mean| &w + 1.5 * (mean - &w)));
    assert!(moves(|_, w, mean| {
        let delta = mean - &w;
        w + 0.1 * delta.div(&delta.mul(&delta).sqrt().add_scalar(0.001))
    }));
}

#[test]
fn restored_statistics_are_not_moved() {
    assert!(!moves(|server, w, mean| {
        momentum(server, &w, &mean).replace_parts(&["Buffer"], &mean)
    }));
    assert!(moves(|server, w, mean| {
        momentum(server, &w, &mean).replace_parts(&["head"], &mean)
    }));
}
