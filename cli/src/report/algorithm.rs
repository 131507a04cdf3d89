//! The part of a report on the algorithm and its data: the algorithm's box, its drawing, and the examples
//! of each client.

use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use fedround_data::Dataset;
use fedround_data::partition::class_counts;
use fedround_draw::svg;
use fedround_exec::Program;
use fedround_passes::report::explain as algorithm_box;
use maud::{Markup, html};

use super::charts::plot;
use super::page::{code, fold, missing, section};
use crate::catalog::Catalog;
use crate::config::Config;
use crate::data::holdings;
use crate::error::CliError;
use crate::run::{CONFIG, Job, SettingArgs, TestArgs};
use crate::settings::Settings;
use crate::terminal::grouped;

/// Clients whose examples are drawn.
const CLIENTS: usize = 400;

/// The settings of a run, to be compiled here whatever it was trained on.
pub(super) fn settings(dir: &Path) -> Result<Settings, CliError> {
    let config = Config {
        device: None,
        weights: None,
        rename: vec![],
        server_state: None,
        ..Config::read(&dir.join(CONFIG))?
    };
    let (flags, tests) = (SettingArgs::default(), TestArgs::default());
    Settings::over(config, &flags, &tests, None, None)
}

/// The sections about the data and about algorithms, each with the settings of one of its runs.
pub(super) fn sections(catalog: &Catalog, algorithms: &[(String, Settings)]) -> Vec<Markup> {
    let Some((_, first)) = algorithms.first() else {
        return vec![];
    };
    let data = match first.load() {
        Ok(data) => data,
        Err(error) => {
            let why =
                format!("The data could not be read here, so that this is not known: {error}");
            return vec![
                section("Who has what", missing(&why)),
                section("Algorithm", missing(&why)),
            ];
        }
    };
    let one = algorithms.len() == 1;
    let boxes =
        algorithms.iter().map(
            |(name, settings)| match Job::new(catalog, settings, data.clone()) {
                Ok(job) => phases(name, job.program(), one),
                Err(error) => missing(&format!("{name} could not be compiled here: {error}")),
            },
        );
    let title = if one { "Algorithm" } else { "Algorithms" };
    vec![
        section("Who has what", who_has_what(first, &data)),
        section(title, html! { @for one in boxes { (one) } }),
    ]
}

/// How many examples of which class each client trains on.
fn who_has_what(settings: &Settings, data: &Dataset) -> Markup {
    let run = &settings.run;
    let splits = match run.partition.deal(data, run.clients, run.dealing_seed()) {
        Ok(splits) => splits,
        Err(error) => return missing(&error.to_string()),
    };
    let sizes = || splits.iter().map(|split| split.train.len());
    let (fewest, most) = (sizes().min().unwrap_or(0), sizes().max().unwrap_or(0));
    let parts: Vec<Vec<usize>> = splits
        .iter()
        .take(CLIENTS)
        .map(|s| s.train.clone())
        .collect();
    let counts = class_counts(&parts, data.train.labels(), data.classes);
    let drawing = holdings(
        Path::new("report.html"),
        "training examples of each class",
        &counts,
        &data.class_names,
    );
    html! {
        p {
            (grouped(sizes().sum::<usize>() as u64)) " training examples of " (data.name) ", dealt to "
            (splits.len()) " clients by " code { (run.partition) } " with seed " (run.dealing_seed()) ": "
            (grouped(fewest as u64)) " to " (grouped(most as u64)) " each."
        }
        @if splits.len() > CLIENTS { p.note { "The first " (CLIENTS) " clients are drawn." } }
        @match drawing {
            Ok(svg) => figure { div.wide { (plot(&svg)) } },
            Err(error) => (missing(&error.to_string())),
        }
    }
}

/// The box and the drawing of every phase.
fn phases(name: &str, program: &Program, open: bool) -> Markup {
    html! {
        @for (phase, program) in program.phases() {
            @let title = match &phase { Some(phase) => format!("{name}, {phase}"), None => name.to_owned() };
            @let drawing = svg::module(program.linked(), Some(program));
            // As an image of its own: names inside of several drawings would meet in one page.
            @let image = format!("data:image/svg+xml;base64,{}", STANDARD.encode(drawing));
            (fold(&title, open, &html! {
                (code(&algorithm_box(program.linked())))
                div.drawing { img src=(image) alt=(format!("a round of {title}")); }
            }))
        }
    }
}
