//! The contents of a file of LEAF.

use std::collections::BTreeMap;
use std::fmt;

use serde::Deserialize;
use serde::de::{Error, SeqAccess, Visitor};

/// A file. Its other fields repeat what is here.
#[derive(Deserialize)]
pub(super) struct LeafFile {
    pub user_data: BTreeMap<String, UserData>,
}

/// The examples of a user.
#[derive(Deserialize)]
pub(super) struct UserData {
    pub x: Vec<Input>,
    pub y: Vec<Target>,
}

/// One input.
pub(super) enum Input {
    Numbers(Vec<f32>),
    Text(String),
}

/// The name of a class, which a file may write as a number.
pub(super) struct Target {
    pub name: String,
    pub is_number: bool,
}

impl Target {
    fn number(number: impl ToString) -> Self {
        Self {
            name: number.to_string(),
            is_number: true,
        }
    }
}

/// The inputs of all users, one after another.
pub(super) enum Inputs {
    Numbers(Vec<f32>),
    Texts(Vec<String>),
}

impl Input {
    /// The number of its numbers or characters.
    pub fn len(&self) -> usize {
        match self {
            Self::Numbers(numbers) => numbers.len(),
            Self::Text(text) => text.chars().count(),
        }
    }

    pub fn describe(&self) -> String {
        match self {
            Self::Numbers(numbers) => format!("{} numbers", numbers.len()),
            Self::Text(text) => format!("a text of {} characters", text.chars().count()),
        }
    }

    /// The place of a number beyond single precision.
    pub fn infinite(&self) -> Option<usize> {
        match self {
            Self::Numbers(numbers) => numbers.iter().position(|x| !x.is_finite()),
            Self::Text(_) => None,
        }
    }

    /// No inputs of this kind.
    pub fn none(&self) -> Inputs {
        match self {
            Self::Numbers(_) => Inputs::Numbers(vec![]),
            Self::Text(_) => Inputs::Texts(vec![]),
        }
    }
}

impl Inputs {
    /// Adds an input. Gives `false` for one of the other kind.
    pub fn push(&mut self, input: Input) -> bool {
        match (self, input) {
            (Self::Numbers(all), Input::Numbers(numbers)) => all.extend(numbers),
            (Self::Texts(all), Input::Text(text)) => all.push(text),
            _ => return false,
        }
        true
    }
}

impl<'de> Deserialize<'de> for Input {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(OfInput)
    }
}

struct OfInput;

impl<'de> Visitor<'de> for OfInput {
    type Value = Input;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            "a list of numbers or a text (files of images by name, as of CelebA, are not read)",
        )
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Input, E> {
        Ok(Input::Text(text.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Input, A::Error> {
        let mut numbers = vec![];
        while let Some(number) = seq.next_element()? {
            numbers.push(number);
        }
        Ok(Input::Numbers(numbers))
    }
}

impl<'de> Deserialize<'de> for Target {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(OfTarget)
    }
}

struct OfTarget;

impl Visitor<'_> for OfTarget {
    type Value = Target;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number or a text")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Target, E> {
        Ok(Target {
            name: text.to_owned(),
            is_number: false,
        })
    }

    fn visit_u64<E: Error>(self, n: u64) -> Result<Target, E> {
        Ok(Target::number(n))
    }

    fn visit_i64<E: Error>(self, n: i64) -> Result<Target, E> {
        Ok(Target::number(n))
    }

    fn visit_f64<E: Error>(self, x: f64) -> Result<Target, E> {
        Ok(Target::number(x))
    }
}
