//! Names of states, random streams, phases and hyper-parameters, each with one owner in a module.

use std::collections::HashMap;
use std::fmt;

/// What a name stands for. The same name may have two different uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NameUse {
    /// A hyper-parameter.
    Hyper,
    /// A phase of the rounds.
    Phase,
    /// A stream of random numbers.
    Stream,
    /// A state that each client keeps.
    ClientState,
    /// A state of the server.
    ServerState,
    /// A state of the server for each client, which is named as its other states are.
    ServerStatePerClient,
}

impl NameUse {
    /// The use whose names this one's must differ from.
    fn space(self) -> Self {
        match self {
            Self::ServerStatePerClient => Self::ServerState,
            other => other,
        }
    }
}

impl fmt::Display for NameUse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Hyper => "hyper-parameter",
            Self::Phase => "phase",
            Self::Stream => "random stream",
            Self::ClientState => "client state",
            Self::ServerState => "server state",
            Self::ServerStatePerClient => "server state of each client",
        })
    }
}

/// A name within a layer: one that a spec gives, or one that is made from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LocalName<'a> {
    /// As the spec gives it.
    Own(&'a str),
    /// A part of the state of an optimizer that is kept under a name: `m` of `adam`.
    Part(&'a str, &'a str),
    /// A part of such a state that has a number instead of a name.
    NumberedPart(&'a str, usize),
    /// A value of a list, by its place in it.
    Element(&'a str, usize),
}

impl<'a> From<&'a str> for LocalName<'a> {
    fn from(name: &'a str) -> Self {
        Self::Own(name)
    }
}

/// The name in the module, without that of its layer: `adam_m`, `models[1]`.
impl fmt::Display for LocalName<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Own(name) => f.write_str(name),
            Self::Part(name, part) => write!(f, "{name}_{part}"),
            Self::NumberedPart(name, part) => write!(f, "{name}_{part}"),
            Self::Element(name, place) => write!(f, "{name}[{place}]"),
        }
    }
}

impl LocalName<'_> {
    /// In words, for an error.
    fn described(&self, of: NameUse) -> String {
        match self {
            Self::Own(name) => format!("{of} `{name}`"),
            Self::Part(name, part) => format!("part `{part}` of the optimizer kept as `{name}`"),
            Self::NumberedPart(name, part) => {
                format!("part {part} of the optimizer kept as `{name}`")
            }
            Self::Element(name, place) => format!("element {place} of the list `{name}`"),
        }
    }
}

/// Who has which name.
#[derive(Debug, Default)]
pub(super) struct Names(HashMap<(NameUse, String), Owner>);

/// What has a name: its layer, by number, and what it is there, in words.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Owner {
    layer: usize,
    what: String,
}

impl Names {
    /// Gives `full` to something of a layer. If something else has the name already, describes both.
    pub(super) fn claim(
        &mut self,
        of: NameUse,
        full: &str,
        layer: usize,
        name: LocalName<'_>,
    ) -> Result<(), [String; 2]> {
        let what = name.described(of);
        let owner = Owner { layer, what };
        let known = self.0.entry((of.space(), full.to_owned()));
        let first = known.or_insert_with(|| owner.clone());
        if *first == owner {
            return Ok(());
        }
        Err([&*first, &owner].map(|owner| match first.layer == layer {
            true => owner.what.clone(),
            false => format!("{} of layer {}", owner.what, owner.layer + 1),
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_are_made_from_others_may_not_be_anothers() {
        use LocalName::{Element, NumberedPart, Own, Part};
        let clashes = [
            (Part("local", "m"), Own("local_m")),
            (NumberedPart("local", 1), Own("local_1")),
            (Element("l", 1), Own("l[1]")),
        ];
        for (first, second) in clashes {
            let mut names = Names::default();
            let mut claim = |layer, name: LocalName<'_>| {
                names.claim(NameUse::ClientState, &format!("a.{name}"), layer, name)
            };
            claim(0, first).unwrap();
            claim(0, first).unwrap();
            assert_eq!(
                claim(0, second).unwrap_err(),
                [first, second].map(|name| name.described(NameUse::ClientState))
            );
            let error = claim(1, first).unwrap_err();
            assert!(error[1].ends_with(" of layer 2"), "{error:?}");
        }
    }

    #[test]
    fn different_uses_may_share_a_name() {
        let mut names = Names::default();
        let mut claim = |of| names.claim(of, "a.n", 0, LocalName::Own("n"));
        let uses = [
            NameUse::Hyper,
            NameUse::Phase,
            NameUse::Stream,
            NameUse::ClientState,
            NameUse::ServerState,
        ];
        for of in uses {
            claim(of).unwrap();
        }
        // A state of the server cannot be one of all clients and one for each.
        claim(NameUse::ServerStatePerClient).unwrap_err();
    }
}
