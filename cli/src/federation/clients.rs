//! The clients of a party, and their examples.

use fedround_data::Dataset;
use fedround_data::partition::{PartitionError, Split};

use super::error::FederationError;
use crate::error::CliError;
use crate::settings::Settings;

/// The numbers in a text such as `0,2,7-9`, in ascending order, each once.
pub(super) fn numbers(text: &str, clients: usize) -> Result<Vec<usize>, FederationError> {
    let wrong = || FederationError::Clients {
        found: text.to_owned(),
    };
    let mut all = vec![];
    for part in text.split(',') {
        let number = |text: &str| text.trim().parse::<usize>().map_err(|_| wrong());
        let (first, last) = match part.split_once('-') {
            Some((first, last)) => (number(first)?, number(last)?),
            None => (number(part)?, number(part)?),
        };
        if first > last {
            return Err(wrong());
        }
        if last >= clients {
            let client = last;
            return Err(FederationError::NoClient { client, clients });
        }
        all.extend(first..=last);
    }
    all.sort_unstable();
    all.dedup();
    Ok(all)
}

/// What each client of the federation has of a dataset: with `own` the clients that are here have all of
/// it, otherwise their part of the federation's. Others have nothing.
pub(super) fn splits(
    settings: &Settings,
    data: &Dataset,
    (here, own): (&[usize], bool),
) -> Result<Vec<Split>, CliError> {
    let (partition, seed) = (&settings.run.partition, settings.run.dealing_seed());
    let deal = |clients: usize| -> Result<Vec<Split>, PartitionError> {
        partition.deal(data, clients, seed)
    };
    let mut all = vec![Split::default(); settings.run.clients];
    if own {
        for (&client, split) in here.iter().zip(deal(here.len())?) {
            all[client] = split;
        }
    } else {
        let mut dealt = deal(settings.run.clients)?;
        for &client in here {
            all[client] = std::mem::take(&mut dealt[client]);
        }
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::config::Config;
    use crate::run::{SettingArgs, TestArgs};

    #[test]
    fn numbers_are_read() {
        assert_eq!(numbers("3", 4).unwrap(), [3]);
        assert_eq!(numbers("7-9, 0,2,8", 10).unwrap(), [0, 2, 7, 8, 9]);
        for wrong in ["", "a", "3-1", "1-", "-1", "1,,2"] {
            assert!(numbers(wrong, 10).is_err(), "{wrong}");
        }
        let error = numbers("0-10", 10).unwrap_err().to_string();
        assert!(error.contains("client 10 is not one"), "{error}");
    }
    #[test]
    fn own_examples_are_dealt_to_the_clients_here_alone() {
        let text = "spec = \"fedavg\"\nclients = 4\npartition = \"iid\"";
        let config = Config::parse(Path::new("config.toml"), text).unwrap();
        let (flags, tests) = (SettingArgs::default(), TestArgs::default());
        let settings = Settings::over(config, &flags, &tests, None, None).unwrap();
        let data = settings.load().unwrap();
        let trained = |own: bool| {
            let all = splits(&settings, &data, (&[1, 3], own)).unwrap();
            all.into_iter().map(|split| split.train).collect::<Vec<_>>()
        };
        let run = &settings.run;
        let whole = run.partition.deal(&data, 4, run.dealing_seed());
        let whole = whole.unwrap();
        let part = trained(false);
        assert_eq!((&part[1], &part[3]), (&whole[1].train, &whole[3].train));
        assert!(part[0].is_empty() && part[2].is_empty());
        let own = trained(true);
        assert!(own[0].is_empty() && own[2].is_empty());
        let mut all = own.concat();
        all.sort_unstable();
        assert_eq!(all, (0..data.train.len()).collect::<Vec<_>>());
    }
}
