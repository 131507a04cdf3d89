//! Datasets whose test examples are few.

use fedround_data::Dataset;

/// With fewer test examples, a table says so: an accuracy near one half is then known to ± 2.2 points at best.
const FEW: usize = 2000;

/// What is to be said of a dataset with few test examples, or, where clients are of domains, of the domain that has the
/// fewest.
pub(super) fn few_tests(data: &Dataset, by_domain: bool) -> Option<String> {
    let all = (data.test.len(), format!("`{}` has", data.name));
    let groups = data.test_groups.as_deref().filter(|_| by_domain);
    let of_domain = |groups: &[u32]| {
        let named = data.group_names.iter().zip(0..);
        let counted = named.map(|(name, group)| {
            let own = groups.iter().filter(|found| **found == group);
            (own.count(), format!("Of `{}`, `{name}` has", data.name))
        });
        counted.min_by_key(|(count, _)| *count)
    };
    let (count, has) = groups.and_then(of_domain).unwrap_or(all);
    let points = 100.0 * 1.96 * 0.5 / (count.max(1) as f64).sqrt();
    (count < FEW).then(|| {
        format!(
            "{has} {count} test examples: an accuracy near 50 % is known to ± {points:.1} points by them. The intervals here do not contain this: they are about other draws of what the seed draws, not about other test examples, which all runs share."
        )
    })
}

#[cfg(test)]
mod tests {
    use fedround_data::synth::SynthDigits;

    use super::*;

    #[test]
    fn few_examples_are_told_with_what_they_can_show() {
        let digits = |test| {
            let digits = SynthDigits {
                train: 1,
                test,
                ..SynthDigits::default()
            };
            digits.generate()
        };
        assert_eq!(few_tests(&digits(FEW), false), None);
        let mut data = digits(400);
        let said = few_tests(&data, true).unwrap();
        assert!(said.contains("has 400 test examples"), "{said}");
        assert!(said.contains("± 4.9 points"), "{said}");
        data.group_names = vec!["left".to_owned(), "right".to_owned()];
        data.test_groups = Some((0..400).map(|i| u32::from(i < 100)).collect());
        let said = few_tests(&data, true).unwrap();
        assert!(said.contains("`right` has 100 test examples"), "{said}");
        assert_eq!(few_tests(&data, false), few_tests(&digits(400), false));
    }
}
