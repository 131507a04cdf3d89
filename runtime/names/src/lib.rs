//! Suggestions for misspelt names.
//!
//! Every error of the workspace that says "did you mean" asks [`nearest`], so that commands, specs
//! and macros agree on what a slip is.

/// How similar two names must be, by Jaro and Winkler's measure, for one to be a slip of the other:
/// 1 for equal names, 0 for names without a letter in common.
const SIMILAR: f64 = 0.75;

/// The known name that is most similar to `name`, if one is similar enough to be what was meant.
/// Upper and lower case count as the same; of equally similar names the first is given.
pub fn nearest<'n>(name: &str, known: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    let name = name.trim().to_lowercase();
    known
        .into_iter()
        .map(|other| (strsim::jaro_winkler(&name, &other.to_lowercase()), other))
        .filter(|(similarity, _)| *similarity > SIMILAR)
        .reduce(|best, next| if next.0 > best.0 { next } else { best })
        .map(|(_, other)| other)
}

/// What an error about an unknown name adds to it: ` (did you mean `fedprox`?)`, or nothing where no
/// known name is near.
pub fn did_you_mean(nearest: Option<&str>) -> String {
    nearest.map_or_else(String::new, |near| format!(" (did you mean `{near}`?)"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_similar_names_are_suggested() {
        let hooks = ["round", "regularizer", "aggregate"];
        assert_eq!(nearest("agregate", hooks), Some("aggregate"));
        assert_eq!(nearest("Regularize ", hooks), Some("regularizer"));
        assert_eq!(nearest("train", hooks), None);
        assert_eq!(nearest("round", []), None);
        assert_eq!(nearest("3nn", ["2nn", "cnn"]), Some("2nn"));
    }
}
