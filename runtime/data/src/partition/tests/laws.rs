//! Laws that hold for every partition.

use proptest::collection::vec;
use proptest::prelude::*;

use super::super::*;

const CLASSES: usize = 5;

fn simple() -> impl Strategy<Value = Partition> {
    let number = 1usize..4;
    let alpha = 0.05f64..20.0;
    prop_oneof![
        Just(Partition::Iid),
        number
            .clone()
            .prop_map(|per_client| Partition::Shards { per_client }),
        (alpha.clone(), proptest::option::of(number.clone()))
            .prop_map(|(alpha, min)| Partition::Dirichlet { alpha, min }),
        (alpha, proptest::option::of(number.clone()))
            .prop_map(|(alpha, min)| Partition::Quantity { alpha, min }),
        Just(Partition::Islands),
        number
            .clone()
            .prop_map(|per_client| Partition::Classes { per_client }),
        (0.05f64..1.0).prop_map(|share| Partition::Subset { share }),
        (number.clone(), vec(0.1f64..3.0, CLASSES)).prop_map(|(per_client, weights)| {
            Partition::Labels {
                per_client,
                weights: Some(weights),
            }
        }),
        Just(Partition::Domains {
            parts: None,
            most: None
        }),
        (number, proptest::option::of(1usize..9)).prop_map(|(parts, most)| Partition::Domains {
            parts: Some(parts),
            most
        }),
        Just(Partition::Groups),
        Just(Partition::Natural),
    ]
}

fn partitions() -> impl Strategy<Value = Partition> {
    let turns = proptest::sample::select(vec![90, 180, 270]);
    let rotated =
        (simple(), turns, 1usize..20).prop_map(|(base, degrees, examples)| Partition::Rotated {
            base: Box::new(base),
            rotation: Rotation::degrees(degrees).unwrap(),
            examples,
        });
    prop_oneof![4 => simple(), 1 => rotated]
}

/// Whether every example goes to a client.
fn deals_all(partition: &Partition) -> bool {
    match partition {
        Partition::Islands
        | Partition::Classes { .. }
        | Partition::Labels { .. }
        | Partition::Domains { parts: Some(_), .. }
        | Partition::Natural => false,
        Partition::Rotated { base, .. } => deals_all(base),
        _ => true,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(600) })]

    #[test]
    fn no_example_goes_to_two_clients(
        partition in partitions(),
        examples in vec((0u16..CLASSES as u16, 0u32..6), 1..300),
        clients in 1usize..30,
        seed in any::<u64>(),
    ) {
        let (labels, groups): (Vec<u16>, Vec<u32>) = examples.into_iter().unzip();
        let pool = Pool {
            labels: &labels,
            classes: CLASSES,
            groups: Some(&groups),
            clients,
            seed,
        };
        let Ok(parts) = partition.assign(&pool) else {
            // What always works where there are examples for everyone.
            let certain = matches!(partition, Partition::Iid | Partition::Shards { per_client: 1 });
            prop_assert!(!certain || labels.len() < clients);
            return Ok(());
        };
        prop_assert_eq!(parts.len(), clients);
        prop_assert!(parts.iter().all(|p| !p.is_empty()));
        let mut all = parts.concat();
        all.sort_unstable();
        if deals_all(&partition) {
            prop_assert!(all.into_iter().eq(0..labels.len()));
        } else {
            prop_assert!(all.windows(2).all(|w| w[0] < w[1]));
            prop_assert!(all.last().is_none_or(|&last| last < labels.len()));
        }

        let sizes = parts.iter().map(Vec::len);
        let spread = sizes.clone().max().unwrap() - sizes.min().unwrap();
        match &partition {
            Partition::Iid => prop_assert!(spread <= 1),
            Partition::Shards { per_client } => prop_assert!(spread <= *per_client),
            Partition::Labels { .. } => prop_assert_eq!(spread, 0),
            _ => {}
        }
        prop_assert_eq!(parts, partition.assign(&pool).unwrap());
    }

    #[test]
    fn printing_and_parsing_agree(partition in partitions()) {
        prop_assert_eq!(partition.to_string().parse::<Partition>(), Ok(partition));
    }

    #[test]
    fn counts_add_up(labels in vec(0u16..5, 1..100), clients in 1usize..10) {
        if let Ok(parts) = Partition::Iid.split(&labels, 5, clients, 1) {
            let counts = class_counts(&parts, &labels, 5);
            prop_assert_eq!(counts.len(), clients);
            prop_assert_eq!(counts.iter().flatten().sum::<usize>(), labels.len());
        }
    }
}
