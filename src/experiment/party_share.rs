//! What the clients of one party have of a dataset.

use std::collections::HashSet;

use fedround_data::Dataset;
use fedround_data::partition::{PartitionError, Split};

use super::{ExperimentError, InputError, Settings};

/// The clients of a federation that are at one party.
#[derive(Clone, Debug)]
pub(super) struct PartyShare {
    /// Their numbers.
    pub clients: Vec<usize>,
    /// Whether the dataset is theirs alone.
    pub own: bool,
}

impl PartyShare {
    /// What each client of the federation has: those of this party have all of their own dataset, or
    /// otherwise their part of the federation's. Others have nothing, unless a single client trains on the
    /// examples of all (`centralized`), which are joined later.
    ///
    /// # Errors
    ///
    /// A client that the federation does not have or that is named twice, or a dataset that cannot be dealt.
    pub fn splits(
        &self,
        settings: &Settings,
        data: &Dataset,
        centralized: bool,
    ) -> Result<Vec<Split>, ExperimentError> {
        let (all, seed) = (settings.clients, settings.dealing_seed());
        if let Some(&client) = self.clients.iter().find(|client| **client >= all) {
            let clients = all;
            return Err(InputError::PartyClient { client, clients }.into());
        }
        let mut known = HashSet::new();
        if let Some(&client) = self.clients.iter().find(|client| !known.insert(**client)) {
            return Err(InputError::PartyClientTwice { client }.into());
        }
        let deal = |clients: usize| -> Result<Vec<Split>, PartitionError> {
            settings.partition.deal(data, clients, seed)
        };
        if centralized && !self.own {
            return Ok(deal(all)?);
        }
        let mut splits = vec![];
        let room = splits.try_reserve_exact(all);
        room.map_err(|_| PartitionError::Memory { clients: all })?;
        splits.resize(all, Split::default());
        if self.own {
            for (&client, split) in self.clients.iter().zip(deal(self.clients.len())?) {
                splits[client] = split;
            }
        } else {
            let mut dealt = deal(all)?;
            for &client in &self.clients {
                splits[client] = std::mem::take(&mut dealt[client]);
            }
        }
        Ok(splits)
    }
}

#[cfg(test)]
mod tests {
    use fedround_data::partition::Partition;
    use fedround_data::synth::SynthDigits;

    use super::*;

    #[test]
    fn a_party_has_the_examples_of_its_clients() {
        let data = SynthDigits {
            train: 120,
            test: 10,
            ..SynthDigits::default()
        };
        let data = data.generate();
        let settings = Settings {
            clients: 4,
            partition: Partition::Iid,
            ..Settings::default()
        };
        let trained = |clients: &[usize], own: bool, centralized: bool| {
            let clients = clients.to_vec();
            let share = PartyShare { clients, own };
            let all = share.splits(&settings, &data, centralized).unwrap();
            all.into_iter().map(|split| split.train).collect::<Vec<_>>()
        };
        let whole = settings.partition.deal(&data, 4, settings.dealing_seed());
        let whole: Vec<_> = whole.unwrap().into_iter().map(|own| own.train).collect();
        let part = trained(&[1, 3], false, false);
        assert_eq!((&part[1], &part[3]), (&whole[1], &whole[3]));
        assert!(part[0].is_empty() && part[2].is_empty());

        let unknown = PartyShare {
            clients: vec![1, 4],
            own: false,
        };
        let error = unknown.splits(&settings, &data, false).unwrap_err();
        assert!(error.to_string().contains("client 4"), "{error}");

        for own in [false, true] {
            let clients = vec![3, 1, 3];
            let twice = PartyShare { clients, own };
            let error = twice.splits(&settings, &data, false).unwrap_err();
            assert!(error.to_string().starts_with("client 3 is named twice"));
        }

        let many = Settings {
            clients: usize::MAX,
            ..settings.clone()
        };
        let one = PartyShare {
            clients: vec![0],
            own: true,
        };
        let error = one.splits(&many, &data, false).unwrap_err();
        assert!(error.to_string().starts_with("no memory is left"));

        // A dataset of its own is dealt to its clients alone.
        let all: Vec<usize> = (0..data.train.len()).collect();
        let own = trained(&[1, 3], true, false);
        assert!(own[0].is_empty() && own[2].is_empty());
        let mut joined = own.concat();
        joined.sort_unstable();
        assert_eq!(joined, all);

        // The only client of a centralized algorithm has them all, in the order of a simulation.
        assert_eq!(trained(&[0], false, true).concat(), whole.concat());
        let own = trained(&[0], true, true);
        assert_eq!(own[0].len(), all.len());
        assert_eq!(own.concat().len(), all.len());
    }
}
