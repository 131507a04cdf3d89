//! The classes in the table at the end of a run.

use crate::terminal::percent;

/// The rows of classes. Of many, those with the lowest and those with the highest accuracies, and how many have
/// none because they have no test examples.
pub(super) fn class_rows(classes: Vec<(&str, Option<f64>)>) -> Vec<[String; 2]> {
    const SHOWN: usize = 20;
    let row = |name: &str, accuracy: f64| [name.to_owned(), percent(accuracy)];
    if classes.len() <= SHOWN {
        let rows = classes.into_iter();
        let rows = rows.map(|(name, accuracy)| row(name, accuracy.unwrap_or(f64::NAN)));
        return rows.collect();
    }
    let known = classes
        .iter()
        .filter_map(|(name, accuracy)| Some((*name, (*accuracy)?)));
    let mut known: Vec<(&str, f64)> = known.collect();
    known.sort_by(|a, b| a.1.total_cmp(&b.1));
    let rows = known.iter().map(|(name, accuracy)| row(name, *accuracy));
    let mut rows: Vec<_> = rows.collect();
    let left_out = rows.len().saturating_sub(SHOWN);
    if left_out > 0 {
        let between = [format!("({left_out} more)"), "between".to_owned()];
        rows.splice(SHOWN / 2..SHOWN / 2 + left_out, [between]);
    }
    let untested = classes.len() - known.len();
    if untested > 0 {
        let without = "without test examples".to_owned();
        rows.push([format!("({untested} more)"), without]);
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_classes_are_the_worst_and_the_best() {
        let names: Vec<String> = (0..53).map(|class| format!("class {class}")).collect();
        let classes = |n: usize| {
            let named = names[..n].iter().enumerate();
            named.map(|(i, name)| (&**name, Some(1.0 - i as f64 / 100.0)))
        };
        assert_eq!(class_rows(classes(20).collect()).len(), 20);
        let rows = class_rows(classes(53).collect());
        assert_eq!(rows.len(), 21);
        assert_eq!(rows[0], ["class 52", "48.0 %"]);
        assert_eq!(rows[10], ["(33 more)", "between"]);
        assert_eq!(rows[20], ["class 0", "100.0 %"]);
        // Classes without test examples are neither.
        let untested = |(name, accuracy): (_, Option<f64>)| {
            let tested = accuracy.filter(|accuracy| *accuracy < 0.98);
            (name, tested)
        };
        let rows = class_rows(classes(53).map(untested).collect());
        assert_eq!(rows[0], ["class 52", "48.0 %"]);
        assert_eq!(rows[10], ["(30 more)", "between"]);
        assert_eq!(rows[20], ["class 3", "97.0 %"]);
        assert_eq!(rows[21], ["(3 more)", "without test examples"]);
        assert_eq!(rows.len(), 22);
    }
}
