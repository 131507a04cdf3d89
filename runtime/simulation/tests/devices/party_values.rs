//! Replies whose values no client of the algorithm sends: they cost the party's own clients the round, and
//! nobody else.

use std::sync::Arc;

use fedround_simulation::parties::Payload;
use fedround_store::{ElementType, TensorBytes};

use crate::altered_replies::coordinator;
use crate::cases::CASES;

/// The algorithm, how the replies are changed, and why they are refused.
type Lie = (&'static str, fn(&mut Payload), &'static str);

/// Why the second host was refused in a run of the algorithm's phases, in which nobody else was.
fn refused(name: &str, change: fn(&mut Payload)) -> String {
    let case = CASES.iter().find(|case| case.0 == name).unwrap();
    let mut coordinator = coordinator(case, move |mut reply| {
        change(&mut reply);
        Ok(reply)
    });
    let mut found = String::new();
    for round in 1..=case.2 {
        let stats = coordinator.run_round();
        let stats = stats.unwrap_or_else(|error| panic!("{name}, round {round}: {error}"));
        assert!(
            [&[][..], &[1]].contains(&&stats.failed[..]),
            "{name}: {stats:?}"
        );
        assert!(stats.not_finite.is_empty(), "{name}: {stats:?}");
        for (clients, why) in coordinator.party_failures() {
            assert_eq!(*clients, [1], "{name}");
            found += &format!("{why}\n");
        }
    }
    found
}

/// Replaces tensors whose names end like this, and that have such elements.
fn replace(reply: &mut Payload, end: &str, change: impl Fn(&TensorBytes) -> TensorBytes) {
    let tensors = reply.tensors.iter_mut();
    for (_, tensor) in tensors.filter(|(name, _)| name.ends_with(end)) {
        *tensor = Arc::new(change(tensor));
    }
}

/// All labels are this one.
fn label<const LABEL: i32>(reply: &mut Payload) {
    replace(reply, "labels1", |old| {
        TensorBytes::of_ints(&vec![LABEL; old.shape[0]], &old.shape)
    });
}

fn weight(reply: &mut Payload, number: f64) {
    let weights = reply.numbers.values_mut();
    weights.for_each(|bits| *bits = number.to_bits());
    replace(reply, "f32_1", |_| {
        TensorBytes::of_floats(&[number as f32], &[1])
    });
}

#[test]
fn values_that_no_client_sends_are_refused() {
    let no_rows = |reply: &mut Payload| {
        replace(reply, "labels1", |_| TensorBytes::of_ints(&[], &[0]));
    };
    let columns = |reply: &mut Payload| {
        replace(reply, "labels1", |old| TensorBytes {
            shape: vec![1, old.shape[0]],
            ..old.clone()
        });
    };
    // The same numbers in rows of half the size, and a single number.
    let halves = |reply: &mut Payload| {
        replace(reply, "tensor1", |old| {
            let shape = vec![2 * old.shape[0], old.data.len() / (8 * old.shape[0])];
            let element = ElementType::F32;
            TensorBytes {
                element,
                shape,
                data: old.data.clone(),
            }
        });
    };
    let fewer = |reply: &mut Payload| {
        replace(reply, "labels1", |old| {
            TensorBytes::of_ints(&old.ints().unwrap()[1..], &[old.shape[0] - 1])
        });
    };
    let number = |reply: &mut Payload| {
        replace(reply, "tensor1", |_| TensorBytes::of_floats(&[1.0], &[]));
    };
    let steps = |reply: &mut Payload| {
        let (before, after) = reply.head.split_once("\"steps\":").unwrap();
        let after = after.split_once(',').unwrap().1;
        reply.head = format!("{before}\"steps\":{},{after}", u64::MAX);
    };
    let lies: [Lie; 17] = [
        ("label-overlap", label::<3>, "labels of 3 classes"),
        ("label-overlap", label::<-1>, "found -1"),
        (
            "label-overlap",
            label::<{ i32::MAX }>,
            "labels of 3 classes",
        ),
        ("label-overlap", no_rows, "found the shape [0]"),
        ("label-overlap", columns, "one row or more of shape []"),
        ("fedfed", label::<77>, "labels of 3 classes"),
        ("fedfed", halves, "one row or more of shape [1, 8, 8]"),
        ("fedfed", fewer, "as many as belong to them, found 3"),
        ("split-learning", fewer, "as many as belong to them"),
        ("fedfed", number, "found the shape []"),
        ("split-learning", label::<3>, "labels of 3 classes"),
        ("adcol", halves, "one row or more of shape [8]"),
        ("fedavg", |reply| weight(reply, 1e308), "a weight from 0"),
        ("fedavg", |reply| weight(reply, -4.0), "found -4e0"),
        ("fedavg", |reply| weight(reply, f64::NAN), "found NaN"),
        ("fedavg", |reply| weight(reply, f64::INFINITY), "found inf"),
        ("fedavg", steps, "local steps"),
    ];
    for (name, change, expected) in lies {
        let found = refused(name, change);
        assert!(
            found.contains(expected),
            "{name}: expected {expected}, found {found}"
        );
    }
    // Nothing is refused where nothing is changed.
    for name in [
        "label-overlap",
        "fedfed",
        "split-learning",
        "adcol",
        "fedavg",
    ] {
        assert_eq!(refused(name, |_| ()), "", "{name}");
    }
}
