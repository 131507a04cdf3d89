//! Every table can be run: its names exist, and its numbers are where they belong.

mod commands;
mod fit;
mod select;

use std::collections::BTreeSet;

use fedround_data::DatasetInfo;
use toml::Table;

use super::args::ReproduceArgs;
use super::args::Scale;
use super::columns::Of;
use super::listing;
use super::plan::Plan;
use super::tables::{Experiment, Method, Paper, Setting, papers};
use crate::catalog::Catalog;
use crate::run::{SettingArgs, TestArgs};
use crate::settings::Settings;
use crate::settings::config::Config;
use crate::settings::hypers;

/// Every table with what it shares with the others of its paper.
fn tables() -> Vec<(Paper, Experiment)> {
    let mut all = vec![];
    for paper in papers().unwrap() {
        for table in &paper.table {
            let mut paper = Paper::find(paper.name).unwrap();
            let table = paper.table(&table.name).unwrap();
            all.push((paper, table));
        }
    }
    all
}

fn names(table: &Experiment) -> Vec<&str> {
    let methods = table.common.method.iter();
    methods.map(|method| method.name.as_str()).collect()
}

#[test]
fn every_table_has_the_papers_numbers() {
    assert_eq!(tables().len(), 42);
    for (paper, table) in tables() {
        let methods = names(&table);
        let at = format!("{} {}", paper.name, table.name);
        let base = paper.difference_from.as_deref();
        for named in [base, paper.target_of.as_deref()].into_iter().flatten() {
            assert!(methods.contains(&named), "{at}: {named}");
        }
        for setting in &table.setting {
            let mut with: Vec<&str> = setting.paper.keys().map(String::as_str).collect();
            with.extend(base);
            for method in &methods {
                assert!(with.contains(method), "{at}, {}: {method}", setting.name);
            }
            assert_eq!(with.len(), methods.len(), "{at}, {}", setting.name);
            let measures = table.common.measure.len();
            for (method, row) in &setting.paper {
                assert_eq!(row.len(), measures, "{at}, {}, {method}", setting.name);
            }
        }
        let measures = || table.common.measure.iter().map(|m| &m.name);
        for claim in table.common.claim.iter().flatten() {
            assert!(
                measures().any(|name| *name == claim.measure),
                "{at}: {claim:?}"
            );
            for method in claim.than.iter().chain([&claim.method]) {
                assert!(methods.contains(&&**method), "{at}: {claim:?}");
            }
            for method in &claim.headline {
                assert!(claim.than.contains(method), "{at}: {claim:?}");
            }
        }
        assert!(table.common.claim.is_some(), "{at} has no claims");
        let parties = table
            .common
            .measure
            .iter()
            .any(|m| matches!(m.of, Of::Party(_)));
        let one = paper.one_party_a_domain && table.parties_a_domain == 1;
        assert!(one || !parties, "{at}: clients are not domains");
    }
}

#[test]
fn every_name_exists_and_every_hyper_parameter_is_somebodys() {
    let catalog = Catalog::default();
    for (paper, table) in tables() {
        for setting in &table.setting {
            for scale in [Scale::Small, Scale::Full] {
                let mut unused: Vec<String> = vec![];
                let mut used: Vec<String> = vec![];
                for method in &table.common.method {
                    let file = table.settings(setting, method, scale);
                    let at = format!("{} {}, {}", paper.name, table.name, method.name);
                    let (own, others) = check(&catalog, file, method, &at);
                    used.extend(own);
                    unused.extend(others);
                }
                unused.retain(|name| !used.contains(name));
                assert!(
                    unused.is_empty(),
                    "{} {}: {unused:?}",
                    paper.name,
                    table.name
                );
            }
        }
    }
}

/// Checks a run's settings; gives the hyper-parameters that the method has and has not.
fn check(catalog: &Catalog, file: Table, method: &Method, at: &str) -> (Vec<String>, Vec<String>) {
    let path = std::path::Path::new("table.toml");
    let mut config = Config::of(path, file).unwrap_or_else(|e| panic!("{at}: {e}"));
    for key in [&config.data, &config.partition, &config.model] {
        assert!(key.is_some(), "{at}: {config:?}");
    }
    assert!(config.clients.is_some() && config.rounds.is_some(), "{at}");
    let algorithm = catalog.algorithm(&method.spec, &[]).unwrap();
    let names: Vec<String> = config.hyper.keys().cloned().collect();
    let has = |name: &String| hypers::has(&*algorithm, name);
    let (own, others) = names.into_iter().partition(has);
    config
        .hyper
        .retain(|name, _| hypers::has(&*algorithm, name));
    let (flags, tests) = (SettingArgs::default(), TestArgs::default());
    let settings = Settings::over(config, &flags, &tests, Some(&method.spec), None);
    let settings = settings.unwrap_or_else(|e| panic!("{at}: {e}"));
    catalog
        .algorithm(&settings.spec, &settings.hypers)
        .unwrap_or_else(|e| panic!("{at}: {e}"));
    DatasetInfo::find(&settings.data.to_string()).unwrap();
    fedround_models::find(&settings.model).unwrap();
    (own, others)
}

#[test]
fn files_have_no_other_keys() {
    let common = [
        "full",
        "small",
        "measure",
        "method",
        "claim",
        "notes",
        "small_notes",
    ];
    let own = [
        "title",
        "runs",
        "difference_from",
        "target_of",
        "one_party_a_domain",
        "table",
        "absent",
    ];
    for (name, text) in super::tables::FILES {
        let file: Table = text.parse().unwrap();
        let other = |key: &&String| !common.contains(&&***key) && !own.contains(&&***key);
        assert_eq!(file.keys().find(other), None, "{name}");
        for table in file["table"].as_array().unwrap() {
            let own = ["name", "title", "setting", "parties_a_domain"];
            let other = |key: &&String| !common.contains(&&***key) && !own.contains(&&***key);
            let mut keys = table.as_table().unwrap().keys();
            assert_eq!(keys.find(other), None, "{name}");
        }
    }
}

/// The arguments of a command, which is a test's own.
fn arguments(line: &str) -> ReproduceArgs {
    use clap::Parser;

    #[derive(Parser)]
    struct Command {
        #[command(flatten)]
        own: ReproduceArgs,
    }
    Command::parse_from(["reproduce"].into_iter().chain(line.split(' '))).own
}

#[test]
fn every_table_can_be_planned_at_both_scales() {
    let catalog = Catalog::default();
    for (paper, table) in tables() {
        for scale in ["small", "full"] {
            let line = format!("{} {} --scale {scale} --seeds 1", paper.name, table.name);
            let args = arguments(&line);
            let found = Paper::find(paper.name).unwrap();
            let plan = Plan::new(&catalog, found, &table.name, &args);
            let plan = plan.unwrap_or_else(|error| panic!("{line}: {error}"));
            let settings = table.setting.iter();
            let left_out = |setting: &&Setting| setting.full_only && scale == "small";
            let settings = settings.filter(|setting| !left_out(setting)).count();
            let cells = plan.cells();
            assert_eq!(cells.len(), settings * names(&table).len(), "{line}");
            let folders: BTreeSet<_> = cells.iter().map(|cell| &cell.folder).collect();
            assert_eq!(folders.len(), cells.len(), "{line}");
        }
    }
}

/// A table may name a part or a network that its model has not. Settings differ in numbers alone, so that one of each
/// is compiled.
#[test]
fn every_method_compiles_with_the_model_of_its_table() {
    let (catalog, mut known) = (Catalog::default(), BTreeSet::new());
    for (paper, table) in tables() {
        let args = arguments("paper table --seeds 1");
        let found = Paper::find(paper.name).unwrap();
        let plan = Plan::new(&catalog, found, &table.name, &args).unwrap();
        for entrant in &plan.entrants {
            let settings = &entrant.settings;
            let Settings { spec, model, .. } = settings;
            let networks = format!("{:?}", settings.run.auxiliaries);
            if known.insert((spec.clone(), model.clone(), networks)) {
                let at = format!("{} {}, {spec} of {model}", paper.name, table.name);
                let compiled = catalog.compile_run(settings);
                assert!(compiled.is_ok(), "{at}: {}", compiled.err().unwrap());
            }
        }
    }
}

/// What the page of all tables and figures says.
fn coverage() -> String {
    let mut page = String::from(COVERAGE);
    for paper in papers().unwrap() {
        let listed = listing::of(&paper);
        page += &format!("\n## {}\n\n{}\n\n", listed.name, listed.title);
        page += "| table | of the paper |\n|---|---|\n";
        for table in listed.tables {
            page += &format!("| `{}` | {} |\n", table.name, table.title);
        }
        page += "\n| not run here | why |\n|---|---|\n";
        for absent in listed.absent {
            page += &format!("| {} | {} |\n", absent.name, absent.why);
        }
    }
    page
}

const COVERAGE: &str = "# What is reproduced, and what is not

<!-- made by `UPDATE_DOCS=1 cargo test -p fedround-cli --lib reproduce` -->

Each table and each figure of the five papers that shows results or how they come about is here: either [`fedround reproduce`](../reproduce.md) has a table for it, or the reason is given. `fedround reproduce PAPER` prints the same lists.
";

#[test]
fn the_page_of_all_tables_and_figures_is_current() {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../docs/reproductions/coverage.md"
    );
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(path, coverage()).unwrap();
    }
    let written = std::fs::read_to_string(path).unwrap_or_default();
    assert!(
        written == coverage(),
        "coverage.md is not current: UPDATE_DOCS=1 writes it"
    );
    for paper in papers().unwrap() {
        assert!(!paper.absent.is_empty(), "{}", paper.name);
    }
}
