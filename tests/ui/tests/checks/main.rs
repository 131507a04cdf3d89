//! Specs that Rust accepts and the checks of the graph do not: one file each, with what is said at
//! the line in question after `//~`.

#![allow(
    clippy::unwrap_used,
    missing_docs,
    reason = "a test stops at its first error; specs of three lines"
)]

use std::collections::BTreeMap;

use fedround::Algorithm;
use fedround_passes::fed::link;

/// Compares what linking says of a spec, errors or else warnings, with the marks in its source.
fn check(spec: &dyn Algorithm, source: &str) {
    let said: Vec<String> = match link(fedround::stage(spec).unwrap()) {
        Ok(linked) => linked.warnings.iter().map(ToString::to_string).collect(),
        Err(error) => error.to_string().lines().map(str::to_owned).collect(),
    };
    let mut found: BTreeMap<usize, &str> = BTreeMap::new();
    for text in &said {
        // `file:line:column: text`; the first line of an error says after which pass.
        let mut parts = text.splitn(4, ':');
        if let (Some(_), Some(line), Some(_), Some(text)) =
            (parts.next(), parts.next(), parts.next(), parts.next())
        {
            found.insert(line.parse().unwrap(), text);
        }
    }
    let marks = source.lines().enumerate();
    let marks = marks.filter_map(|(index, line)| Some((index + 1, line.split_once("//~ ")?.1)));
    let marks: BTreeMap<usize, &str> = marks.collect();
    assert!(
        found.keys().eq(marks.keys()),
        "expected {marks:#?}, found {said:#?}"
    );
    for (line, expected) in marks {
        let text = found.get(&line).unwrap();
        assert!(text.contains(expected), "expected `{expected}` in `{text}`");
    }
}

macro_rules! cases {
    ($($case:ident),* $(,)?) => {$(
        mod $case;

        #[test]
        fn $case() {
            let source = include_str!(concat!(stringify!($case), ".rs"));
            check(&$case::Spec::default(), source);
        }
    )*};
}

cases!(
    aggregate_without_noise,
    noise_after_aggregation,
    noise_without_clip,
    personal_part_uploaded,
    hook_without_effect,
    state_never_set,
    collect_in_loss,
    two_cohorts,
    unread_upload,
);
