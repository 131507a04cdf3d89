//! Cases of noise on sums over a cohort that is a mechanism of clients, or is not.

use fedround::prelude::*;

use super::{CohortSum, Draw, Mechanisms, Unit, mechanisms};
use crate::fed::link;
use crate::testing::{Closure, linked};

/// What each client clips to 2: a gradient on its examples.
fn clipped(k: &ClientCx, w: &Params) -> Params {
    let (b, w) = (k.batch(10), w.replace_parts(&["Buffer"], &w.zeros_like()));
    grad(&w, |w| cross_entropy(k.forward(w, &b.x), &b.y)).clip(2.0)
}

fn found(round: fn(&ServerCx, Server<Params>) -> Server<Params>) -> Mechanisms {
    mechanisms(&linked(&Closure(move |m: &mut fedround::Definer| {
        m.round(round)
    })))
}

fn of(round: fn(&ServerCx, Server<Params>) -> Server<Params>) -> CohortSum {
    let found = found(round);
    let [one] = found.known.as_slice() else {
        panic!("{found:?}")
    };
    assert_eq!(
        (one.bound, one.scale, one.unit, one.central),
        (2.0, 3.0, Unit::Client, true)
    );
    one.cohort.unwrap()
}

fn sum(server: &ServerCx, w: &Server<Params>, s_t: &Cohort) -> Server<Params> {
    server.claim(Dp::Central);
    w.broadcast(s_t).map(|k, w| clipped(k, &w)).sum()
}

#[test]
fn dp_fed_avg_is_a_mechanism_of_clients() {
    let poisson = of(|server, w| {
        let sum = sum(server, &w, &server.bernoulli(0.25)).noise(3.0);
        w - 0.1 * sum
    });
    assert_eq!((poisson.draw, poisson.mean), (Draw::Bernoulli(0.25), false));
    let fixed = of(|server, w| {
        server.claim(Dp::Central);
        let g_k = w.broadcast(&server.sample(0.5)).map(|k, w| clipped(k, &w));
        w - g_k.mean().noise(3.0)
    });
    assert_eq!((fixed.draw, fixed.mean), (Draw::Fraction(0.5), true));
    let all = of(|server, w| {
        let sum = sum(server, &w, &server.all_clients()).noise(3.0);
        w - 0.1 * sum
    });
    assert_eq!(all.draw, Draw::Fraction(1.0));
}

#[test]
fn what_is_not_bounded_by_a_client_has_no_epsilon() {
    let unknown = |round| {
        let found = found(round);
        assert!(found.known.is_empty(), "{found:?}");
        assert_eq!(found.unknown.len(), 1);
    };
    // The mean of a cohort of any size.
    unknown(|server, w| {
        server.claim(Dp::Central);
        let g_k = w
            .broadcast(&server.bernoulli(0.5))
            .map(|k, w| clipped(k, &w));
        w - g_k.mean().noise(3.0)
    });
    // Added several times.
    unknown(|server, w| {
        let s_t = server.all_clients();
        let first = sum(server, &w, &s_t);
        fedround::__private::for_each(fedround::__private::range(3), w, |_, w: Server<Params>| {
            w - first.noise(3.0)
        })
    });
    // Without a claim, what is told in other rounds may be anything.
    unknown(|server, w| {
        let g_k = w
            .broadcast(&server.all_clients())
            .map(|k, w| clipped(k, &w));
        w - g_k.sum().noise(3.0)
    });
}

/// Adaptive clipping: gradients with a bound that a state has, and whether they are within it.
fn adaptive(
    server: &ServerCx,
    w: Server<Params>,
    (noise, count_noise): (f64, Option<f64>),
) -> Server<Params> {
    server.claim(Dp::Central);
    let s_t = server.bernoulli(0.25);
    let c = server.scalar_state_or("c", 1.0);
    let sent = w.broadcast(&s_t).zip(&c.broadcast(&s_t));
    let (g_k, b_k) = sent.map(|k, (w, c)| {
        let g = clipped(k, &w);
        let within = (g.sq_norm() - &c * &c).select(-0.5, 0.5);
        (g.clip(&c), within.clip(0.5))
    });
    let count = match count_noise {
        Some(sigma) => b_k.sum().noise(sigma),
        None => b_k.sum(),
    };
    server.set_state("c", &(&c * (-0.2 * count).exp()));
    w - g_k.sum().noise(noise * &c)
}

#[test]
fn a_bound_that_rounds_compute_has_noise_in_bounds() {
    let found = found(|server, w| adaptive(server, w, (1.5, Some(2.0))));
    assert!(found.unknown.is_empty(), "{found:?}");
    let numbers = found.known.iter().map(|m| (m.scale, m.bound, m.adaptive));
    let mut numbers: Vec<_> = numbers.collect();
    numbers.sort_by(|a, b| a.0.total_cmp(&b.0));
    assert_eq!(numbers, [(1.5, 1.0, true), (2.0, 0.5, false)]);
    // Both are sums over one cohort.
    let joint = found.joint();
    assert_eq!(joint.iter().map(Vec::len).collect::<Vec<_>>(), [2]);
}

#[test]
fn a_claim_with_adaptive_clipping_needs_noise_on_both_sums() {
    let refused = |noise, count_noise| {
        let spec = Closure(move |m: &mut fedround::Definer| {
            m.round(move |server, w| adaptive(server, w, (noise, count_noise)));
        });
        let error = link(fedround::stage(&spec).unwrap())
            .unwrap_err()
            .to_string();
        assert!(error.contains("central differential privacy"), "{error}");
        error
    };
    assert!(refused(1.5, None).contains("a server state"));
    assert!(refused(1.5, Some(0.0)).contains("deviation of this noise is 0"));
    // No noise, times any bound.
    assert!(refused(0.0, Some(2.0)).contains("deviation of this noise is 0"));
    // The square root of a number below 0.
    assert!(refused(f64::NAN, Some(2.0)).contains("deviation of this noise is NaN"));
    assert!(refused(f64::INFINITY, Some(2.0)).contains("deviation of this noise is inf"));
}

#[test]
fn noise_in_units_of_another_bound_has_no_epsilon() {
    let found = found(|server, w| {
        server.claim(Dp::Central);
        let s_t = server.bernoulli(0.25);
        let (c, other) = (server.scalar_state("c"), server.scalar_state("other"));
        server.set_state("c", &(&c + 1.0));
        server.set_state("other", &(&other + 1.0));
        let sent = w.broadcast(&s_t).zip(&c.broadcast(&s_t));
        let g_k = sent.map(|k, (w, c)| clipped(k, &w).clip(&c));
        w - g_k.sum().noise(other)
    });
    assert!(found.known.is_empty(), "{found:?}");
    assert_eq!(found.unknown.len(), 1);
}

#[test]
fn sums_over_two_cohorts_are_two_mechanisms() {
    let found = found(|server, w| {
        let of = |s_t| sum(server, &w, &s_t).noise(3.0);
        let both = of(server.bernoulli(0.25)) + of(server.bernoulli(0.25));
        &w - both
    });
    assert_eq!((found.known.len(), found.joint().len()), (2, 2));
}

/// What is sent for the second sum is made of the first. Who takes part is drawn once for both.
#[test]
fn a_sum_that_depends_on_another_of_its_round_is_one_mechanism_with_it() {
    let found = found(|server, w| {
        let s_t = server.bernoulli(0.25);
        let next = &w - sum(server, &w, &s_t).noise(3.0);
        &next - sum(server, &next, &s_t).noise(3.0)
    });
    assert_eq!((found.known.len(), found.joint().len()), (2, 1));
}

/// Each of the server's values for the clients may depend on all of them.
#[test]
fn noise_of_the_server_for_each_client_counts_once_if_it_reads_what_that_client_sent() {
    let repetitions = |round| {
        let found = found(round);
        let [one] = found.known.as_slice() else {
            panic!("{found:?}")
        };
        one.repetitions.clone()
    };
    let own = repetitions(|server, w| {
        server.claim(Dp::Central);
        let w_k = w.broadcast(&server.all_clients());
        let g_k = w_k.map(|k, w| clipped(k, &w)).gather();
        &w + g_k.map(|_, x| x.clip(2.0).noise(3.0)).mean()
    });
    assert!(own.is_some());
    let all = repetitions(|server, w| {
        server.claim(Dp::Central);
        let w_k = w.broadcast(&server.all_clients());
        let g_k = w_k.map(|k, w| clipped(k, &w)).gather();
        let mean = g_k.mean();
        &w + g_k
            .map(|k, x| (x - k.get(&mean)).clip(2.0).noise(3.0))
            .mean()
    });
    assert!(all.is_none());
}

#[test]
fn a_clip_without_noise_is_no_mechanism() {
    let found = found(|server, w| {
        let g_k = w
            .broadcast(&server.all_clients())
            .map(|k, w| clipped(k, &w));
        w - g_k.mean()
    });
    assert!(found.known.is_empty() && found.unknown.is_empty());
}

#[test]
fn noise_in_passes_is_a_mechanism_of_clients_who_are_in_one_sum_of_each() {
    let plain = of(|server, w| {
        let sum = sum(server, &w, &server.reshuffled(5_usize)).noise(3.0);
        w - 0.1 * sum
    });
    assert_eq!((plain.draw, plain.tree), (Draw::Passes(5), false));
    let tree = of(|server, w| {
        let s_t = server.reshuffled(5_usize);
        let sum = sum(server, &w, &s_t).tree_noise(3.0, &s_t);
        w - 0.1 * sum
    });
    assert_eq!((tree.draw, tree.tree), (Draw::Passes(5), true));
    let unknown = |round| {
        let found = found(round);
        assert!(found.known.is_empty(), "{found:?}");
        assert_eq!(found.unknown.len(), 1);
    };
    // The tree is over other passes than those of the sum.
    unknown(|server, w| {
        let others = server.reshuffled(4_usize);
        let sum = sum(server, &w, &server.reshuffled(5_usize));
        w - sum.tree_noise(3.0, &others)
    });
    // Clients take part in several rounds of a pass.
    unknown(|server, w| {
        let sum = sum(server, &w, &server.sample(0.5));
        w - sum.tree_noise(3.0, &server.reshuffled(5_usize))
    });
    // The divisor of a mean changes where a client fails.
    unknown(|server, w| {
        server.claim(Dp::Central);
        let s_t = server.reshuffled(5_usize);
        let g_k = w.broadcast(&s_t).map(|k, w| clipped(k, &w));
        w - g_k.mean().tree_noise(3.0, &s_t)
    });
    // A bound that falls: the noise of a node is of the round in which it opens.
    unknown(|server, w| {
        server.claim(Dp::Central);
        let s_t = server.reshuffled(5_usize);
        let c = server.scalar_state_or("c", 1.0);
        server.set_state("c", &(0.5 * &c));
        let sent = w.broadcast(&s_t).zip(&c.broadcast(&s_t));
        let g_k = sent.map(|k, (w, c)| clipped(k, &w).clip(&c));
        w - g_k.sum().tree_noise(2.0 * &c, &s_t)
    });
}
