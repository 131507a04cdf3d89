//! Cases of noise that is a mechanism of differential privacy, and of noise that is not.

use fedround::__private::{for_each, range};
use fedround::prelude::*;
use fedround::{Definer, stage};

use super::{Mechanism, Mechanisms, NoiseKind, RowSteps, Unit, mechanisms};
use crate::fed::link;
use crate::testing::{Closure, dp_own_head, linked};

#[test]
fn noise_on_a_mean_is_a_mechanism_of_clients() {
    let found = mechanisms(&linked(&Closure(dp_own_head)));
    assert!(found.unknown.is_empty(), "{found:?}");
    let [found] = found.known.as_slice() else {
        panic!("{found:?}")
    };
    assert_eq!((found.unit, found.bound), (Unit::Client, 2.0));
    assert!(found.cohort.is_some_and(|sum| sum.mean));
}

#[test]
fn random_numbers_hide_nothing() {
    let found = mechanisms(&linked(&Closure(|m: &mut Definer| {
        m.round(|_, w| &w + w.zeros_like().clip(1.0).noise(1.0));
    })));
    assert!(
        found.known.is_empty() && found.unknown.is_empty(),
        "{found:?}"
    );
}

type Rows = (Tensor, Labels);
type Train = fn(&ServerComputeCx, Params, Rows) -> Params;

/// A round in which the server trains on rows that clients send.
fn round(claim: Option<Dp>, train: Train) -> Closure<impl Fn(&mut Definer)> {
    Closure(move |m: &mut Definer| {
        m.round(|server, w| {
            if let Some(dp) = claim {
                server.claim(dp);
            }
            let x_k = w.broadcast(&server.all_clients()).map(|k, _| {
                let (x, y) = k.collect(16, |b| (b.x.clone(), b.y.clone()));
                let (x, y) = k.sample_row_fraction(0.2, (x, y));
                (x.release("a"), y.release("b"))
            });
            let (x, y) = (x_k.0.gather().concat(), x_k.1.gather().concat());
            server.run(|s| {
                let (x, y) = (s.get(&x).tensor(), s.get(&y).labels());
                train(s, s.get(&w), (x, y))
            })
        });
    })
}

fn found(train: Train) -> Mechanisms {
    mechanisms(&linked(&round(Some(Dp::Central), train)))
}

/// The sum of clipped gradients over rows, one by one, where each gradient is also one of `also`, a
/// function of what is trained and of the sum so far.
fn sum(
    (s, w): (&ServerComputeCx, &Params),
    (passes, size, rows): (usize, usize, Rows),
    first: Params,
    also: impl Fn(&Params, &Params) -> Option<Scalar>,
) -> Params {
    let w = w.replace_parts(&["Buffer"], &w.zeros_like());
    for_each(s.rows(passes, size, rows), first, |(x, y), sum: Params| {
        let g = grad(&w, |w| {
            let loss = s.loss(w, &x, &y);
            also(w, &sum).map_or(loss.clone(), |more| loss + more)
        });
        sum + g.clip(2.0)
    })
}

/// A step with noise of 3 on the sum of gradients of norm 2.
fn step(s: &ServerComputeCx, w: &Params, rows: Rows) -> Params {
    let sum = sum((s, w), (1, 1, rows), w.zeros_like(), |_, _| None);
    w - 0.1 * sum.noise(3.0)
}

/// Five passes in batches of eight.
fn batches(
    s: &ServerComputeCx,
    w: Params,
    rows: Rows,
    step: impl Fn(&Params, Rows) -> Params,
) -> Params {
    for_each(s.rows(5, 8, rows), w, |rows, w: Params| step(&w, rows))
}

#[test]
fn noise_on_sums_of_clipped_gradients_is_a_mechanism_of_rows() {
    let found = found(|s, w, rows| batches(s, w, rows, |w, rows| step(s, w, rows)));
    assert!(found.unknown.is_empty());
    let [found] = found.known.as_slice() else {
        panic!("{found:?}")
    };
    assert_eq!((found.scale, found.bound), (3.0, 2.0));
    assert_eq!((found.unit, found.central), (Unit::Row, true));
    let steps = found.steps.unwrap();
    let share = Some(0.2);
    let expected = RowSteps {
        batch: 8,
        passes: 5,
        share,
    };
    assert_eq!(steps, expected);
    // Each of four clients draws 149 of 743.
    assert_eq!(steps.rows(4, 743), Some(4 * 149));
    assert_eq!(
        RowSteps {
            share: None,
            ..steps
        }
        .rows(4, 743),
        None
    );
}

#[test]
fn repetitions_inside_and_around_are_passes() {
    let found = found(|s, w, rows| {
        for_each(range(3), w, |(), w: Params| {
            batches(s, w, rows.clone(), |w, rows| {
                for_each(range(2), w.clone(), |(), w: Params| {
                    step(s, &w, rows.clone())
                })
            })
        })
    });
    let steps = found.known[0].steps.unwrap();
    assert_eq!(steps.passes, 3 * 5 * 2);
}

/// The noise of a round is found, and not taken for a mechanism.
#[track_caller]
fn unknown(train: Train) {
    let found = found(train);
    assert!(found.known.is_empty(), "{found:?}");
    assert_eq!(found.unknown.len(), 1);
}

#[test]
fn a_row_that_is_in_the_sum_more_than_once_is_no_mechanism() {
    unknown(|s, w, rows| {
        batches(s, w, rows, |w, rows| {
            let sum = sum((s, w), (3, 1, rows), w.zeros_like(), |_, _| None);
            w - 0.1 * sum.noise(3.0)
        })
    });
}

#[test]
fn rows_that_share_a_bound_are_no_mechanism() {
    unknown(|s, w, rows| {
        batches(s, w, rows, |w, rows| {
            let sum = sum((s, w), (1, 2, rows), w.zeros_like(), |_, _| None);
            w - 0.1 * sum.noise(3.0)
        })
    });
}

#[test]
fn rows_beyond_the_batch_are_no_mechanism() {
    unknown(|s, w, all| batches(s, w, all.clone(), |w, _| step(s, w, all.clone())));
}

#[test]
fn a_batch_within_a_batch_is_no_mechanism() {
    unknown(|s, w, rows| {
        batches(s, w, rows, |w, rows| {
            batches(s, w.clone(), rows, |w, rows| step(s, w, rows))
        })
    });
}

#[test]
fn a_sum_that_does_not_begin_at_zero_is_no_mechanism() {
    unknown(|s, w, rows| {
        batches(s, w, rows, |w, rows| {
            let sum = sum((s, w), (1, 1, rows), w.clone(), |_, _| None);
            w - 0.1 * sum.noise(3.0)
        })
    });
}

#[test]
fn gradients_that_know_the_sum_are_no_mechanism() {
    unknown(|s, w, rows| {
        batches(s, w, rows, |w, rows| {
            let also = |w: &Params, sum: &Params| Some(w.dot(sum));
            let sum = sum((s, w), (1, 1, rows), w.zeros_like(), also);
            w - 0.1 * sum.noise(3.0)
        })
    });
}

#[test]
fn gradients_that_know_other_rows_are_no_mechanism() {
    unknown(|s, w, rows| {
        batches(s, w, rows, |w, (x, y)| {
            let also = |w: &Params, _: &Params| Some(s.loss(w, &x, &y));
            let rows = (x.clone(), y.clone());
            let sum = sum((s, w), (1, 1, rows), w.zeros_like(), also);
            w - 0.1 * sum.noise(3.0)
        })
    });
}

#[test]
fn gradients_that_know_earlier_batches_without_noise_are_no_mechanism() {
    unknown(|s, w, rows| {
        let v = w.zeros_like();
        let both = for_each(
            s.rows(5, 8, rows),
            (w, v),
            |rows, (w, v): (Params, Params)| {
                let also = |w: &Params, _: &Params| Some(w.dot(&v));
                let sum = sum((s, &w), (1, 1, rows), w.zeros_like(), also);
                (&w - 0.1 * sum.noise(3.0), v + sum)
            },
        );
        both.0
    });
}

#[test]
fn gradients_that_know_statistics_of_other_rows_are_no_mechanism() {
    unknown(|s, w, rows| {
        batches(s, w, rows, |w, rows| {
            let copy = w.replace_parts(&["Buffer"], &w.zeros_like());
            let sum = for_each(s.rows(1, 1, rows), w.zeros_like(), |(x, y), sum: Params| {
                // Of the copy, in inference.
                let seen = s.loss(&copy, &x, &y);
                sum + (seen * grad(&copy, |w| s.loss(w, &x, &y))).clip(2.0)
            });
            w - 0.1 * sum.noise(3.0)
        })
    });
}

#[test]
fn what_is_not_claimed_is_no_mechanism() {
    let train: Train = |s, w, rows| batches(s, w, rows, |w, rows| step(s, w, rows));
    let found = mechanisms(&linked(&round(None, train)));
    assert!(found.known.is_empty(), "{found:?}");
    assert_eq!(found.unknown.len(), 1);
}

#[test]
fn running_statistics_are_told_without_noise() {
    let spec = round(Some(Dp::Central), |s, w, rows| {
        batches(s, w, rows, |w, rows| {
            let sum = for_each(s.rows(1, 1, rows), w.zeros_like(), |(x, y), sum: Params| {
                sum + grad(w, |w| s.loss(w, &x, &y)).clip(2.0)
            });
            w - 0.1 * sum.noise(3.0)
        })
    });
    let error = link(stage(&spec).unwrap()).unwrap_err().to_string();
    assert!(error.contains("running statistics"), "{error}");
}

#[test]
fn noise_on_clipped_rows_is_a_mechanism_of_rows() {
    let found = mechanisms(&linked(&Closure(|m: &mut fedround::Definer| {
        m.round(|server, w| {
            let x_k = w.broadcast(&server.all_clients()).map(|k, _| {
                let x = k.batch(10).x;
                let l1 = x.l1_rows().clip_rows(1.0).laplace(2.0 / 5.0);
                (x.clip_rows(3.0).noise(0.15).release("a"), l1.release("b"))
            });
            let (a, b) = (x_k.0.gather().concat(), x_k.1.gather().concat());
            server.run(|s| loss("both", (&*s.get(&a), &*s.get(&b))) * s.get(&w))
        });
    })));
    let numbers = |m: &Mechanism| (m.noise, m.scale, m.bound, m.l1, m.unit, m.central);
    assert!(found.unknown.is_empty());
    let found: Vec<_> = found.known.iter().map(numbers).collect();
    let row = Unit::Row;
    assert_eq!(
        found,
        [
            (NoiseKind::Laplace, 0.4, 1.0, true, row, false),
            (NoiseKind::Gaussian, 0.15, 3.0, false, row, false),
        ]
    );
}

#[test]
fn a_function_bounds_nothing_whatever_its_name() {
    let found = mechanisms(&linked(&Closure(|m: &mut fedround::Definer| {
        m.round(|server, w| {
            let x_k = w.broadcast(&server.all_clients()).map(|k, _| {
                let x = function("l1_rows", &k.batch(10).x);
                x.clip_rows(1.0).laplace(2.0 / 5.0).release("a")
            });
            let x = x_k.gather().concat();
            server.run(|s| loss("one", &*s.get(&x)) * s.get(&w))
        });
    })));
    assert!(found.unknown.is_empty());
    assert_eq!(
        found.known.iter().map(|m| m.l1).collect::<Vec<_>>(),
        [false]
    );
}
