//! Splits of own data into training and test examples.

use fedround_random::{Purpose, StreamKey, permutation};

/// Which examples are for testing: a `share` of each client's examples of each class, as far as whole
/// examples allow, drawn at random. Every class and every client keeps an example to train on.
///
/// `groups` has the client of each example, if there are clients.
pub(super) fn hold_out(labels: &[u16], groups: Option<&[u32]>, share: f64, seed: u64) -> Vec<bool> {
    let key = StreamKey::new(seed, Purpose::HoldOut);
    let group = |i: usize| groups.map_or(0, |groups| groups[i]);
    // Each client has its own order of classes. With one order for all, clients of equal sizes would hold out
    // examples of the same classes, and other classes would have no test examples.
    let class_rank = |i: usize| {
        groups.map_or(0, |groups| {
            let of_client = key.with(groups[i] as usize);
            of_client.with(labels[i].into()).stream().word()
        })
    };
    let mut order = permutation(labels.len(), key);
    order.sort_by_cached_key(|&i| (group(i), class_rank(i), labels[i]));
    // Every 1/share-th example of this order, so that small classes of small clients add up.
    let mut test = vec![false; labels.len()];
    let mut due = 0.5;
    for &i in &order {
        due += share;
        if due >= 1.0 {
            due -= 1.0;
            test[i] = true;
        }
    }
    keep_one(&order, &mut test, |i| usize::from(labels[i]));
    keep_one(&order, &mut test, |i| group(i) as usize);
    test
}

/// Takes an example of each part that has none left to train on back from the test examples.
fn keep_one(order: &[usize], test: &mut [bool], part: impl Fn(usize) -> usize) {
    let parts = order.iter().map(|&i| part(i) + 1).max().unwrap_or(0);
    let mut has = vec![false; parts];
    for &i in order {
        has[part(i)] |= !test[i];
    }
    for &i in order {
        if !has[part(i)] {
            has[part(i)] = true;
            test[i] = false;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_and_clients_have_their_share() {
        let labels: Vec<u16> = (0..1000).map(|i| i % 4).collect();
        let groups: Vec<u32> = (0..1000).map(|i| i / 100).collect();
        let test = hold_out(&labels, Some(&groups), 0.2, 0);
        for class in 0..4 {
            let held = (0..1000).filter(|&i| test[i] && labels[i] == class);
            assert_eq!(held.count(), 50);
        }
        for group in 0..10 {
            let held = (0..1000).filter(|&i| test[i] && groups[i] == group);
            assert_eq!(held.count(), 20);
        }
        assert_ne!(test, hold_out(&labels, Some(&groups), 0.2, 1));
    }

    /// Every fifth example is for testing, and every client has one of each of five classes.
    #[test]
    fn small_clients_of_equal_sizes_hold_out_all_classes() {
        let labels: Vec<u16> = (0..500).map(|i| i % 5).collect();
        let groups: Vec<u32> = (0..500).map(|i| i / 5).collect();
        let test = hold_out(&labels, Some(&groups), 0.2, 0);
        for class in 0..5 {
            let held = (0..500).filter(|&i| test[i] && labels[i] == class).count();
            assert!((10..=30).contains(&held), "{held} of class {class}");
        }
    }

    #[test]
    fn the_only_example_of_a_class_is_for_training() {
        let test = hold_out(&[0, 0, 1, 2, 3], None, 0.9, 0);
        assert_eq!(test[2..], [false; 3]);
        assert_eq!(test.iter().filter(|t| **t).count(), 1);
        assert!(hold_out(&[], None, 0.2, 0).is_empty());
    }
}
