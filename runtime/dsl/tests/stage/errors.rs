//! Mistakes that staging finds.

use std::cell::RefCell;
use std::rc::Rc;

use super::staged;
use fedround::__private::{for_each, hyper};
use fedround::StageError;
use fedround::optim::{Adam, Optimizer, Sgd};
use fedround::prelude::*;

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
        text.contains("errors.rs") && text.contains("`params@server` is captured"),
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
fn a_loop_starts_an_optimizer_anew_with_the_settings_it_had() {
    let again = |next: fn(&Scalar) -> Sgd| {
        staged(move |m| {
            m.client_update(move |k, w| {
                let lr = hyper("lr", &0.1_f32);
                let start = Sgd::new(&lr).momentum(0.9).start(&w);
                let (w, _) = for_each(k.batches(1, 10), (w, start), |b, (w, opt)| {
                    let (mut w, mut opt) = (w, opt);
                    let g = grad(&w, |w| cross_entropy(k.forward(w, &b.x), &b.y));
                    opt.step(&mut w, g);
                    opt = next(&lr).start(&w);
                    (w, opt)
                });
                w
            });
        })
    };
    again(|lr| Sgd::new(lr).momentum(0.9)).unwrap();
    for other in [
        |lr: &Scalar| Sgd::new(lr).momentum(0.5),
        |lr: &Scalar| Sgd::new(0.5 * lr).momentum(0.9),
        |lr: &Scalar| Sgd::new(lr).momentum(0.9).nesterov(),
    ] {
        let text = again(other).unwrap_err().to_string();
        assert!(text.contains("an optimizer of other settings"), "{text}");
    }
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
fn a_phase_has_one_length() {
    let again = |rounds: usize| {
        staged(move |m| {
            m.round(move |server, w| {
                let first = server.phase("warm-up", 2_usize);
                let again = server.phase("warm-up", rounds);
                if first && again { 2.0 * w } else { w }
            });
        })
    };
    again(2).unwrap();
    let text = again(5).unwrap_err().to_string();
    let expected = "phase `warm-up` has 5 rounds here and 2 where it was declared first";
    assert!(text.contains(expected), "{text}");
}

#[test]
fn a_state_has_one_meaning() {
    let keeping = |beside: &'static str| {
        staged(move |m| {
            m.client_update(move |k, w| {
                let mut w = w.clone();
                let mut opt = Adam::new(0.1).resume(k, "local", &w);
                let g = grad(&w, |w| w.sq_norm());
                opt.step(&mut w, g);
                opt.keep(k, "local");
                k.set_state(beside, &w);
                let kept = k.state(beside);
                w + kept
            });
        })
    };
    keeping("m").unwrap();
    let text = keeping("local_m").unwrap_err().to_string();
    let expected =
        "part `m` of the optimizer kept as `local` and client state `local_m` would both be `";
    assert!(text.contains(expected), "{text}");
    assert!(text.contains("errors.rs"), "{text}");

    // Of the server, as one value and as one for each client.
    let error = staged(|m| {
        m.round(|server, w| {
            server.set_state("seen", &w);
            let w_k = w.broadcast(&server.all_clients()).map(|_, w| w);
            let w_k = w_k.gather().map(|client, w| {
                client.set_state("seen", &w);
                w
            });
            w_k.mean() + server.state("seen")
        });
    });
    let text = error.unwrap_err().to_string();
    let expected = "server state `seen` and server state of each client `seen` would both be `";
    assert!(text.contains(expected), "{text}");
}

#[test]
fn values_of_two_algorithms_do_not_mix() {
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
