//! Each kind of partition keeps the promise of its documentation.

use super::*;

fn split(
    text: &str,
    labels: &[u16],
    classes: usize,
    clients: usize,
) -> Result<Vec<Vec<usize>>, PartitionError> {
    text.parse::<Partition>()?
        .split(labels, classes, clients, SEED)
}

fn held(counts: &[usize]) -> Vec<usize> {
    (0..counts.len()).filter(|&c| counts[c] > 0).collect()
}

fn counts(text: &str, labels: &[u16], classes: usize, clients: usize) -> Vec<Vec<usize>> {
    class_counts(
        &split(text, labels, classes, clients).unwrap(),
        labels,
        classes,
    )
}

#[test]
fn quantity_skews_sizes_and_not_labels() {
    let labels = cycle(20_000, 10);
    let counts = counts("quantity:0.3", &labels, 10, 10);
    let sizes: Vec<usize> = counts.iter().map(|c| c.iter().sum()).collect();
    assert!(
        sizes.iter().max().unwrap() > &(4 * sizes.iter().min().unwrap()),
        "{sizes:?}"
    );
    for (counts, size) in counts.iter().zip(sizes).filter(|(_, size)| *size > 2000) {
        assert!(
            counts
                .iter()
                .all(|&n| n * 100 < size * 12 && n * 100 > size * 8),
            "{counts:?}"
        );
    }
}

#[test]
fn islands_hold_one_class() {
    // FedAA: data islands, then mobile devices.
    for (clients, size) in [(10, 500), (100, 50)] {
        let counts = counts("islands", &cycle(5000, 10), 10, clients);
        let classes: Vec<_> = counts.iter().map(|c| held(c)).collect();
        assert!(counts.iter().all(|c| c.iter().sum::<usize>() == size));
        assert!(classes.iter().all(|c| c.len() == 1));
        let of_class = |class| classes.iter().filter(|c| c[0] == class).count();
        assert!((0..10).all(|class| of_class(class) == clients / 10));
    }
    // Ten of a hundred classes.
    let counts = counts("islands", &cycle(5000, 100), 100, 10);
    let mut classes: Vec<_> = counts.iter().flat_map(|c| held(c)).collect();
    classes.sort_unstable();
    classes.dedup();
    assert_eq!(classes.len(), 10);
    assert_ne!(classes, (0..10).collect::<Vec<_>>());
    assert_eq!(
        split("islands", &[0, 1, 1, 1, 1, 1], 2, 4)
            .unwrap_err()
            .to_string(),
        "cannot cut the 1 examples of class 0 into 2; use fewer clients or parts"
    );
}

#[test]
fn clients_hold_k_classes() {
    let labels = cycle(10_000, 10);
    for k in [1, 2, 10] {
        let counts = counts(&format!("classes:{k}"), &labels, 10, 20);
        for (client, counts) in counts.iter().enumerate() {
            let held = held(counts);
            assert_eq!(held.len(), k);
            assert!(held.contains(&(client % 10)));
        }
        // A class goes to its holders in equal shares, and whole.
        for class in 0..10 {
            let of_class: Vec<usize> = counts.iter().map(|c| c[class]).filter(|&n| n > 0).collect();
            assert_eq!(of_class.iter().sum::<usize>(), 1000);
            assert!(of_class.iter().max().unwrap() - of_class.iter().min().unwrap() <= 1);
        }
    }
    assert_eq!(
        split("classes:11", &labels, 10, 20)
            .unwrap_err()
            .to_string(),
        "a client cannot hold 11 of 10 classes; use at most 10 classes per client"
    );
}

#[test]
fn a_subset_has_a_dominant_class() {
    let labels = cycle(10_000, 10);
    for (clients, dominant, other) in [(10, 900, 11), (20, 450, 5)] {
        for (client, counts) in counts("subset:0.9", &labels, 10, clients)
            .iter()
            .enumerate()
        {
            for (class, &n) in counts.iter().enumerate() {
                let expected = if class == client % 10 {
                    dominant
                } else {
                    other
                };
                assert!(n.abs_diff(expected) <= 1, "{counts:?}");
            }
        }
    }
    // Nobody's classes are everybody's.
    let few = counts("subset:1", &labels, 10, 2);
    assert_eq!(
        (few[0][0], few[1][0], few[0][5], few[1][5]),
        (1000, 0, 500, 500)
    );
    assert_eq!(
        split("subset:1", &[0, 0, 0, 1], 3, 3)
            .unwrap_err()
            .to_string(),
        "4 examples leave some of 3 clients without any; use fewer clients"
    );
}

#[test]
fn labels_are_drawn_as_adfl_draws_them() {
    let labels = cycle(60_000, 10);
    let mut holders = [0; 10];
    for k in [3, 4] {
        let counts = counts(&format!("labels:{k}"), &labels, 10, 30);
        let each = counts[0].iter().max().unwrap();
        for counts in &counts {
            let held = held(counts);
            assert_eq!(held.len(), k);
            assert!(held.iter().all(|&c| counts[c] == *each), "{counts:?}");
        }
        // As many as the label with most holders allows.
        let of_class = |c: usize| counts.iter().filter(|counts| counts[c] > 0).count();
        assert_eq!(*each, 6000 / (0..10).map(of_class).max().unwrap());
    }
    let partition: Partition = "labels:3".parse().unwrap();
    for seed in 0..100 {
        let parts = partition.split(&labels, 10, 30, seed).unwrap();
        for counts in class_counts(&parts, &labels, 10) {
            held(&counts).into_iter().for_each(|c| holders[c] += 1);
        }
    }
    let order = |a: usize, b: usize| holders[a] > holders[b];
    assert!(
        order(3, 2) && order(4, 6) && order(2, 1) && order(7, 9) && order(0, 9),
        "{holders:?}"
    );
    // A single draw has exactly the weights as probabilities.
    let one: Partition = "labels:1:3,1".parse().unwrap();
    let first = (0..2000).filter(|&seed| one.split(&[0, 1], 2, 1, seed).unwrap() == [[0]]);
    let first = first.count();
    assert!((1420..1580).contains(&first), "{first} of 2000");
}

#[test]
fn labels_need_weights() {
    let labels = cycle(100, 4);
    assert_eq!(
        split("labels:2", &labels, 4, 2).unwrap_err().to_string(),
        "10 weights of labels for 4 classes (`labels:K` alone has the 10 of AdFL's table 1); \
         write one for each class, labels:K:W,W,..."
    );
    assert_eq!(
        split("labels:3:1,0,0,1", &labels, 4, 2)
            .unwrap_err()
            .to_string(),
        "a client cannot hold 3 of 2 classes; use at most 2 classes per client"
    );
    let counts = counts("labels:2:1,0,0,1", &labels, 4, 3);
    assert_eq!(counts, [[8, 0, 0, 8]; 3]);
}

fn grouped(text: &str, groups: &[u32], clients: usize) -> Result<Vec<Vec<usize>>, PartitionError> {
    text.parse::<Partition>()?.assign(&Pool {
        labels: &vec![0; groups.len()],
        classes: 1,
        groups: Some(groups),
        clients,
        seed: SEED,
    })
}

#[test]
fn domains_are_cut_evenly() {
    let groups: Vec<u32> = (0..1000).map(|i| [0, 0, 2, 3][i % 4]).collect();
    for text in ["domains", "domains:10"] {
        for clients in [3, 6, 30] {
            let parts = grouped(text, &groups, clients).unwrap();
            let pieces = if text == "domains" { clients / 3 } else { 10 };
            for (client, part) in parts.iter().enumerate() {
                let group = [0, 2, 3][client % 3];
                assert!(part.iter().all(|&i| groups[i] == group));
                let size = if group == 0 { 500 } else { 250 } / pieces;
                assert!(
                    part.len() == size || part.len() == size + 1,
                    "{}",
                    part.len()
                );
            }
        }
    }
    // Who joins later changes nothing for those before.
    let (few, many) = (
        grouped("domains:10", &groups, 6),
        grouped("domains:10", &groups, 30),
    );
    assert_eq!(few.unwrap(), many.unwrap()[..6]);
    let capped = grouped("domains:1:40", &groups, 3).unwrap();
    assert!(capped.iter().all(|part| part.len() == 40));
}

#[test]
fn groups_stay_whole() {
    // FedAA: 80 kinds of objects, 4 for each of 20 clients.
    let groups: Vec<u32> = (0..800).map(|i| i % 80).collect();
    let parts = grouped("groups", &groups, 20).unwrap();
    for part in &parts {
        let mut held: Vec<u32> = part.iter().map(|&i| groups[i]).collect();
        held.sort_unstable();
        held.dedup();
        assert_eq!((held.len(), part.len()), (4, 40));
    }
    let natural = grouped("natural", &groups, 80).unwrap();
    for (client, part) in natural.iter().enumerate() {
        assert!(part.len() == 10 && part.iter().all(|&i| groups[i] as usize == client));
    }
    let few = grouped("natural", &groups, 5).unwrap();
    assert!(
        few.iter()
            .all(|part| part.len() == 10 && natural.contains(part))
    );
}

#[test]
fn groups_must_suffice() {
    let error = |text, clients| {
        grouped(text, &[0, 1, 2, 0, 1, 2, 0], clients)
            .unwrap_err()
            .to_string()
    };
    assert_eq!(
        error("domains", 4),
        "cannot give each of 3 groups as many of 4 clients; use a multiple of 3 clients, such as 6"
    );
    assert_eq!(
        error("domains:1", 6),
        "6 clients of 3 groups need 2 parts of each, found 1; use domains:2 or at most 3 clients"
    );
    assert_eq!(
        error("domains:3", 3),
        "cannot cut the 2 examples of group 1 into 3; use fewer clients or parts"
    );
    for text in ["groups", "natural"] {
        assert_eq!(
            error(text, 4),
            "cannot deal 3 groups to 4 clients; use at most 3 clients, or domains to cut groups"
        );
    }
    // Groups come first: fewer clients would not help.
    for (text, clients) in [("groups", 2), ("natural", 6), ("domains:2", 6)] {
        assert_eq!(
            split(text, &[0; 5], 1, clients).unwrap_err().to_string(),
            format!(
                "partition `{text}` deals by groups (clients, domains, users), and this data names none; \
                 use data that names some, or a partition by labels such as dirichlet:0.5"
            )
        );
    }
    assert_eq!(
        error("natural", 100),
        "cannot deal 3 groups to 100 clients; use at most 3 clients, or domains to cut groups"
    );
}

#[test]
fn clients_may_share_examples() {
    let labels: Vec<u16> = (0..50).map(|i| i % 5).collect();
    let parts = split("shared:7", &labels, 5, 400).unwrap();
    assert_eq!(parts.len(), 400);
    for part in &parts {
        let distinct: std::collections::BTreeSet<_> = part.iter().collect();
        assert!(distinct.len() == 7 && part.iter().all(|&i| i < 50));
    }
    // Each example has its share of the 2800 draws, 56 expected.
    let mut draws = [0usize; 50];
    parts.iter().flatten().for_each(|&i| draws[i] += 1);
    assert!(draws.iter().all(|n| (25..=90).contains(n)), "{draws:?}");
    // A client's examples do not depend on how many others there are.
    assert_eq!(split("shared:7", &labels, 5, 3).unwrap(), parts[..3]);
    let mut all = split("shared:50", &labels, 5, 1).unwrap().concat();
    all.sort_unstable();
    assert!(all.into_iter().eq(0..50));
    assert_eq!(
        split("shared:51", &labels, 5, 1),
        Err(PartitionError::TooFewToShare {
            per_client: 51,
            examples: 50
        })
    );
    let clients = usize::MAX;
    let many = split("shared:1", &labels, 5, clients).unwrap_err();
    assert_eq!(many, PartitionError::Memory { clients });
}
