//! Suggestions for names that are not known.

pub(crate) fn did_you_mean(nearest: Option<&str>) -> String {
    nearest.map_or_else(String::new, |n| format!(" (did you mean `{n}`?)"))
}

/// The candidate closest to `name`, if it is close enough to be a slip.
pub(crate) fn nearest<'a>(
    name: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    let name = name.trim().to_lowercase();
    candidates
        .into_iter()
        .map(|c| (strsim::jaro_winkler(&name, c), c))
        .filter(|(similarity, _)| *similarity >= 0.75)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, c)| c)
}
