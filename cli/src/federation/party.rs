//! The subcommand `fedround party`: trains with the data of this machine for a coordinator.

use std::fs;
use std::process::ExitCode;

use fedround::experiment::Run;
use fedround::federation::{Answer, DurableHost, Participant};
use fedround_dsl::Hyper;

use super::approval::approved;
use super::args::PartyArgs;
use super::clients::numbers;
use super::error::FederationError;
use super::membership::{LOOK, join, left};
use super::server_app;
use crate::catalog::Catalog;
use crate::error::CliError;
use crate::explain::what_crosses;
use crate::interrupt::{Stop, listen};
use crate::run::{TestArgs, lock};
use crate::settings::Settings;
use crate::terminal::{print, tell};

/// What crosses besides the wire table, where clients have models of their own.
const EVALUATION: &str = "Evaluation
  of each client, when the coordinator asks: the accuracy of its own model on its own test
  examples and on those that it holds back, and which tensors of the model are its own

";

/// Runs the subcommand.
pub(crate) fn party(catalog: &Catalog, args: &PartyArgs) -> Result<ExitCode, CliError> {
    let tests = TestArgs::default();
    let settings = Settings::resolve(&args.settings, &tests, args.spec.as_deref(), args.seed)?;
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
    let host = prepare(&settings)?.into_party(here.clone());
    let host = host.map_err(FederationError::from)?;
    let hash = host.graph_hash().to_owned();
    if let Err(error) = approved(&hash, args.approve.as_deref()) {
        let simulation = host.simulation();
        print(&what_crosses(simulation.program()))?;
        if simulation.has_personal_models() {
            print(EVALUATION)?;
        }
        return Err(error.into());
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
    let stop = listen();
    let party = join(args)?;
    if !args.quiet {
        let (id, link) = (party.node_id(), &args.link.superlink);
        tell!("party {id} is online at {link}, program {hash}");
    }
    let mut participant = Participant::new(party, host);
    serve(&mut participant, &hash, stop, args.quiet)?;
    Ok(left(participant.leave(), stop)?)
}

/// Answers requests until a signal comes, and says what an operator should know.
fn serve(
    participant: &mut Participant,
    hash: &str,
    stop: Stop,
    quiet: bool,
) -> Result<(), FederationError> {
    let mut round = participant.host().simulation().round();
    while !stop.requested() {
        let answer = participant.answer_next(LOOK)?;
        let kept = participant.host().simulation().round();
        if kept != round && !quiet {
            tell!("round {kept} is kept");
        }
        round = kept;
        match answer {
            Some(Answer::OtherProgram(found)) => {
                tell!(
                    "warning: the coordinator runs the program {found}; this party takes part in {hash}"
                );
            }
            Some(Answer::Refused(why)) => tell!("warning: a request was refused: {why}"),
            Some(Answer::TooLate) => tell!("warning: a reply was too late"),
            Some(Answer::Greeted | Answer::Replied) | None => {}
        }
    }
    Ok(())
}
