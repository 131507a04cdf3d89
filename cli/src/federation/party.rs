//! The subcommand `fedround party`: trains with the data of this machine for a coordinator.

use std::fs;
use std::path::Path;
use std::process::ExitCode;

use fedround::experiment::Run;
use fedround::federation::{Answer, DurableHost, Participant, ParticipantError, Terms};
use fedround_dsl::Hyper;

use super::args::PartyArgs;
use super::error::FederationError;
use super::escape::escaped;
use super::membership::{LOOK, join, left};
use super::resolve::resolve;
use super::server_app;
use crate::catalog::Catalog;
use crate::error::CliError;
use crate::explain::what_crosses;
use crate::run::{TestArgs, lock};
use crate::settings::Settings;
use crate::terminal::interrupt::{listen, stop_requested};
use crate::terminal::{print, tell};

/// What crosses besides the wire table, where clients have models of their own.
const EVALUATION: &str = "Evaluation
  of each client, when the coordinator asks: the accuracy of its own model on its own test
  examples and on those that it holds back, and which tensors of the model are its own

";

pub(crate) fn party(catalog: &Catalog, args: &PartyArgs) -> Result<ExitCode, CliError> {
    let tests = TestArgs {
        validation: args.validation,
        ..TestArgs::default()
    };
    let (mut settings, _) = resolve(&args.settings, &tests, args.spec.as_deref(), args.seed)?;
    if args.for_server_app {
        // A ServerApp has models tested on test examples alone.
        settings.run.validation = None;
    }
    let algorithm = catalog.algorithm(&settings.spec, &settings.hypers)?;
    // A centralized one has one client, whatever --clients says: number 0.
    let clients = match algorithm.centralized() {
        true => 1,
        false => settings.run.clients,
    };
    let here = numbers(&args.host, clients)?;
    let data = settings.load()?;
    let prepare = |settings: &Settings| -> Result<Run, CliError> {
        let experiment = catalog.experiment(settings, data.clone())?;
        let experiment = match args.own_data {
            true => experiment.of_party_with_own_data(here.clone()),
            false => experiment.of_party(here.clone()),
        };
        Ok(experiment.prepare(settings.rounds)?)
    };
    let run = prepare(&settings)?;
    // Only a coordinator's request needs them, and checksums of many examples take long.
    let is_asked = args.approve.is_some() && !args.for_server_app;
    let terms = is_asked.then(|| Terms::of(&run, args.own_data));
    let host = run.into_party(here.clone());
    let host = host.map_err(FederationError::from)?;
    let hash = host.graph_hash().to_owned();
    if let Err(error) = approved(&hash, args.approve.as_deref()) {
        if !matches!(
            error,
            CliError::Federation(FederationError::NotApproved { .. })
        ) {
            return Err(error);
        }
        let simulation = host.simulation();
        print(&what_crosses(simulation.program()))?;
        if simulation.has_personal_models() {
            print(EVALUATION)?;
        }
        return Err(error);
    }
    if args.approve.as_deref() == Some("any") {
        tell!(
            "warning: this party takes part in any program that its command line names (--approve any)"
        );
    }

    let state = &args.state;
    fs::create_dir_all(state).map_err(CliError::io("create the folder", state))?;
    let _lock = lock(state)?;
    if args.for_server_app {
        // It compiles one of its own, for each choice of settings.
        drop(host);
        let compile = |settings: &Settings| Ok(prepare(settings)?.into_simulation());
        let tests = data.test.clone();
        return server_app::serve(&settings, (&here, tests), args, compile);
    }
    let host = DurableHost::open(host, state).map_err(FederationError::from)?;
    let party = join(args)?;
    // Until now a signal ends the process: nobody waits for a reply of it.
    listen();
    if !args.quiet {
        let (id, link) = (party.node_id(), &args.link.superlink);
        tell!("party {id} is online at {link}, program {hash}");
    }
    let mut participant = Participant::new(party, host);
    if let Some(terms) = terms {
        participant = participant.with_terms(terms);
    }
    serve(&mut participant, &hash, args.quiet)?;
    Ok(left(participant.leave())?)
}

/// Answers requests until a signal comes, and says what an operator should know.
fn serve(participant: &mut Participant, hash: &str, quiet: bool) -> Result<(), FederationError> {
    let mut round = participant.host().simulation().round();
    // Each round may bring the same again.
    let mut said = None;
    while !stop_requested() {
        let answer = match participant.answer_next(LOOK) {
            // The SuperLink is away, and is not waited for any more.
            Err(ParticipantError::Flower(_)) if stop_requested() => break,
            answer => answer?,
        };
        let kept = participant.host().simulation().round();
        if kept != round && !quiet {
            tell!("round {kept} is kept");
        }
        round = kept;
        let warning = match answer {
            Some(Answer::OtherProgram(found)) => format!(
                "the coordinator runs the program {}; this party takes part in {hash}",
                escaped(&found)
            ),
            Some(Answer::Refused(why)) => format!("a request was refused: {}", escaped(&why)),
            Some(Answer::Failed(why)) => format!("a request failed here: {}", escaped(&why)),
            Some(Answer::TooLate) => "a reply was too late".to_owned(),
            Some(Answer::Replied) => {
                said = None;
                continue;
            }
            Some(Answer::Greeted) | None => continue,
        };
        if said.as_ref() != Some(&warning) {
            tell!("warning: {warning}");
            said = Some(warning);
        }
    }
    Ok(())
}

/// The numbers of clients in a text such as `0,2,7-9`, in ascending order, each once.
fn numbers(text: &str, clients: usize) -> Result<Vec<usize>, FederationError> {
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

/// Checks the hash of a coordinator's program against `--approve`: what the party's operator approves.
fn approved(hash: &str, approve: Option<&str>) -> Result<(), CliError> {
    let not = || {
        let hash = hash.to_owned();
        CliError::from(FederationError::NotApproved { hash })
    };
    match approve {
        Some("any") => Ok(()),
        Some(one) if one.eq_ignore_ascii_case(hash) => Ok(()),
        Some(file) if Path::new(file).exists() => {
            let path = Path::new(file);
            let text = fs::read_to_string(path).map_err(CliError::io("read", path))?;
            // A line may say behind the hash what it is of.
            let text = text.trim_start_matches('\u{feff}');
            let hashes = text
                .lines()
                .filter_map(|line| line.split_whitespace().next());
            match { hashes }.any(|one| one.eq_ignore_ascii_case(hash)) {
                true => Ok(()),
                false => Err(not()),
            }
        }
        Some(other) if !is_hash(other) => Err(FederationError::NoApproval {
            found: other.to_owned(),
        }
        .into()),
        _ => Err(not()),
    }
}

/// Whether a text has the form of a program's hash.
fn is_hash(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use super::*;

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
    fn a_party_takes_part_in_what_was_approved() {
        assert!(approved("ab", Some("ab")).is_ok());
        assert!(approved("ab", Some("any")).is_ok());
        assert!(approved("ab", Some("AB")).is_ok());
        let other = approved("ab", Some(&"cd".repeat(32))).unwrap_err();
        let is_other = matches!(
            other,
            CliError::Federation(FederationError::NotApproved { .. })
        );
        assert!(is_other, "{other}");
        // A file that is not there.
        let error = approved("ab", Some("aproved.txt")).unwrap_err();
        let is_mistake = matches!(
            error,
            CliError::Federation(FederationError::NoApproval { .. })
        );
        assert!(is_mistake, "{error}");
        assert!(approved("ab", None).is_err());
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("approved.txt");
        fs::write(&path, "# fedavg in March\ncd\nab  fedprox, mu 0.1\n").unwrap();
        let file = path.to_str();
        assert!(approved("ab", file).is_ok());
        assert!(approved("ef", file).is_err());
        // As Windows' editors write it.
        fs::write(&path, "\u{feff}AB\r\n").unwrap();
        assert!(approved("ab", file).is_ok());
    }
}
