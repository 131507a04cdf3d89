//! The part of a report on the algorithm and its data: the algorithm's box, its drawing, and the examples
//! of each client.

use std::path::PathBuf;
use std::sync::Arc;

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
use crate::data::holdings;
use crate::error::CliError;
use crate::run::{Job, check_unchanged};
use crate::settings::Settings;
use crate::terminal::grouped;

/// Clients whose examples are drawn.
const CLIENTS: usize = 400;

/// An algorithm, by one of its runs.
pub(super) struct Algorithm {
    pub name: String,
    /// The run's folder.
    pub dir: PathBuf,
    /// The run's, to be compiled here.
    pub settings: Settings,
}

impl Algorithm {
    /// Whether another one reads the same data in the same way.
    fn reads_as(&self, other: &Self) -> bool {
        let (own, other) = (&self.settings, &other.settings);
        own.data == other.data && own.reading == other.reading
    }
}

/// The sections about the data and about algorithms.
pub(super) fn sections(catalog: &Catalog, algorithms: &[Algorithm]) -> Vec<Markup> {
    let Some(first) = algorithms.first() else {
        return vec![];
    };
    let one = algorithms.len() == 1;
    let title = if one { "Algorithm" } else { "Algorithms" };
    let data = match data_of_runs(algorithms, first) {
        Ok(data) => data,
        Err(why) => {
            return vec![
                section("Who has what", missing(&why)),
                section(title, missing(&why)),
            ];
        }
    };
    let (mut boxes, mut held) = (vec![], None);
    for Algorithm { name, settings, .. } in algorithms {
        boxes.push(match Job::new(catalog, settings, data.clone()) {
            Ok(job) => {
                held = held.or_else(|| Some((settings, Held::of_clients(&job, data.classes)?)));
                phases(name, job.program(), one)
            }
            Err(error) => missing(&format!("{name} could not be compiled here: {error}")),
        });
    }
    let held = match held {
        Some(held) => Ok(held),
        None => Held::as_dealt(&first.settings, &data).map(|held| (&first.settings, held)),
    };
    vec![
        section(
            "Who has what",
            match held {
                Ok((settings, held)) => who_has_what(settings, &data, &held),
                Err(error) => missing(&error.to_string()),
            },
        ),
        section(title, html! { @for one in boxes { (one) } }),
    ]
}

/// The data of the first run, or why it is not known: it may be gone, or it may no longer be what the runs were
/// trained on. Of other examples, a partition would pass for that of the runs.
fn data_of_runs(algorithms: &[Algorithm], first: &Algorithm) -> Result<Arc<Dataset>, String> {
    let data = first.settings.load().map_err(|error| {
        format!("The data could not be read here, so that this is not known: {error}")
    })?;
    let same = algorithms.iter().filter(|own| own.reads_as(first));
    for Algorithm { dir, settings, .. } in same {
        check_unchanged(dir, settings.data.name(), &data).map_err(|error| {
            format!("The data has changed since, so that this is not known: {error}")
        })?;
    }
    Ok(data)
}

/// The training examples that clients have.
struct Held {
    /// How many each client has.
    sizes: Vec<usize>,
    /// How many of each class, for the clients that are drawn.
    of_class: Vec<Vec<usize>>,
}

impl Held {
    fn new(parts: &[Vec<usize>], labels: &[u16], classes: usize) -> Self {
        let drawn = &parts[..parts.len().min(CLIENTS)];
        Self {
            sizes: parts.iter().map(Vec::len).collect(),
            of_class: class_counts(drawn, labels, classes),
        }
    }

    /// What clients train on in a run: neither public examples nor those that are held back for validation.
    /// `None` of a centralized algorithm, of which one client has them all.
    fn of_clients(job: &Job, classes: usize) -> Option<Self> {
        let dataset = job.simulation().dataset();
        let parts = &dataset.client_indices;
        let dealt = parts.len() == job.settings().run.clients;
        dealt.then(|| Self::new(parts, dataset.examples.labels(), classes))
    }

    /// What the partition deals.
    fn as_dealt(settings: &Settings, data: &Dataset) -> Result<Self, CliError> {
        let run = &settings.run;
        let splits = run.partition.deal(data, run.clients, run.dealing_seed())?;
        let parts: Vec<Vec<usize>> = splits.into_iter().map(|split| split.train).collect();
        Ok(Self::new(&parts, data.train.labels(), data.classes))
    }
}

/// How many examples of which class each client trains on.
fn who_has_what(settings: &Settings, data: &Dataset, held: &Held) -> Markup {
    let run = &settings.run;
    let sizes = || held.sizes.iter();
    let (fewest, most) = (sizes().min().unwrap_or(&0), sizes().max().unwrap_or(&0));
    let drawing = holdings(
        "training examples of each class",
        &held.of_class,
        &data.class_names,
    );
    html! {
        p {
            (grouped(sizes().sum::<usize>() as u64)) " training examples of " (data.name) ", dealt to "
            (held.sizes.len()) " clients by " code { (run.partition) } " with seed " (run.dealing_seed()) ": "
            (grouped(*fewest as u64)) " to " (grouped(*most as u64)) " each."
        }
        @if held.sizes.len() > CLIENTS { p.note { "The first " (CLIENTS) " clients are drawn." } }
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
