//! The name of a crate, and those of its algorithm that follow from it.

use super::error::NewError;

/// Words that Rust keeps for itself.
const KEYWORDS: &[&str] = &[
    "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "crate",
    "do", "dyn", "else", "enum", "extern", "false", "final", "fn", "for", "gen", "if", "impl",
    "in", "let", "loop", "macro", "match", "mod", "move", "mut", "override", "priv", "pub", "ref",
    "return", "self", "static", "struct", "super", "trait", "true", "try", "type", "typeof",
    "unsafe", "unsized", "use", "virtual", "where", "while", "yield",
];

/// A name that is fit for a crate, as `fed-dyn`.
pub(super) struct CrateName(String);

impl CrateName {
    /// Reads a name.
    ///
    /// # Errors
    ///
    /// [`NewError::Name`] for one that cargo or Rust would not take, and [`NewError::Taken`] for keywords
    /// and bundled algorithms.
    pub fn parse(text: &str) -> Result<Self, NewError> {
        let lower = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
        let word = |word: &str| !word.is_empty() && word.chars().all(lower);
        let letter = text.starts_with(|c: char| c.is_ascii_lowercase());
        if !(letter && text.split(['-', '_']).all(word)) {
            return Err(NewError::Name(text.to_owned()));
        }
        let taken = |what| {
            let name = text.to_owned();
            Err(NewError::Taken { name, what })
        };
        let name = Self(text.to_owned());
        let bundled = fedround_algorithms::registry();
        let bundled = bundled.names().into_iter();
        if KEYWORDS.contains(&text) {
            return taken("a word of Rust");
        }
        if bundled
            .map(|n| n.replace('-', ""))
            .any(|n| n == name.algorithm())
        {
            return taken("a bundled algorithm");
        }
        Ok(name)
    }

    /// The name of the crate, as it was given.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The name of the module: `fed_dyn`.
    pub fn module(&self) -> String {
        self.0.replace('-', "_")
    }

    /// The name of the struct: `FedDyn`.
    pub fn structure(&self) -> String {
        let words = self.0.split(['-', '_']);
        let capital = |word: &str| word[..1].to_ascii_uppercase() + &word[1..];
        words.map(capital).collect()
    }

    /// The name on the command line, which is the struct's in lower case: `feddyn`.
    pub fn algorithm(&self) -> String {
        self.structure().to_lowercase()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_name_gives_the_others() {
        let name = CrateName::parse("fed-dyn2_x").unwrap();
        let found = [name.module(), name.structure(), name.algorithm()];
        assert_eq!(found, ["fed_dyn2_x", "FedDyn2X", "feddyn2x"]);
    }

    #[test]
    fn names_that_would_not_build_are_refused() {
        for bad in [
            "", "Fed", "2fed", "fed-", "-fed", "fed dyn", "fed/dyn", "é", "../fed",
        ] {
            let error = CrateName::parse(bad).err().unwrap();
            assert!(matches!(error, NewError::Name(_)), "{bad}: {error}");
        }
        for taken in ["match", "fedprox", "fed-prox", "push_sum"] {
            let error = CrateName::parse(taken).err().unwrap();
            assert!(matches!(error, NewError::Taken { .. }), "{taken}: {error}");
        }
    }
}
