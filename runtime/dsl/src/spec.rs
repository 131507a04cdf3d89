//! The text that names a composition: `fedprox(fedavg)`.

use fedround_names::did_you_mean;

/// Why a text names no algorithm.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SpecError {
    /// No algorithm of that name.
    #[error("unknown algorithm `{name}`{}; known: {}", did_you_mean(.nearest.as_deref()), .known.join(", "))]
    Unknown {
        /// What was asked for.
        name: String,
        /// The most similar name.
        nearest: Option<String>,
        /// All names.
        known: Vec<String>,
    },
    /// A plug-in without a base.
    #[error("`{name}` is a plug-in and needs a base: write `{name}(BASE)`")]
    MissingBase {
        /// The plug-in.
        name: String,
    },
    /// A base for an algorithm that takes none.
    #[error(
        "`{name}` takes no base, found `{name}({inner})`; {}",
        match swapped {
            true => format!("did you mean `{inner}({name})`?"),
            false => format!("write `{name}`"),
        }
    )]
    NoBase {
        /// The algorithm.
        name: String,
        /// What was given as its base.
        inner: String,
        /// Whether that is a plug-in, which takes the algorithm as its base.
        swapped: bool,
    },
    /// Too many layers.
    #[error(
        "expected at most {limit} algorithms inside each other, found more from character {at} on"
    )]
    Nesting {
        /// The largest number of layers.
        limit: usize,
        /// Where the first one too many is, counted from 1.
        at: usize,
    },
    /// Text out of the grammar.
    #[error("expected {expected} at character {at} of `{text}`")]
    Syntax {
        /// The whole text.
        text: String,
        /// Where, counted from 1.
        at: usize,
        /// What should be there.
        expected: &'static str,
    },
}

/// A parsed composition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Spec {
    pub(crate) name: String,
    pub(crate) inner: Option<Box<Spec>>,
}

/// The largest number of algorithms inside each other. Each is built and compiled inside the one around it, on
/// the stack.
const LAYERS: usize = 32;

impl Spec {
    /// `NAME` or `NAME(SPEC)`, with spaces anywhere between.
    pub(crate) fn parse(text: &str) -> Result<Self, SpecError> {
        let chars: Vec<char> = text.chars().collect();
        let mut names: Vec<String> = Vec::new();
        let mut at = 0;
        let syntax = |at: usize, expected| SpecError::Syntax {
            text: text.to_owned(),
            at: at + 1,
            expected,
        };
        let skip = |at: &mut usize| {
            while chars.get(*at).is_some_and(|c| c.is_whitespace()) {
                *at += 1;
            }
        };
        loop {
            skip(&mut at);
            let start = at;
            while chars
                .get(at)
                .is_some_and(|c| c.is_alphanumeric() || matches!(c, '_' | '-'))
            {
                at += 1;
            }
            if at == start {
                return Err(syntax(at, "the name of an algorithm"));
            }
            if names.len() == LAYERS {
                return Err(SpecError::Nesting {
                    limit: LAYERS,
                    at: start + 1,
                });
            }
            names.push(chars.get(start..at).unwrap_or_default().iter().collect());
            skip(&mut at);
            if chars.get(at) != Some(&'(') {
                break;
            }
            at += 1;
        }
        for _ in 1..names.len() {
            skip(&mut at);
            if chars.get(at) != Some(&')') {
                return Err(syntax(at, "`)`"));
            }
            at += 1;
        }
        skip(&mut at);
        if at < chars.len() {
            return Err(syntax(at, "the end"));
        }
        let nest = |inner: Option<Box<Self>>, name: String| Some(Box::new(Self { name, inner }));
        let spec = names.into_iter().rev().fold(None, nest);
        spec.map(|spec| *spec)
            .ok_or_else(|| syntax(0, "the name of an algorithm"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(text: &str) -> Vec<String> {
        let mut spec = Some(Box::new(Spec::parse(text).unwrap()));
        let mut names = Vec::new();
        while let Some(layer) = spec {
            names.push(layer.name);
            spec = layer.inner;
        }
        names
    }

    #[test]
    fn nests_with_spaces() {
        assert_eq!(shape("fedavg"), ["fedavg"]);
        assert_eq!(shape(" a ( b( c ) ) "), ["a", "b", "c"]);
    }

    #[test]
    fn layers_have_a_limit() {
        let nested = |n: usize| "a(".repeat(n - 1) + "a" + &")".repeat(n - 1);
        assert_eq!(shape(&nested(LAYERS)).len(), LAYERS);
        for n in [LAYERS + 1, 10_000, 1_000_000] {
            let expected = SpecError::Nesting {
                limit: LAYERS,
                at: 2 * LAYERS + 1,
            };
            assert_eq!(Spec::parse(&nested(n)), Err(expected));
        }
    }

    #[test]
    fn points_at_the_wrong_character() {
        for (text, at) in [
            ("", 1),
            ("a(", 3),
            ("a(b", 4),
            ("a)", 2),
            ("a b", 3),
            ("a()", 3),
            ("a(b))", 5),
        ] {
            let SpecError::Syntax { at: found, .. } = Spec::parse(text).unwrap_err() else {
                panic!("{text}: expected a syntax error");
            };
            assert_eq!(found, at, "{text}");
        }
    }
}
