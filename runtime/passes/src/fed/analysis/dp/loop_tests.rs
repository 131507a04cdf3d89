//! Noise in loops of clients: how often a round adds it, and what it hides.

use fedround::__private::{for_each, range};
use fedround::prelude::*;
use fedround::{Definer, cross_entropy};

use super::{Mechanism, RowSteps, Unit, mechanisms};
use crate::loop_count::LoopCount;
use crate::testing::{Closure, linked};

/// The only mechanism of a round of clients that train by `train`.
#[track_caller]
fn only(claim: Option<Dp>, train: fn(&ClientCx, Params) -> Params) -> Mechanism {
    let found = mechanisms(&linked(&Closure(move |m: &mut Definer| {
        m.round(|server, w| {
            if let Some(dp) = claim {
                server.claim(dp);
            }
            w.broadcast(&server.all_clients()).map(train).mean()
        });
    })));
    assert!(found.unknown.is_empty(), "{found:?}");
    let [found] = found.known.as_slice() else {
        panic!("{found:?}")
    };
    found.clone()
}

/// A step along a gradient of length 2 at most, with noise of 3. Running statistics stay out of it.
fn step(k: &ClientCx, w: &Params, (x, y): (&Tensor, &Labels)) -> Params {
    let at = w.replace_parts(&["Buffer"], &w.zeros_like());
    let g = grad(&at, |w| cross_entropy(k.forward(w, x), y));
    w - 0.1 * g.clip(2.0).noise(3.0)
}

fn repetitions(times: u64, batches: &[u64]) -> Option<LoopCount> {
    let batches = batches.to_vec();
    Some(LoopCount { times, batches })
}

#[test]
fn noise_outside_of_loops_is_added_once() {
    let found = only(None, |k, w| {
        let b = k.batch(4);
        step(k, &w, (&b.x, &b.y))
    });
    assert_eq!(found.repetitions, repetitions(1, &[]));
    assert_eq!(found.repetitions.unwrap().count(1000), 1);
}

#[test]
fn each_step_of_local_training_is_counted() {
    let found = only(Some(Dp::Local), |k, w| {
        for_each(range(2), w, |(), w: Params| {
            for_each(k.batches(3, 10), w, |b, w: Params| {
                step(k, &w, (&b.x, &b.y))
            })
        })
    });
    assert_eq!((found.unit, found.steps), (Unit::Client, None));
    assert_eq!(found.repetitions, repetitions(2 * 3, &[10]));
    // The last batch is a smaller one.
    assert_eq!(found.repetitions.unwrap().count(25), 2 * 3 * 3);
}

#[test]
fn loops_over_rows_of_examples_are_counted() {
    let found = only(Some(Dp::Local), |k, w| {
        let rows = k.collect(16, |b| (b.x.clone(), b.y.clone()));
        for_each(k.rows(5, 8, rows), w, |(x, y), w: Params| {
            step(k, &w, (&x, &y))
        })
    });
    assert_eq!(found.repetitions, repetitions(5, &[8]));
}

#[test]
fn rows_that_others_share_may_be_any_number() {
    let found = mechanisms(&linked(&Closure(|m: &mut Definer| {
        m.round(|server, w| {
            let sent = w.broadcast(&server.all_clients());
            let x_k = sent.map(|k, _| k.batch(4).x.release("a"));
            let pool = x_k.gather().concat().broadcast(&server.all_clients());
            let w_k = sent.zip(&pool).map(|k, (w, x)| {
                for_each(k.rows(5, 8, x.tensor()), w, |x, w: Params| {
                    let g = grad(&w, |w| loss("one", &k.forward(w, &x)));
                    &w - 0.1 * g.clip(2.0).noise(3.0)
                })
            });
            w_k.mean()
        });
    })));
    assert_eq!(found.known.len(), 1, "{found:?}");
    assert_eq!(found.known[0].repetitions, None);
}

/// DP-SGD on a client: noise of 3 on the sum of a batch's gradients, each of length 2 at most.
fn dp_sgd(k: &ClientCx, w: Params) -> Params {
    let own = k.collect(16, |b| (b.x.clone(), b.y.clone()));
    for_each(k.rows(3, 10, own), w, |rows, w: Params| {
        let at = w.replace_parts(&["Buffer"], &w.zeros_like());
        let sum = for_each(k.rows(1, 1, rows), w.zeros_like(), |(x, y), sum: Params| {
            sum + grad(&at, |w| cross_entropy(k.forward(w, &x), &y)).clip(2.0)
        });
        w - 0.1 * sum.noise(3.0)
    })
}

#[test]
fn local_dp_sgd_is_a_mechanism_of_examples() {
    let found = only(Some(Dp::Local), dp_sgd);
    assert_eq!((found.scale, found.bound), (3.0, 2.0));
    assert_eq!((found.unit, found.central), (Unit::Row, false));
    let expected = RowSteps {
        batch: 10,
        passes: 3,
        share: Some(1.0),
    };
    assert_eq!(found.steps, Some(expected));
}

/// A loss that knows how many examples of each class there are reads all rows.
#[test]
fn local_dp_sgd_with_counts_of_labels_is_no_mechanism() {
    let found = mechanisms(&linked(&Closure(|m: &mut Definer| {
        m.round(|server, w| {
            server.claim(Dp::Local);
            let w_k = w.broadcast(&server.all_clients()).map(|k, w| {
                let own = k.collect(16, |b| (b.x.clone(), b.y.clone()));
                for_each(k.rows(3, 10, own), w, |rows, w: Params| {
                    let at = w.replace_parts(&["Buffer"], &w.zeros_like());
                    let zero = w.zeros_like();
                    let sum = for_each(k.rows(1, 1, rows), zero, |(x, y), sum: Params| {
                        let g = grad(&at, |w| {
                            let z = (&k.forward(w, &x), &k.label_counts());
                            cross_entropy(function("shift_columns", z), &y)
                        });
                        sum + g.clip(2.0)
                    });
                    w - 0.1 * sum.noise(3.0)
                })
            });
            w_k.mean()
        });
    })));
    assert!(found.known.is_empty(), "{found:?}");
    assert_eq!(found.unknown.len(), 1);
}

#[test]
fn local_dp_sgd_without_its_claim_is_no_mechanism() {
    for claim in [None, Some(Dp::Central)] {
        let found = mechanisms(&linked(&Closure(move |m: &mut Definer| {
            m.round(|server, w| {
                if let Some(dp) = claim {
                    server.claim(dp);
                }
                let w_k = w.broadcast(&server.all_clients()).map(dp_sgd);
                w_k.mean()
            });
        })));
        assert!(found.known.is_empty(), "{found:?}");
        assert_eq!(found.unknown.len(), 1);
    }
}
