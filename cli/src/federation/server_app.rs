//! The flag `fedround party --for-server-app`: answers the requests of a ServerApp that is written in
//! Python.

use std::error::Error;
use std::process::ExitCode;

use fedround::federation::{Answer, AppParty, AppTrainer, LocalSgd};
use fedround_data::Examples;
use fedround_simulation::Simulation;

use super::args::PartyArgs;
use super::error::FederationError;
use super::escape::escaped;
use super::membership::{LOOK, join, left};
use crate::error::CliError;
use crate::settings::Settings;
use crate::settings::hypers::{Given, Setting};
use crate::terminal::interrupt::{listen, stop_requested};
use crate::terminal::tell;

/// Trains for a ServerApp until a signal comes, for these clients and with these test examples.
pub(super) fn serve(
    settings: &Settings,
    (here, tests): (&[usize], Examples),
    args: &PartyArgs,
    compile: impl Fn(&Settings) -> Result<Simulation, CliError> + Sync,
) -> Result<ExitCode, CliError> {
    let compile = |work: Option<&LocalSgd>| -> Result<Simulation, Box<dyn Error>> {
        let mut settings = settings.clone();
        let changed = work.map(LocalSgd::settings).unwrap_or_default();
        let changed = changed.into_iter().map(|(name, value)| Setting {
            name: name.to_owned(),
            value: Given::Value(value),
        });
        settings.hypers.extend(changed);
        compile(&settings).map_err(Into::into)
    };
    let trainer = AppTrainer::new(here.to_vec(), tests, Box::new(compile));
    let trainer = trainer.map_err(FederationError::from)?;
    let party = join(args)?;
    listen();
    if !args.quiet {
        let (id, link) = (party.node_id(), &args.link.superlink);
        tell!("party {id} is online at {link}, and trains for the ServerApp of any run there");
    }
    let mut party = AppParty::new(party, trainer);
    while !stop_requested() {
        let answer = match party.answer_next(LOOK) {
            Err(_) if stop_requested() => break,
            answer => answer.map_err(FederationError::from)?,
        };
        match answer {
            Some(Answer::Refused(why)) => {
                tell!("warning: a request was refused: {}", escaped(&why))
            }
            Some(Answer::TooLate) => tell!("warning: a reply was too late"),
            Some(_) | None => {}
        }
    }
    Ok(left(party.leave())?)
}
