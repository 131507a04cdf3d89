//! What a coordinator and its parties must have alike beside the program, whose hash does not depend on it.

use fedround_flower::{Config, ConfigValue};
use fedround_store::hex;
use sha2::{Digest, Sha256};

use crate::experiment::Run;

/// The number of clients, the seed, the classes, and who has which examples, where all are dealt from one
/// dataset. A coordinator sends its own with its first request, and a party with others does not take part.
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
    /// Whether the value is a checksum of names that concern nobody else.
    checksum: bool,
}

impl Terms {
    /// Those of a run. A party with a dataset of its own deals it as it likes.
    pub fn of(run: &Run, own_data: bool) -> Self {
        let (settings, data) = (run.settings(), run.data());
        let public = settings.public_share;
        let public = public.map_or("none".to_owned(), |share| share.to_string());
        let all = settings.clients.to_string();
        let classes = checksum(data.class_names.iter());
        let of_all = [
            fact("of-clients", "number of clients", all),
            fact("seed", "seed", settings.seed.to_string()),
            names("classes", "list of classes", classes),
        ];
        let of_one_dataset = [
            names("data", "dataset", checksum([&data.name])),
            fact("partition", "partition", settings.partition.to_string()),
            fact(
                "dealing-seed",
                "seed of the partition",
                settings.dealing_seed().to_string(),
            ),
            fact("public-share", "share of public examples", public),
        ];
        let dealt = of_one_dataset.into_iter().filter(|_| !own_data);
        Self {
            facts: of_all.into_iter().chain(dealt).collect(),
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
    pub(super) fn difference(&self, coordinator: &Config) -> Option<String> {
        self.facts.iter().find_map(|fact| {
            let name = fact.name;
            match coordinator.get(fact.key)? {
                ConfigValue::Text(found) if *found == fact.value => None,
                ConfigValue::Text(_) if fact.checksum => Some(format!(
                    "this party has another {name} than the coordinator"
                )),
                ConfigValue::Text(found) => {
                    let own = &fact.value;
                    Some(format!(
                        "this party has the {name} {own}, the coordinator has {found}"
                    ))
                }
                _ => Some(format!(
                    "expected a text that says the coordinator's {name}"
                )),
            }
        })
    }
}

fn fact(key: &'static str, name: &'static str, value: String) -> Fact {
    Fact {
        key,
        name,
        value,
        checksum: false,
    }
}

fn names(key: &'static str, name: &'static str, value: String) -> Fact {
    Fact {
        checksum: true,
        ..fact(key, name, value)
    }
}

/// A checksum of names in their order.
fn checksum<'a>(names: impl IntoIterator<Item = &'a String>) -> String {
    let mut digest = Sha256::new();
    for name in names {
        digest.update(name);
        // No name has this byte, so that `ab, c` differs from `a, bc`.
        digest.update([0xff]);
    }
    hex(&digest.finalize()[..8])
}

#[cfg(test)]
mod tests {
    use fedround_algorithms::FedAvg;
    use fedround_data::Dataset;
    use fedround_data::partition::Partition;
    use fedround_data::synth::SynthDigits;

    use super::*;
    use crate::experiment::{Experiment, Settings};

    fn data() -> Dataset {
        let digits = SynthDigits {
            train: 60,
            test: 10,
            ..SynthDigits::default()
        };
        digits.generate()
    }

    fn terms(settings: Settings, data: Dataset, own_data: bool) -> Terms {
        let experiment = Experiment::new(FedAvg::default())
            .model("logistic")
            .data(data);
        let run = experiment.settings(settings).prepare(1).unwrap();
        Terms::of(&run, own_data)
    }

    fn settings() -> Settings {
        Settings {
            clients: 3,
            partition: Partition::Iid,
            ..Settings::default()
        }
    }

    #[test]
    fn what_differs_is_named() {
        let sent: Config = terms(settings(), data(), false).settings().collect();
        let difference = |settings: Settings, data: Dataset| {
            terms(settings, data, false)
                .difference(&sent)
                .unwrap_or_default()
        };
        assert_eq!(difference(settings(), data()), "");
        let clients = Settings {
            clients: 4,
            ..settings()
        };
        let text = "this party has the number of clients 4, the coordinator has 3";
        assert_eq!(difference(clients, data()), text);
        let seed = Settings {
            seed: 9,
            ..settings()
        };
        assert!(difference(seed, data()).contains("the seed 9"));
        let dealt = Settings {
            partition_seed: Some(9),
            ..settings()
        };
        assert!(difference(dealt, data()).contains("the seed of the partition 9"));
        let mut renamed = data();
        renamed.class_names.swap(0, 1);
        assert!(difference(settings(), renamed).contains("another list of classes"));
        let mut other = data();
        other.name = "others".to_owned();
        assert!(difference(settings(), other.clone()).contains("another dataset"));
        // A dataset of its own may have any name.
        let own = terms(settings(), other, true);
        assert_eq!(own.difference(&sent), None);
        // A coordinator of an earlier version says nothing of it.
        assert_eq!(own.difference(&Config::default()), None);
        assert_eq!(own.population(), 3);
    }
}
