//! `fedround bench`: the tasks of the peers in other frameworks, with their report.
//!
//! The data, partition, cohorts, batch order and initial parameters all come from one seed, as in
//! the peers. The clock starts at the end of round 1, the warm-up; with one round that one is
//! timed. Several measurements have a process each, since peaks of memory are a process's.

mod args;
mod clock;
mod error;
mod idle_share;
mod measurement;
mod peers;
mod plot;
mod process;
mod report;
mod sweep;
mod table;
mod tasks;

use std::fs::OpenOptions;
use std::process::{Command, Output};

use fedround_exec::{Device, Devices};

use crate::catalog::Catalog;
use crate::error::CliError;
use crate::files::{json, write_text};
use crate::terminal::print;
pub(super) use args::BenchArgs;
use args::OneArgs;
pub(super) use error::BenchError;
use report::{Report, Row};
use sweep::{Axis, Sweep};
pub(super) use tasks::TaskName;

pub(super) fn bench(catalog: &Catalog, args: &BenchArgs) -> Result<(), CliError> {
    // Before anything is measured, which takes its time.
    let peers = peers::rows(&args.peers, args.one.task.task().name)?;
    for path in args.out.iter().chain(&args.plot) {
        let file = OpenOptions::new().append(true).create(true).open(path);
        file.map_err(CliError::io("write", path))?;
    }
    let cases = cases(args)?;
    let mut rows: Vec<Row> = cases
        .iter()
        .map(|(name, _)| Row {
            name: name.clone(),
            runs: vec![],
        })
        .collect();
    let several = args.factors || args.sweep.is_some() || args.runs.is_some();
    // In turns, so that what else the machine does slows all alike.
    for _ in 0..args.runs.unwrap_or(1).max(1) {
        for ((_, one), row) in cases.iter().zip(&mut rows) {
            let mut report = match several {
                true => apart(one)?,
                false => measurement::measure(catalog, one)?,
            };
            if args.idle {
                report.idle_share = idle_share::of(one, &report)?;
            }
            row.runs.push(report);
        }
    }
    if let (Some(path), Some(sweep)) = (&args.plot, &args.sweep) {
        plot::draw(path, sweep.axis.name(), &sweep.values, &rows)?;
    }
    rows.extend(peers);
    let text = match &rows[..] {
        [row] if !several => json(&row.runs[0])?,
        rows => json(&rows)?,
    };
    if let Some(path) = &args.out {
        write_text(path, &text)?;
    }
    let what = args
        .sweep
        .as_ref()
        .map_or("fedround bench", |sweep| sweep.axis.name());
    print(&if args.markdown {
        table::markdown(what, &rows)
    } else if args.table {
        table::text(what, &rows)
    } else {
        text
    })
}

/// What is measured: names and arguments.
fn cases(args: &BenchArgs) -> Result<Vec<(String, OneArgs)>, CliError> {
    let one = &args.one;
    if let Some(sweep) = &args.sweep {
        return Ok(sweep_cases(sweep, one));
    }
    let name = match one.spec.as_str() {
        "fedavg" => "fedround".to_owned(),
        spec => format!("fedround, {spec}"),
    };
    let mut cases = vec![(format!("{name}, {}", one.device), one.clone())];
    if args.factors {
        let factors = factors(one, &Devices::choose(&one.device)?).into_iter();
        cases.extend(factors.filter(|(_, other)| other.line() != one.line()));
    }
    Ok(cases)
}

/// The measurements of a sweep, named by their numbers. All have clients that share examples, as the
/// largest number of clients must.
fn sweep_cases(sweep: &Sweep, one: &OneArgs) -> Vec<(String, OneArgs)> {
    let case = |&n: &usize| {
        let mut args = one.clone();
        args.clients.get_or_insert(one.task.task().clients);
        match sweep.axis {
            Axis::Clients => args.clients = Some(n),
            Axis::Cohort => args.cohort = Some(n),
        }
        (format!("{n}"), args)
    };
    sweep.values.iter().map(case).collect()
}

/// The measurement with one thing changed at a time, named by the flag that changes it.
fn factors(one: &OneArgs, devices: &Devices) -> Vec<(String, OneArgs)> {
    let mut cases = vec![];
    let mut case = |name: &str, change: &dyn Fn(&mut OneArgs)| {
        let mut changed = one.clone();
        change(&mut changed);
        cases.push((name.to_owned(), changed));
    };
    // On GPUs burn fuses, always.
    if devices.all().any(|device| device == Device::Cpu) {
        case("--no-fusion", &|args| args.no_fusion = true);
        case("--threads 1", &|args| args.threads = 1);
    }
    if devices.all().any(|device| device != Device::Cpu) {
        for graphs in ["off", "on"] {
            let name = format!("--graphs {graphs}");
            case(&name, &|args| args.graphs = graphs.to_owned());
        }
    }
    for batch in ["off", "8"] {
        let name = format!("--cohort-batch {batch}");
        case(&name, &|args| args.cohort_batch = batch.to_owned());
    }
    case("--evaluate", &|args| args.evaluate = true);
    cases
}

/// Measures in a process of its own.
fn apart(one: &OneArgs) -> Result<Report, CliError> {
    Ok(serde_json::from_slice(&process_of(one, &[])?.stdout)?)
}

/// What a measurement in a process of its own says, with more in its environment.
fn process_of(one: &OneArgs, environment: &[(&str, &str)]) -> Result<Output, CliError> {
    let line = one.line();
    let failed = |said: String| {
        let line: Vec<_> = line.iter().map(|part| part.to_string_lossy()).collect();
        CliError::Bench(BenchError::Run {
            line: line.join(" "),
            said,
        })
    };
    let program = std::env::current_exe().map_err(|error| failed(error.to_string()))?;
    let mut command = Command::new(program);
    command.arg("bench").args(&line);
    command.envs(environment.iter().copied());
    let output = command
        .output()
        .map_err(|error| failed(error.to_string()))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        let said = said.trim().trim_start_matches("error: ");
        return Err(failed(said.to_owned()));
    }
    Ok(output)
}
