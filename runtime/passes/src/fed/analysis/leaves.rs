//! Sets of leaves of a model's parameters, described without knowing the model.

use std::collections::BTreeSet;

type Names = BTreeSet<String>;

/// A set of leaves: those of some parts, or all leaves, without those of other parts. In ADCOL with a
/// shared predictor, for example, a party keeps `Model` without `head`.
///
/// Parts that are named by the first segment of a path, as `head` is, are apart. A type of layer, as `BatchNorm` is,
/// may share leaves with any part, which only the model knows. Unions and intersections may therefore have too few
/// leaves, but never too many.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Leaves {
    /// The parts; `None` stands for all leaves.
    pub of: Option<BTreeSet<String>>,
    /// The parts whose leaves are left out.
    pub but: BTreeSet<String>,
}

impl Default for Leaves {
    fn default() -> Self {
        Self::named(&[])
    }
}

impl Leaves {
    /// The leaves of some parts.
    pub fn named(parts: &[String]) -> Self {
        Self {
            of: Some(parts.iter().cloned().collect()),
            but: Names::new(),
        }
    }

    /// All leaves of a tree.
    pub fn all() -> Self {
        Self {
            of: None,
            but: Names::new(),
        }
    }

    /// Whether the set is empty.
    pub fn is_empty(&self) -> bool {
        self.of.as_ref().is_some_and(Names::is_empty)
    }

    /// The leaves of this set that are in none of some parts.
    pub(super) fn minus(&self, parts: &[String]) -> Self {
        let named = |name: &String| !parts.contains(name);
        let of = self.of.as_ref();
        Self {
            of: of.map(|of| of.iter().filter(|name| named(name)).cloned().collect()),
            but: self.but.iter().chain(parts).cloned().collect(),
        }
        .tidy()
    }

    /// The union with another set.
    pub(super) fn or(&self, other: &Self) -> Self {
        let of = match (&self.of, &other.of) {
            (Some(a), Some(b)) => Some(a | b),
            _ => None,
        };
        // What one lacks and the other has whole, both together do not lack.
        let lacks = |one: &Self, whole: &Self| match &whole.of {
            Some(parts) => &one.but - parts,
            None => Names::new(),
        };
        let but = match (self.but.is_empty(), other.but.is_empty()) {
            (_, true) => lacks(self, other),
            (true, _) => lacks(other, self),
            // What neither has is in a part of each.
            _ if self.of.is_none() && other.of.is_none() => {
                let shared = |name: &&String| other.but.iter().any(|part| !apart(name, part));
                self.but.iter().filter(shared).cloned().collect()
            }
            _ if self.of.is_none() => self.but.clone(),
            _ if other.of.is_none() => other.but.clone(),
            _ => &self.but | &other.but,
        };
        Self { of, but }.tidy()
    }

    /// The intersection with another set.
    pub(super) fn and(&self, other: &Self) -> Self {
        let of = match (&self.of, &other.of) {
            (None, of) | (of, None) => of.clone(),
            (Some(a), Some(b)) => Some(a & b),
        };
        let but = &self.but | &other.but;
        Self { of, but }.tidy()
    }

    /// Nothing is left out of nothing, nor of a part that is left out itself.
    fn tidy(mut self) -> Self {
        if let Some(of) = &mut self.of {
            of.retain(|name| !self.but.contains(name));
        }
        match self.is_empty() {
            true => Self::default(),
            false => self,
        }
    }

    /// The number of parameters that are not in this set, as a formula: `P`, `(P − P[head])`, `P[head]`.
    pub fn outside(&self) -> String {
        let list = |names: &Names| names.iter().cloned().collect::<Vec<_>>().join(", ");
        match &self.of {
            None if self.but.is_empty() => "0".to_owned(),
            None => format!("P[{}]", list(&self.but)),
            Some(_) if self.is_empty() => "P".to_owned(),
            Some(of) if self.but.is_empty() => format!("(P − P[{}])", list(of)),
            Some(of) => format!("(P − P[{} but {}])", list(of), list(&self.but)),
        }
    }
}

/// Whether no leaf is in both parts. Types of layers begin with a capital letter.
fn apart(one: &str, other: &str) -> bool {
    let segment = |name: &str| name.starts_with(char::is_lowercase);
    one != other && segment(one) && segment(other)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn named(parts: &[&str]) -> Leaves {
        Leaves::named(
            &parts
                .iter()
                .map(|part| (*part).to_owned())
                .collect::<Vec<_>>(),
        )
    }

    fn minus(leaves: &Leaves, part: &str) -> Leaves {
        leaves.minus(&[part.to_owned()])
    }

    #[test]
    fn what_crosses_is_what_is_outside() {
        let all = Leaves::all();
        let own = minus(&named(&["Model"]), "head");
        for (leaves, expected) in [
            (named(&[]), "P"),
            (named(&["head"]), "(P − P[head])"),
            (minus(&all, "head"), "P[head]"),
            (own.clone(), "(P − P[Model but head])"),
            (
                minus(&all, "head").and(&named(&["Model"])),
                "(P − P[Model but head])",
            ),
            (minus(&all, "head").or(&named(&["head"])), "0"),
            (minus(&named(&["head"]), "head"), "P"),
            (all, "0"),
        ] {
            assert_eq!(leaves.outside(), expected);
        }
    }

    #[test]
    fn a_union_has_no_leaf_that_neither_has() {
        let (all, none) = (Leaves::all(), Leaves::default());
        let own = minus(&named(&["Model"]), "head");
        assert_eq!(own.or(&own), own);
        assert_eq!(own.or(&none), own);
        assert_eq!(own.or(&all), all);
        assert_eq!(named(&["a"]).or(&named(&["b"])), named(&["a", "b"]));
        assert_eq!(
            minus(&named(&["a"]), "b").or(&named(&["b"])),
            named(&["a", "b"])
        );
        let but_head = minus(&all, "head");
        let head = minus(&named(&["head"]), "Model");
        assert_eq!(but_head.or(&head), but_head);
        assert_eq!(head.or(&but_head), but_head);
        // What is in both of the parts is in neither of these.
        let (a, b) = (minus(&named(&["a"]), "b"), minus(&named(&["b"]), "a"));
        assert_eq!(a.or(&b), none);
        // Nothing is in a head and in features, but a head may have a norm.
        let (head, features, norm) = (
            minus(&all, "head"),
            minus(&all, "features"),
            minus(&all, "BatchNorm"),
        );
        assert_eq!(head.or(&features), all);
        assert_eq!(head.or(&head), head);
        assert_eq!(head.or(&norm), head);
    }

    /// Parts of a tree of eight leaves, a bit for each: two that are apart, and types, one of which shares leaves with
    /// both parts, and one of which has all of a part.
    const PARTS: [(&str, u8); 4] = [("a", 7), ("b", 24), ("C", 12), ("D", 56)];

    fn bits(names: &Names) -> u8 {
        let own = PARTS.iter().filter(|(name, _)| names.contains(*name));
        own.fold(0, |all, (_, part)| all | part)
    }

    /// Its leaves in that tree.
    fn among(leaves: &Leaves) -> u8 {
        leaves.of.as_ref().map_or(u8::MAX, bits) & !bits(&leaves.but)
    }

    proptest! {
        /// Whatever is made of leaves has none that it should not have: each is made beside the set
        /// that it should be.
        #[test]
        fn no_leaf_is_among_them_that_should_not_be(
            steps in prop::collection::vec((0_usize..4, 0_usize..6, 0_usize..6, 0_u8..16), 1..12),
        ) {
            let mut all = vec![(Leaves::all(), u8::MAX), (Leaves::default(), 0)];
            for (step, a, b, parts) in steps {
                let names = PARTS.iter().enumerate().filter(|(i, _)| parts >> i & 1 == 1);
                let names: Vec<String> = names.map(|(_, (name, _))| (*name).to_owned()).collect();
                let inside = bits(&names.iter().cloned().collect());
                let ((a, x), (b, y)) = (&all[a % all.len()], &all[b % all.len()]);
                let made = match step {
                    0 => (Leaves::named(&names), inside),
                    1 => (a.minus(&names), x & !inside),
                    2 => (a.and(b), x & y),
                    _ => (a.or(b), x | y),
                };
                prop_assert_eq!(among(&made.0) & !made.1, 0, "{:?}", made.0);
                all.push(made);
            }
        }
    }
}
