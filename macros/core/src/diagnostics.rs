//! A collection of errors, so that the user sees all of them at once.

use std::fmt::Display;

use proc_macro2::Span;
use quote::ToTokens;

/// Collects errors; [`finish`](Self::finish) must be called, or a debug build panics on drop, as
/// errors would be lost.
#[derive(Debug, Default)]
pub struct Diagnostics {
    error: Option<syn::Error>,
    count: usize,
    finished: bool,
}

impl Diagnostics {
    /// An error that covers `tokens`: what was expected and found, and what to do about it.
    pub fn error(&mut self, tokens: impl ToTokens, message: impl Display, help: impl Display) {
        self.push(syn::Error::new_spanned(tokens, with_help(message, help)));
    }

    /// An error at a place that has no tokens of its own, such as an empty argument list.
    pub fn error_at(&mut self, span: Span, message: impl Display, help: impl Display) {
        self.push(syn::Error::new(span, with_help(message, help)));
    }

    /// An error of syn's own.
    pub fn push(&mut self, error: syn::Error) {
        self.count += 1;
        match &mut self.error {
            Some(all) => all.combine(error),
            None => self.error = Some(error),
        }
    }

    /// How many errors there are so far.
    pub fn count(&self) -> usize {
        self.count
    }

    /// `value`, or all errors as one.
    ///
    /// # Errors
    /// If any were reported.
    pub fn finish<T>(mut self, value: T) -> syn::Result<T> {
        self.finished = true;
        match self.error.take() {
            Some(error) => Err(error),
            None => Ok(value),
        }
    }
}

impl Drop for Diagnostics {
    fn drop(&mut self) {
        debug_assert!(
            self.finished || std::thread::panicking(),
            "errors were collected and never looked at"
        );
    }
}

/// Tokens as they are usually written, for a message; `to_string` puts spaces everywhere.
pub fn text(tokens: &impl ToTokens) -> String {
    let mut text = tokens.to_token_stream().to_string();
    for (spaced, plain) in [
        (" . ", "."),
        ("& ", "&"),
        (" :: ", "::"),
        (" < ", "<"),
        (" >", ">"),
        (" ..", ".."),
        (".. ", ".."),
        ("= ", "="),
        (" ,", ","),
        (" (", "("),
        ("- ", "-"),
    ] {
        text = text.replace(spaced, plain);
    }
    text
}

fn with_help(message: impl Display, help: impl Display) -> String {
    format!("{message}\nhelp: {help}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_errors_are_kept_in_order() {
        let mut bag = Diagnostics::default();
        bag.error_at(Span::call_site(), "one", "first");
        bag.error_at(Span::call_site(), "two", "second");
        assert_eq!(bag.count(), 2);
        let messages: Vec<String> = bag
            .finish(())
            .unwrap_err()
            .into_iter()
            .map(|error| error.to_string())
            .collect();
        assert_eq!(messages, ["one\nhelp: first", "two\nhelp: second"]);
    }

    #[test]
    fn tokens_read_as_they_are_written() {
        for written in [
            "self.mu",
            "&mut self",
            "Vec<usize>",
            "0.0..=1.0",
            "-1",
            "a::b(c, d)",
        ] {
            let tokens: proc_macro2::TokenStream = written.parse().unwrap();
            assert_eq!(text(&tokens), written);
        }
    }

    #[test]
    #[cfg(debug_assertions)]
    #[should_panic(expected = "never looked at")]
    fn forgetting_the_bag_is_a_bug() {
        drop(Diagnostics::default());
    }
}
