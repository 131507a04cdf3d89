mod kinds;
mod laws;
mod local;
mod text;

use super::*;
use fedround_random::SEED;

/// A number that depends on who got what and in which order.
fn fingerprint(parts: &[Vec<usize>]) -> u64 {
    let dealt = parts.iter().flatten().enumerate();
    dealt
        .map(|(at, &example)| (at as u64 + 1) * example as u64)
        .sum()
}

fn cycle(n: usize, classes: usize) -> Vec<u16> {
    (0..n).map(|i| (i * 7 % classes) as u16).collect()
}

#[test]
fn iid_is_that_of_the_benchmarks() {
    let parts = Partition::Iid.split(&[0; 60_000], 1, 1000, SEED).unwrap();
    assert_eq!(parts[0][..5], [17866, 46974, 9556, 28694, 6411]);
    assert_eq!(parts[999][55..], [34721, 21068, 47232, 57960, 37228]);
    assert_eq!(fingerprint(&parts), 54_042_772_704_812);
}

#[test]
fn shards_are_those_of_the_benchmarks() {
    let shards = Partition::Shards { per_client: 2 };
    let parts = shards.split(&cycle(1000, 10), 10, 20, SEED).unwrap();
    assert_eq!(parts[0][..5], [259, 269, 279, 289, 299]);
    assert_eq!(parts[0][25..30], [2, 12, 22, 32, 42]);
    assert_eq!(parts[19][47..], [473, 483, 493]);
    assert_eq!(fingerprint(&parts), 257_395_375);
}

#[test]
fn remainders_go_to_the_first_clients() {
    let parts = Partition::Iid.split(&[0; 11], 1, 4, 1).unwrap();
    let sizes: Vec<usize> = parts.iter().map(Vec::len).collect();
    assert_eq!(sizes, [3, 3, 3, 2]);
}

#[test]
fn two_shards_are_few_classes() {
    let labels = cycle(6000, 10);
    let shards = Partition::Shards { per_client: 2 };
    let parts = shards.split(&labels, 10, 100, 5).unwrap();
    for counts in class_counts(&parts, &labels, 10) {
        assert!(counts.iter().filter(|&&n| n > 0).count() <= 2, "{counts:?}");
        assert_eq!(counts.iter().sum::<usize>(), 60);
    }
}

#[test]
fn a_smaller_alpha_is_more_skewed() {
    let labels = cycle(20_000, 10);
    // The mean share of a client's commonest class: 0.1 if iid, at most 1.
    let skew = |alpha| {
        let partition = Partition::Dirichlet { alpha, min: None };
        let parts = partition.split(&labels, 10, 20, 11).unwrap();
        let counts = class_counts(&parts, &labels, 10);
        let share =
            |c: &Vec<usize>| *c.iter().max().unwrap() as f64 / c.iter().sum::<usize>() as f64;
        counts.iter().map(share).sum::<f64>() / 20.0
    };
    let (low, middle, high) = (skew(0.1), skew(1.0), skew(100.0));
    assert!(
        low > 0.4 && low > middle && middle > high && high < 0.15,
        "{low} {middle} {high}"
    );
}

#[test]
fn the_usual_skewed_setting_succeeds() {
    let labels = cycle(60_000, 10);
    let partition: Partition = "dirichlet:0.1".parse().unwrap();
    let parts = partition.split(&labels, 10, 100, SEED).unwrap();
    assert!(parts.iter().all(|p| p.len() >= 10));
}

#[test]
fn giving_up_is_explained() {
    let labels = cycle(1000, 10);
    let partition: Partition = "dirichlet:0.0001:5".parse().unwrap();
    let error = partition.split(&labels, 10, 50, 1).unwrap_err();
    assert_eq!(
        error.to_string(),
        "partition `dirichlet:0.0001:5` left a client with too few examples in each of 1000 tries: \
         at best the smallest of 50 clients had 0, expected 5; use a larger ALPHA, fewer clients \
         or a lower minimum (the number after ALPHA); without a minimum, clients that are too small get examples of \
         the largest ones"
    );
}

#[test]
fn what_cannot_be_dealt_is_an_error() {
    let split = |text: &str, n, clients| {
        let partition: Partition = text.parse().unwrap();
        partition
            .split(&cycle(n, 10), 10, clients, 1)
            .unwrap_err()
            .to_string()
    };
    for text in ["iid", "shards:2", "dirichlet:1"] {
        assert_eq!(
            split(text, 10, 0),
            "a partition needs at least 1 client, found 0"
        );
        assert_eq!(
            split(text, 10, 11),
            "cannot deal 10 examples to 11 clients; use at most 10 clients, or the partition shared:N, whose clients share examples"
        );
    }
    assert_eq!(
        split("shards:3", 10, 4),
        "cannot cut 10 examples into 12 shards (4 clients with 3 each); use fewer shards or fewer clients"
    );
    assert_eq!(
        split("dirichlet:1:6", 10, 2),
        "cannot give each of 2 clients at least 6 of 10 examples; \
         lower the minimum to 5 or less, or use fewer clients"
    );
    assert_eq!(
        Partition::Iid
            .split(&[0, 1, 9], 3, 2, 1)
            .unwrap_err()
            .to_string(),
        "label 9 of example 2 is out of range, expected 0 to 2"
    );
}
