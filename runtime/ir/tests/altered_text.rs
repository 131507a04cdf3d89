//! Checks of a text of the fed dialect, and of the same text with a mistake in it.

use fedround_ir::fed::{difference, parse, print_exact, verify_linked};

/// Checks that the text is read, is a valid linked module, and is printed as it was.
pub fn comes_back(text: &str) {
    let module = parse(text).unwrap();
    assert!(verify_linked(&module).is_ok());
    assert_eq!(print_exact(&module), text);
    let again = parse(&print_exact(&module)).unwrap();
    assert_eq!(difference(&module, &again), None);
}

/// Replaces the first `from` of the text by `to`, and gives the error of reading or verifying the result.
pub fn error(text: &str, from: &str, to: &str) -> String {
    assert!(text.contains(from), "{from}");
    match parse(&text.replacen(from, to, 1)) {
        Ok(module) => verify_linked(&module).unwrap_err().to_string(),
        Err(error) => error.to_string(),
    }
}

/// Checks that each replacement of `from` by `to` is an error that contains the third text.
pub fn are_refused<const N: usize>(text: &str, cases: [(&str, &str, &str); N]) {
    for (from, to, expected) in cases {
        let error = error(text, from, to);
        assert!(error.contains(expected), "{from} -> {to}\n{error}");
    }
}
