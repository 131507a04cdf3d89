//! What `--dry-run` prints.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use clap::Parser;

use super::{arguments, tables};
use crate::args::{Args, Command};
use crate::catalog::Catalog;
use crate::reproduce::plan::Plan;
use crate::reproduce::tables::Paper;
use crate::reproduce::{drop_dead_hypers, listing};
use crate::settings::Settings;
use crate::settings::dead_hypers::Uses;

#[test]
fn every_printed_command_of_the_small_scale_can_be_run() {
    printed_commands_can_be_run("small");
}

#[test]
fn every_printed_command_of_the_full_scale_can_be_run() {
    printed_commands_can_be_run("full");
}

/// What `--dry-run` prints is checked as the command checks what it is told, but for the data.
fn printed_commands_can_be_run(scale: &str) {
    let (catalog, mut objectives) = (Catalog::default(), BTreeMap::new());
    let (mut commands, mut checked) = (BTreeSet::new(), BTreeSet::new());
    for (paper, table) in tables() {
        let args = arguments(&format!("paper table --scale {scale} --seeds 1"));
        let found = Paper::find(paper.name).unwrap();
        let plan = Plan::new(&catalog, found, &table.name, &args).unwrap();
        let dir = Path::new("out");
        let cells = drop_dead_hypers::without_dead(&catalog, plan.cells()).unwrap();
        commands.extend(listing::commands(&cells, dir));
    }
    assert!(commands.len() > 150, "{}", commands.len());
    for line in commands {
        let parsed = Args::try_parse_from(words(&line));
        let parsed = parsed.unwrap_or_else(|error| panic!("{line}: {error}"));
        let Command::Run(args) = parsed.command else {
            panic!("{line}");
        };
        let spec = args.spec.as_deref();
        let settings = Settings::resolve(&args.settings, &args.tests, spec, args.seed);
        let settings = settings.unwrap_or_else(|error| panic!("{line}: {error}"));
        let objective = objectives
            .entry(settings.model.clone())
            .or_insert_with(|| catalog.objective(&settings).unwrap());
        if !checked.insert(format!("{} {:?}", settings.spec, settings.hypers)) {
            continue;
        }
        let given = (&*settings.spec, &*settings.hypers);
        let uses = Uses::of(&catalog.registry, given, objective);
        let found = uses.and_then(|uses| uses.check(&settings.spec));
        found.unwrap_or_else(|error| panic!("{line}: {error}"));
    }
}

#[test]
fn a_run_has_the_settings_of_its_printed_command() {
    let catalog = Catalog::default();
    let args = arguments("paper table --seeds 1");
    let plan = Plan::new(&catalog, Paper::find("fedaa").unwrap(), "captions", &args).unwrap();
    let cells = drop_dead_hypers::without_dead(&catalog, plan.cells()).unwrap();
    let lines = listing::commands(&cells, Path::new("out"));
    // The share of the clients that FedAvg draws is not what FedAA draws.
    let fraction_of = |method: &str| {
        lines
            .iter()
            .any(|line| line.contains(method) && line.contains("fraction=0.5"))
    };
    assert!(fraction_of("run fedavg") && !fraction_of("run fedaa"));
    for (cell, line) in cells.iter().zip(&lines) {
        let Command::Run(args) = Args::try_parse_from(words(line)).unwrap().command else {
            panic!("{line}");
        };
        let spec = args.spec.as_deref();
        let settings = Settings::resolve(&args.settings, &args.tests, spec, args.seed).unwrap();
        let algorithm = catalog.algorithm(&settings.spec, &settings.hypers).unwrap();
        let printed = toml::to_string(&settings.config(&*algorithm)).unwrap();
        assert_eq!(
            toml::to_string(&cell.config(&catalog).unwrap()).unwrap(),
            printed
        );
    }
}

/// The words of a command of which some are quoted.
fn words(line: &str) -> Vec<String> {
    let parts = line.split('\'').enumerate();
    // Every second part is inside of quotes, where spaces are letters.
    let masked = parts.map(|(i, part)| match i % 2 {
        0 => part.to_owned(),
        _ => part.replace(' ', "\u{0}"),
    });
    let masked: String = masked.collect();
    let words = masked.split(' ').map(|word| word.replace('\u{0}', " "));
    words.collect()
}
