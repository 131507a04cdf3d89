//! Takes one measurement in this process.

use std::time::Instant;

use crate::files::convolution_cache::in_user_folder;
use fedround::experiment;
use fedround_data::partition::Split;
use fedround_data::{Dataset, load};
use fedround_dsl::{Algorithm, BoxedAlgorithm};
use fedround_exec::{BURN, Device, Devices};
use fedround_ir::fed::HyperValue;
use fedround_random::SEED;
use fedround_simulation::Simulation;
use serde_json::json;

use super::args::OneArgs;
use super::clock::timed;
use super::error::BenchError;
use super::process;
use super::report::{Report, finite, median, rounded};
use super::tasks::BenchTask;
use crate::catalog::Catalog;
use crate::error::{CliError, at_least_one};
use crate::settings::hypers::{self, Given, Setting};
use crate::settings::read_args::folder;

/// Runs a task's rounds and reports them.
pub(super) fn measure(catalog: &Catalog, args: &OneArgs) -> Result<Report, CliError> {
    let started = Instant::now();
    let task = chosen(args)?;
    let threads = at_least_one("threads", args.threads)?;
    process::pin(threads);
    let data = load(task.data, Some(folder(args.data_dir.as_deref())), SEED)?;
    let devices = Devices::choose(&args.device)?;
    let test = data.test.clone();
    let algorithm = algorithm(catalog, args, &task)?;
    let lr = lr(&*algorithm).unwrap_or(task.lr);
    let mut simulation = simulation(catalog, args, &task, algorithm, data, devices.clone())?;
    let tested = |simulation: &Simulation| simulation.evaluate(&test);
    let clock = timed(&mut simulation, task.rounds, started, |simulation| {
        if args.evaluate {
            tested(simulation)?;
        }
        Ok(())
    })?;
    // Before the evaluation, which the peers do outside of their measured part.
    let peak_rss = process::peak_rss_mb();
    let evaluation = tested(&simulation)?;
    let replay = simulation.capture_stats();
    let replay = replay.map(|s| {
        json!({
            "captured": s.captured,
            "replays": s.replays,
            "launches": s.launches,
            "plain": s.plain,
            "refused": s.refused,
        })
    });
    let timed_rounds = clock.rounds.len();
    let gpu = devices.all().any(|device| device != Device::Cpu);
    Ok(Report {
        peer: "fedround".to_owned(),
        task: task.name.to_owned(),
        device: devices.to_string(),
        threads,
        options: args.options(simulation.cohort_batch()),
        lr,
        rounds: task.rounds,
        timed_rounds,
        client_steps: clock.client_steps,
        wall_s: rounded(clock.wall, 4),
        first_round_s: rounded(clock.first_round, 4),
        time_to_first_round_s: rounded(clock.time_to_first_round, 3),
        median_round_s: Some(rounded(median(clock.rounds), 6)),
        rounds_per_s: rounded(timed_rounds as f64 / clock.wall, 4),
        client_steps_per_s: rounded(clock.client_steps as f64 / clock.wall, 2),
        test_accuracy: rounded(evaluation.accuracy, 5),
        test_loss: finite(rounded(evaluation.loss, 6)),
        params_l2: finite(rounded(simulation.params_l2()?, 6)),
        peak_rss_mb: peak_rss.map(|mb| rounded(mb, 0)),
        replay,
        device_memory_mb: clock.device_memory.map(|bytes| rounded(mib(bytes), 1)),
        reads_per_round: gpu.then(|| rounded(clock.reads as f64 / timed_rounds as f64, 2)),
        idle_share: None,
        kernels_per_step: simulation
            .program()
            .step_kernels(simulation.cohort_batch())?,
        versions: json!({ "fedround": env!("CARGO_PKG_VERSION"), "burn": BURN }),
    })
}

fn mib(bytes: u64) -> f64 {
    bytes as f64 / f64::from(1 << 20)
}

/// The algorithm's step size, where it has one.
fn lr(algorithm: &dyn Algorithm) -> Option<f64> {
    let mut fields = hypers::named(algorithm).into_iter();
    match fields.find(|(name, _)| name == "lr")?.1 {
        HyperValue::Float(lr) => Some(lr),
        _ => None,
    }
}

/// The task with what the arguments change of it.
fn chosen(args: &OneArgs) -> Result<BenchTask, CliError> {
    let task = args.task.task();
    let (clients, cohort) = (args.clients.unwrap_or(task.clients), args.cohort);
    if let Some(expected) = cohort.filter(|cohort| *cohort > clients) {
        let spec = args.spec.clone();
        return Err(CliError::Bench(BenchError::Cohort {
            spec,
            expected,
            clients,
            found: Some(clients),
        }));
    }
    Ok(BenchTask {
        clients: at_least_one("clients", args.clients.unwrap_or(task.clients))?,
        cohort: at_least_one("cohort", args.cohort.unwrap_or(task.cohort.min(clients)))?,
        rounds: at_least_one("rounds", args.rounds.unwrap_or(task.rounds))?,
        lr: args.lr.unwrap_or(task.lr),
        ..task
    })
}

/// The task's hyper-parameters, where the algorithm has them. With clients of equal size the
/// weighted mean is the plain one.
fn settings(task: &BenchTask) -> Vec<Setting> {
    let fraction = HyperValue::Float(task.cohort as f64 / task.clients as f64);
    let values = [
        ("fraction", fraction.clone()),
        // The name of the same where not all clients can be drawn.
        ("share", fraction),
        ("epochs", HyperValue::Int(1)),
        ("batch", HyperValue::Int(task.batch)),
        ("lr", HyperValue::Float(task.lr)),
    ];
    let setting = |(name, value): (&str, HyperValue)| Setting {
        name: name.to_owned(),
        value: Given::Value(value),
    };
    values.map(setting).into()
}

/// Who has which examples.
fn parts(args: &OneArgs, task: &BenchTask, data: &Dataset) -> Result<Vec<Vec<usize>>, CliError> {
    let n = data.train.len();
    if args.clients.is_none() && args.examples.is_none() {
        let labels = data.train.labels();
        return Ok(task
            .partition
            .split(labels, data.classes, task.clients, SEED)?);
    }
    let own = n / args.task.task().clients;
    let own = at_least_one("examples", args.examples.unwrap_or(own))?;
    let part = |k: usize| (0..own).map(|i| (k * own + i) % n).collect();
    Ok((0..task.clients).map(part).collect())
}

/// The algorithm with the task's hyper-parameters, and those of the arguments.
fn algorithm(
    catalog: &Catalog,
    args: &OneArgs,
    task: &BenchTask,
) -> Result<BoxedAlgorithm, CliError> {
    let mut algorithm = catalog.algorithm(&args.spec, &[])?;
    let own = settings(task).into_iter();
    let own = own.filter(|setting| hypers::has(&*algorithm, &setting.name));
    let all: Vec<Setting> = own.chain(hypers::assignments(&args.set)?).collect();
    for setting in &all {
        hypers::apply(&mut *algorithm, setting)?;
    }
    Ok(algorithm)
}

/// Everything that is to run.
fn simulation(
    catalog: &Catalog,
    args: &OneArgs,
    task: &BenchTask,
    algorithm: BoxedAlgorithm,
    data: Dataset,
    devices: Devices,
) -> Result<Simulation, CliError> {
    let split = |train| Split {
        train,
        ..Split::default()
    };
    // For algorithms that read public examples: as many as a tenth of all, which are clients', too.
    let public: Vec<usize> = (0..data.train.len().div_ceil(10)).collect();
    let public = data.train.subset(&public);
    let splits = parts(args, task, &data)?.into_iter().map(split).collect();
    let run = catalog
        .experiment_of(algorithm, args.model.as_deref().unwrap_or(task.model))?
        .data(data)
        .public_examples(public)
        .splits(splits)
        .settings(experiment::Settings {
            clients: task.clients,
            seed: SEED,
            threads: args.threads,
            devices,
            precision: args.precision.parse()?,
            convolutions: in_user_folder(args.convolutions.parse()?),
            exact_conv: args.exact_conv,
            cohort_batch: args.cohort_batch.parse()?,
            graph_capture: args.graphs.parse()?,
            device_data: args.device_data.parse()?,
            fusion: !args.no_fusion,
            ..experiment::Settings::default()
        })
        .prepare(task.rounds)?;
    let found = run.program().at(1).cohort_size(task.clients);
    if let Some(expected) = args.cohort.filter(|cohort| found != Some(*cohort)) {
        return Err(CliError::Bench(BenchError::Cohort {
            spec: args.spec.clone(),
            expected,
            clients: task.clients,
            found,
        }));
    }
    Ok(run.into_simulation())
}

#[cfg(test)]
mod tests {
    use clap::ValueEnum;
    use fedround_algorithms::FedAvg;
    use fedround_dsl::Hyper;

    use super::*;
    use crate::bench::TaskName;

    #[test]
    fn a_fraction_gives_the_cohort() {
        for name in TaskName::value_variants() {
            let task = name.task();
            let mut algorithm = FedAvg::default();
            let mut own = settings(&task);
            own.retain(|setting| hypers::has(&algorithm, &setting.name));
            for setting in own {
                hypers::apply(&mut algorithm as &mut dyn Hyper, &setting).unwrap();
            }
            let cohort = (f64::from(algorithm.fraction) * task.clients as f64).round() as usize;
            assert_eq!(cohort, task.cohort, "{}", task.name);
            assert_eq!(algorithm.lr, task.lr as f32);
        }
    }
}
