//! A registry that finds algorithms by their names.

use crate::spec::Spec;
use crate::{BoxedAlgorithm, Field, SpecError};
use fedround_names::nearest;

/// An algorithm as the command lists and builds it.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Its name in commands: the struct's in lower case, such as `fedprox`.
    pub name: &'static str,
    /// The struct's doc comment.
    pub doc: &'static str,
    /// Its own hyper-parameters.
    pub fields: &'static [Field],
    /// Whether it is a plug-in over a base.
    pub takes_base: bool,
    /// The base that it gets if none is named, such as `fedavg` or `fedprox(scaffold)`.
    pub default_base: Option<&'static str>,
    /// Builds it with its defaults, over a base if it takes one.
    pub build: fn(Option<BoxedAlgorithm>) -> BoxedAlgorithm,
}

/// An algorithm with an entry. Derived with `Hyper`.
pub trait Registered {
    /// Its entry.
    fn entry() -> Entry;
}

/// Algorithms by name.
#[derive(Clone, Debug, Default)]
pub struct Registry {
    entries: Vec<Entry>,
}

impl Registry {
    /// A registry without entries.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds an entry. It replaces an older entry with the same name.
    #[must_use]
    pub fn with(mut self, entry: Entry) -> Self {
        self.entries.retain(|old| old.name != entry.name);
        self.entries.push(entry);
        self
    }

    /// Adds a type's entry.
    #[must_use]
    pub fn with_type<R: Registered>(self) -> Self {
        self.with(R::entry())
    }

    /// The names, in order of registration.
    pub fn names(&self) -> Vec<&'static str> {
        self.entries.iter().map(|entry| entry.name).collect()
    }

    /// The entries, in order of registration.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// The entry of a name.
    ///
    /// # Errors
    /// [`SpecError::Unknown`], with the nearest name.
    pub fn entry(&self, name: &str) -> Result<&Entry, SpecError> {
        self.entries
            .iter()
            .find(|entry| entry.name == name)
            .ok_or_else(|| SpecError::Unknown {
                name: name.to_owned(),
                nearest: nearest(name, self.names()).map(str::to_owned),
                known: self.names().into_iter().map(str::to_owned).collect(),
            })
    }

    /// Builds an algorithm from text: `name` or `name(inner)`, such as `fedprox(fedavg)`.
    /// A plug-in without an inner algorithm gets its default base.
    ///
    /// # Errors
    /// [`SpecError`].
    pub fn parse(&self, text: &str) -> Result<BoxedAlgorithm, SpecError> {
        self.build(&Spec::parse(text)?, &mut Vec::new())
    }

    fn build(
        &self,
        spec: &Spec,
        defaults: &mut Vec<&'static str>,
    ) -> Result<BoxedAlgorithm, SpecError> {
        let entry = self.entry(&spec.name)?;
        let base = match (&spec.inner, entry.takes_base) {
            (None, false) => None,
            (Some(inner), true) => Some(self.build(inner, defaults)?),
            (Some(inner), false) => {
                return Err(SpecError::NoBase {
                    name: entry.name.to_owned(),
                    inner: inner.name.clone(),
                    swapped: self.entry(&inner.name)?.takes_base,
                });
            }
            (None, true) => {
                // A plug-in that is its own default base, directly or not, would never end.
                let base = entry.default_base.filter(|base| !defaults.contains(base));
                let base = base.ok_or_else(|| SpecError::MissingBase {
                    name: entry.name.to_owned(),
                })?;
                defaults.push(base);
                Some(self.build(&Spec::parse(base)?, defaults)?)
            }
        };
        Ok((entry.build)(base))
    }
}
