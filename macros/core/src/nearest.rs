//! "Did you mean" for misspelt names.

use crate::model::Hook;

/// The candidate that `name` is probably a misspelling of: at most a third of its letters differ.
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    candidates
        .into_iter()
        .map(|candidate| (distance(name, candidate), candidate))
        .filter(|(distance, candidate)| *distance <= (candidate.chars().count() / 3).max(1))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// `` did you mean `x`? `` or `` expected one of `a`, `b` ``, to follow `help: `.
pub fn suggestion(name: &str, candidates: &[&str]) -> String {
    match nearest(name, candidates.iter().copied()) {
        Some(candidate) => format!("did you mean `{candidate}`?"),
        None => {
            let quoted: Vec<String> = candidates.iter().map(|c| format!("`{c}`")).collect();
            format!("expected one of {}", quoted.join(", "))
        }
    }
}

/// The hook that `name` probably misspells; if none, what a method that is no hook is to be.
pub fn hook_suggestion(name: &str) -> String {
    let help = suggestion(name, &Hook::NAMES);
    if nearest(name, Hook::NAMES).is_some() {
        return help;
    }
    format!("{help}; code of your own is a function outside of the impl: `{name}(k, w, self.lr)`")
}

/// Levenshtein's distance, one row at a time.
fn distance(a: &str, b: &str) -> usize {
    let mut row: Vec<usize> = (0..=b.chars().count()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut left = i + 1;
        let mut next = vec![left];
        for (y, pair) in b.chars().zip(row.windows(2)) {
            let &[diagonal, above] = pair else { continue };
            left = (diagonal + usize::from(x != y))
                .min(above + 1)
                .min(left + 1);
            next.push(left);
        }
        row = next;
    }
    row.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances() {
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("abc", ""), 3);
        assert_eq!(distance("kitten", "sitting"), 3);
        assert_eq!(distance("round", "round"), 0);
    }

    #[test]
    fn only_near_names_are_suggested() {
        let hooks = ["round", "regularizer", "aggregate"];
        assert_eq!(nearest("agregate", hooks), Some("aggregate"));
        assert_eq!(nearest("train", hooks), None);
    }
}
