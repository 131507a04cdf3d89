//! The subcommand `fedround coordinator`: trains with parties that are reached through a SuperLink.

use std::fs;
use std::path::Path;
use std::process::ExitCode;
use std::time::{SystemTime, UNIX_EPOCH};

use fedround::experiment::{ExperimentError, Status};
use fedround::federation::{ClientApps, FederationSettings, FlowerParties, Notice};
use fedround_flower::{Fab, RunOutcome};
use fedround_simulation::{CohortBatch, Faults};
use fedround_store::{FolderLock, write_atomically};

use super::args::CoordinatorArgs;
use super::error::FederationError;
use super::escape::escaped;
use super::superlink_args::{seconds, stop_signal};
use super::{resolve, superlink_run};
use crate::catalog::Catalog;
use crate::compile::compilation::warn;
use crate::error::CliError;
use crate::files::names::FEDERATION;
use crate::run::{
    CheckpointEvery, Clock, Job, Progress, Summary, check_unchanged, last_begun, last_checkpoint,
    lock, lock_if_there, note_begun, open, report, warn_of_job,
};
use crate::settings::Settings;
use crate::settings::faults::FaultArgs;
use crate::terminal::interrupt::{listen, signal};
use crate::terminal::tell;

/// How long a party may take to answer, unless --deadline says.
const DEADLINE: f64 = 600.0;
/// What is written into the folder of a federation's run.
const MARK: &str =
    "The clients of this run are at parties: `fedround coordinator` goes on with it.\n";

pub(crate) fn coordinator(catalog: &Catalog, args: &CoordinatorArgs) -> Result<ExitCode, CliError> {
    let mut clock = Clock::start();
    let (settings, waits) = settings(args)?;
    let data = settings.load()?;
    let state = &args.state;
    // A folder is made once it is known that the algorithm can run.
    let held = lock_if_there(state)?;
    let (found, begun) = (last_checkpoint(state)?, last_begun(state)?);
    if found.is_some() {
        check_unchanged(state, settings.data.name(), &data)?;
    }
    let archive = found.as_ref().map(|found| &found.archive);
    let mut job = Job::to_restore(catalog, &settings, data, archive)?;
    warn(job.program());
    warn_of_job(&job);
    job.uses(catalog)?.told().check(&settings.spec)?;
    let graph = job.check_parties()?;
    if settings.run.ensemble && job.simulation().has_personal_models() {
        return Err(FederationError::Ensemble.into());
    }
    let (bundle, apps) = client_app(&job, args)?.unzip();
    let secret = superlink_run::secret(args)?;

    let lock = held.map_or_else(|| lock_new(state), Ok)?;
    if let Some(found) = &found {
        // A checkpoint of another run is an error before anything is sent.
        job.restore(&found.archive)?;
    }
    let connection = args.link.open()?;
    // Until now a signal ends the process, and from here on what it waits for.
    listen();
    let with = (bundle.as_ref(), secret.as_ref());
    let Some(coordinator) = superlink_run::take(&connection, args, with)? else {
        let signal = signal();
        let name = signal.map_or("a signal", |signal| signal.name());
        tell!("stopped by {name} before the run began");
        return Ok(signal.map_or(ExitCode::SUCCESS, |signal| signal.exit_code()));
    };
    write_atomically(&state.join(FEDERATION), &[MARK.as_bytes()])?;
    if !args.quiet {
        tell!(
            "run {} at {}, program {graph}",
            coordinator.run(),
            args.link.superlink
        );
    }
    let quiet = args.quiet;
    let notify = move |notice: Notice| say(&notice, quiet);
    let (parties, end) = FlowerParties::new(coordinator, graph, waits, notify);
    let mut parties = parties
        .with_terms(job.terms(args.own_data))
        .with_stop(stop_signal())
        .with_note_of_noise({
            let state = state.clone();
            move |round| note_begun(&state, round).map_err(|error| error.to_string())
        });
    if let Some(apps) = apps {
        parties = parties.with_client_apps(apps);
    }
    job = job.with_parties(Box::new(parties), session(), args.partial_sums)?;
    if let Some(found) = &found {
        // Again, for what parties are still to be told.
        job.restore(&found.archive)?;
    }
    job.skip_begun(begun);
    let (folder, before) = open(&job, state, lock, found.as_ref())?;
    clock.before = before;
    let parameters = job.program().parameter_count();
    let mut progress = Progress::of_run(job.settings(), state, parameters, args.quiet);
    let ended = job.train(&folder, &mut progress, clock);
    progress.finish();
    if let Some(outcome) = outcome(&ended) {
        superlink_run::end(end, outcome, state);
    }
    let (summary, failure) = ended?;
    let again = "the same command goes on";
    report((&summary, failure), &folder, again, (args.json, args.quiet)).map_err(of_parties)
}

/// Makes a folder, and locks it. Another coordinator may have begun a run in it meanwhile.
fn lock_new(state: &Path) -> Result<FolderLock, CliError> {
    fs::create_dir_all(state).map_err(CliError::io("create the folder", state))?;
    let lock = lock(state)?;
    if last_checkpoint(state)?.is_some() {
        let dir = state.to_owned();
        return Err(FederationError::Begun { dir }.into());
    }
    Ok(lock)
}

/// What the SuperLink is told of how a run ended. Nothing if it was stopped: a coordinator may go on within a
/// minute; then the SuperLink ends the run.
fn outcome(ended: &Result<(Summary, Option<ExperimentError>), CliError>) -> Option<RunOutcome> {
    match ended {
        Ok((summary, None)) if summary.status == Status::Interrupted => None,
        Ok((_, None)) => Some(RunOutcome::Completed),
        Ok((_, Some(error))) => Some(RunOutcome::Failed(error.to_string())),
        Err(error) => Some(RunOutcome::Failed(error.to_string())),
    }
}

/// In a federation there are other ways than in a simulation to have more clients in a round.
fn of_parties(error: CliError) -> CliError {
    match error {
        CliError::Experiment { source, kept }
            if matches!(*source, ExperimentError::NothingTrained { .. }) =>
        {
            let kept = kept.map(|kept| kept.to_string());
            FederationError::NothingTrained { source, kept }.into()
        }
        error => error,
    }
}

/// The settings of a run whose clients are elsewhere, and how it waits for them.
fn settings(args: &CoordinatorArgs) -> Result<(Settings, FederationSettings), CliError> {
    let mut given = args.settings.clone();
    let deadline = given.faults.deadline.take();
    let spec = args.spec.as_deref();
    let (mut settings, of_file) = resolve::resolve(&given, &args.tests, spec, args.seed)?;
    if let Some(flag) = simulated(&settings.faults) {
        return Err(FederationError::Simulated { flag }.into());
    }
    if args.own_data && settings.run.public_share.is_some() {
        return Err(FederationError::PublicShare.into());
    }
    let (least, faults) = (settings.faults.min_clients, Faults::default());
    settings.run.faults = Faults {
        min_clients: least.unwrap_or(faults.min_clients),
        ..faults
    };
    // Each client alone in its graph: then results are those of a simulation, bit for bit.
    if args.settings.engine.cohort_batch.is_none() {
        settings.run.cohort_batch = CohortBatch::Off;
    }
    // Parties are told of a round with the next one; what they were told must be written by then.
    settings.checkpoint = CheckpointEvery::Rounds(1);
    let waits = FederationSettings {
        min_parties: args.min_parties,
        patience: seconds("patience", args.patience)?,
        deadline: seconds("deadline", deadline.or(of_file).unwrap_or(DEADLINE))?,
    };
    Ok((settings, waits))
}

/// A flag of faults that real parties do not need.
fn simulated(faults: &FaultArgs) -> Option<&'static str> {
    let set = [
        ("dropout", faults.dropout.is_some()),
        ("speed", faults.speed.is_some()),
        ("bandwidth", faults.bandwidth.is_some()),
        ("profiles", faults.profiles.is_some()),
        ("over-select", faults.over_select.is_some()),
    ];
    let mut set = set.into_iter().filter(|(_, is)| *is);
    set.next().map(|(flag, _)| flag)
}

/// Larger than that of every earlier process.
fn session() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    let millis = since.unwrap_or_default().as_millis();
    u64::try_from(millis).unwrap_or(u64::MAX)
}

/// The app of clients that are Flower's, of --client-app, if the program is one for such clients.
fn client_app(job: &Job, args: &CoordinatorArgs) -> Result<Option<(Fab, ClientApps)>, CliError> {
    let Some(path) = &args.client_app else {
        return Ok(None);
    };
    let clients = ClientApps::of(job.simulation()).map_err(FederationError::from)?;
    let bytes = fs::read(path).map_err(CliError::io("read", path))?;
    Ok(Some((Fab::of_bytes(bytes), clients)))
}

/// Says on stderr what happens at parties; if `quiet`, only what changes results.
fn say(notice: &Notice, quiet: bool) {
    let changes_results = matches!(notice, Notice::Failed(..) | Notice::Refused(..));
    if quiet && !changes_results {
        return;
    }
    match notice {
        Notice::Joined(id, clients) => {
            let n = clients.len();
            let what = match &clients[..] {
                [one] => format!("client {one}"),
                [first, .., last] => format!("{n} clients, {first} to {last}"),
                [] => "no client".to_owned(),
            };
            tell!("party {id} is here with {what}");
        }
        Notice::AppJoined(id, client, examples) => {
            tell!(
                "party {id} is here with client {client}: an app of Flower with {examples} examples, which approves no hash and \
                 checks no table"
            );
        }
        Notice::Left(id) => tell!("party {id} has gone"),
        Notice::Failed(id, why) => tell!("party {id} failed: {}", escaped(why)),
        Notice::Refused(id, why) => tell!("party {id} does not take part: {}", escaped(why)),
        Notice::Waiting(there, least) => {
            tell!("{there} parties are here, waiting for {least}");
        }
    }
}
