//! The nearest known name to one that is not known.

/// What an error about an unknown name adds where a known one is close.
pub(crate) fn did_you_mean(nearest: Option<&str>) -> String {
    nearest.map_or_else(String::new, |n| format!(" (did you mean `{n}`?)"))
}

/// The known name closest to one that is not known, if it is close enough to be a slip.
pub(crate) fn nearest<'k>(name: &str, known: impl IntoIterator<Item = &'k str>) -> Option<&'k str> {
    let similarity =
        |other: &str| strsim::jaro_winkler(&name.to_lowercase(), &other.to_lowercase());
    let scored = known.into_iter().map(|other| (similarity(other), other));
    let best = scored.max_by(|a, b| a.0.total_cmp(&b.0));
    best.filter(|(similarity, _)| *similarity > 0.75)
        .map(|(_, other)| other)
}
