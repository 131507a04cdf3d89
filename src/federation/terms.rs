//! What a coordinator and its parties must have alike beside the program, whose hash does not depend on it.

#[cfg(test)]
mod tests;

use fedround_data::own::TableEncoder;
use fedround_data::{DataDigest, Scale};
use fedround_flower::{Config, ConfigValue};

use super::checksum::checksum;
use super::input_columns::{checksums, first_difference};
use crate::experiment::Run;

const FILES: &str = "both need the same files, read with the same flags, such as --normalize, --missing and --test-share; a \
                     dataset of this party alone needs --own-data";

/// The number of clients, the seed, the classes, the columns of a table, and what is held back for validation; and
/// where all is dealt from one dataset, its examples and who has which. A coordinator sends its own with its first
/// request, and a party with others does not take part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Terms {
    facts: Vec<Fact>,
    population: usize,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Fact {
    /// In messages.
    key: &'static str,
    name: &'static str,
    value: String,
    kind: Kind,
    /// What makes it the same on both sides, where the name does not tell. May be empty.
    help: &'static str,
}

/// What the value of a fact is.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Kind {
    /// What anybody may read.
    Plain,
    /// Whether the dataset belongs to one party alone. A coordinator's may be the whole federation's where a party's
    /// is its own.
    OwnData,
    /// A checksum of examples, or of names that concern nobody else.
    Checksum,
    /// Checksums of the columns of a table, which have these names here.
    Columns(Vec<String>),
}

/// How a coordinator's terms differ from a party's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Difference {
    /// What both sides are told.
    pub told: String,
    /// What the party's operator is told beside it, with names that concern nobody else.
    here: Option<String>,
}

impl Terms {
    /// The terms of a run. A party with a dataset of its own deals it as it likes. Otherwise all examples are read, for
    /// their checksums.
    pub fn of(run: &Run, own_data: bool) -> Self {
        let (settings, data) = (run.settings(), run.data());
        let all = settings.clients.to_string();
        let validation = share(settings.validation);
        let mut facts = vec![
            Fact {
                kind: Kind::OwnData,
                ..fact("own-data", "owner of the dataset", own_data.to_string())
            },
            fact("of-clients", "number of clients", all),
            fact("seed", "seed", settings.seed.to_string()),
            sum("classes", "list of classes", checksum(&data.class_names)),
            fact("validation", "share of validation examples", validation)
                .help("give both the same --validation"),
        ];
        facts.extend(data.table.as_deref().map(inputs));
        if !own_data {
            facts.extend(of_one_dataset(run));
        }
        Self {
            facts,
            population: run.simulation().dataset().client_indices.len(),
        }
    }

    /// How many clients there are, which are numbered from 0. A centralized algorithm has one.
    pub fn population(&self) -> usize {
        self.population
    }

    /// The settings of a message.
    pub(super) fn settings(&self) -> impl Iterator<Item = (String, ConfigValue)> {
        let facts = self.facts.iter();
        facts.map(|fact| (fact.key.to_owned(), ConfigValue::Text(fact.value.clone())))
    }

    /// How a coordinator's terms differ from these of a party. What it does not say is taken for the same.
    pub(super) fn difference(&self, coordinator: &Config) -> Option<Difference> {
        let mut facts = self.facts.iter();
        facts.find_map(|fact| fact.difference(coordinator.get(fact.key)?))
    }
}

impl Fact {
    /// The same with what makes both sides alike.
    fn help(self, help: &'static str) -> Self {
        Self { help, ..self }
    }

    /// How the fact of a coordinator differs from this one of a party.
    fn difference(&self, found: &ConfigValue) -> Option<Difference> {
        let (name, own) = (self.name, &self.value);
        let ConfigValue::Text(found) = found else {
            let told = format!("expected a text that says the coordinator's {name}");
            return Some(Difference { told, here: None });
        };
        if found == own {
            return None;
        }
        let mut here = None;
        let what = match &self.kind {
            Kind::Plain => {
                format!("this party has the {name} {own}, the coordinator has {found}")
            }
            Kind::OwnData if own == "true" => return None,
            Kind::OwnData => "the parties of the coordinator have datasets of their own, and this party's is that of \
                              the whole federation; give --own-data to all of them or to none"
                .to_owned(),
            Kind::Checksum => format!("this party has another {name} than the coordinator"),
            Kind::Columns(names) => {
                let (at, how) = first_difference(own, found);
                let column = at + 1;
                here = names
                    .get(at)
                    .map(|name| format!("column {column} is `{name}` here"));
                format!(
                    "column {column} of those that are this party's inputs is not that of the coordinator: {how}"
                )
            }
        };
        let told = match self.help {
            "" => what,
            help => format!("{what}; {help}"),
        };
        Some(Difference { told, here })
    }
}

impl Difference {
    /// What the party's operator is told.
    pub(super) fn in_full(self) -> String {
        match self.here {
            Some(here) => format!("{} ({here})", self.told),
            None => self.told,
        }
    }
}

/// What is alike where all examples are dealt from one dataset.
fn of_one_dataset(run: &Run) -> Vec<Fact> {
    let (settings, data) = (run.settings(), run.data());
    let digest = DataDigest::of(data);
    let dealing = settings.dealing_seed().to_string();
    let public = share(settings.public_share);
    let mut facts = vec![
        sum("data", "dataset", checksum([&data.name])),
        fact("partition", "partition", settings.partition.to_string()),
        fact("dealing-seed", "seed of the partition", dealing),
        // Before the training examples, which are those that are left.
        fact("public-share", "share of public examples", public),
        sum("examples", "set of training examples", digest.train).help(FILES),
        sum("tests", "set of test examples", digest.test).help(FILES),
    ];
    // Numbers are scaled when they are read, and bytes when they are used.
    facts.extend(data.train.x().scale().map(scale));
    facts
}

/// The columns of a table that are inputs.
fn inputs(table: &TableEncoder) -> Fact {
    let names = table.inputs().map(|(name, _)| name.to_owned()).collect();
    Fact {
        kind: Kind::Columns(names),
        help: "all tables need the same columns in the same order, and each of their texts in some row",
        ..fact("inputs", "columns of inputs", checksums(table))
    }
}

/// How bytes become numbers, as `--normalize` has it.
fn scale(scale: &Scale) -> Fact {
    let (mean, std) = scale.mean_and_std();
    let [mean, std] = [mean, std].map(|numbers| {
        let texts = numbers.iter().map(f32::to_string);
        texts.collect::<Vec<_>>().join(":")
    });
    fact("scale", "scale of inputs", format!("{mean},{std}")).help("give both the same --normalize")
}

/// A share of the examples, if there is one.
fn share(share: Option<f64>) -> String {
    share.map_or("none".to_owned(), |share| share.to_string())
}

fn fact(key: &'static str, name: &'static str, value: String) -> Fact {
    Fact {
        key,
        name,
        value,
        kind: Kind::Plain,
        help: "",
    }
}

/// A fact that is compared by a checksum.
fn sum(key: &'static str, name: &'static str, value: String) -> Fact {
    Fact {
        kind: Kind::Checksum,
        ..fact(key, name, value)
    }
}
