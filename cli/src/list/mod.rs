//! The subcommand `fedround list`: the algorithms, models, datasets and whatever else has a name.

mod json;

use clap::ValueEnum;
use fedround_data::DATASETS;
use fedround_data::partition::PARTITIONS;
use fedround_dsl::{Entry, Field, SpecError};
use fedround_ir::fed::HyperValue;
use fedround_models::{AUXILIARIES, MODELS};

use crate::advice::aliases;
use crate::args::{ListArgs, Listing};
use crate::catalog::Catalog;
use crate::error::CliError;
use crate::files::json as as_json;
use crate::settings::dead_hypers::{NOT_USED, NOT_USED_MEANS};
use crate::settings::hypers::layers;
use crate::terminal::print;
use crate::terminal::table::{columns, columns_in, wrapped};

pub(crate) fn list(catalog: &Catalog, args: &ListArgs) -> Result<(), CliError> {
    let kind = |text: &str| Listing::from_str(text, true).ok();
    let wanted = match &args.what {
        None => Listing::value_variants().to_vec(),
        Some(what) => match kind(what) {
            Some(listing) => vec![listing],
            None if args.json => {
                let spec = json::spec(catalog, what).map_err(or_kind)?;
                return print(&as_json(&spec)?);
            }
            None => return print(&in_full(catalog, what).map_err(or_kind)?),
        },
    };
    if args.json {
        return print(&as_json(&json::lists(catalog, &wanted))?);
    }
    let sections = wanted.into_iter();
    let sections: Vec<String> = sections.map(|listing| section(catalog, listing)).collect();
    print(&sections.join("\n"))
}

/// The error of a word that is no algorithm, with the kind of list that was meant if that is nearer.
fn or_kind(error: CliError) -> CliError {
    let CliError::Spec(SpecError::Unknown {
        name,
        nearest,
        known,
    }) = error
    else {
        return error;
    };
    let kinds = Listing::value_variants().iter();
    let kinds: Vec<String> = kinds
        .filter_map(|kind| Some(kind.to_possible_value()?.get_name().to_owned()))
        .collect();
    let all = kinds.iter().chain(&known).map(String::as_str);
    let near = aliases::kind(&name).or_else(|| fedround_names::nearest(&name, all));
    let kind = near.filter(|near| kinds.iter().any(|kind| kind == near));
    let nearest = kind.map(str::to_owned).or(nearest);
    CliError::Spec(SpecError::Unknown {
        name,
        nearest,
        known,
    })
}

/// An algorithm with its whole documentation and the hyper-parameters of all of its layers.
fn in_full(catalog: &Catalog, spec: &str) -> Result<String, CliError> {
    let algorithm = catalog.algorithm(spec, &[])?;
    let unused = catalog.unused_by_default(spec).unwrap_or_default();
    let mut text = String::new();
    for one in layers(&*algorithm) {
        let name = one.name();
        let lines = documentation(catalog, name).lines();
        text = text + name + "\n" + &columns(lines.map(|line| [line]));
        let rows = one.fields().iter().filter_map(|own| {
            let [short, _, allowed, mut doc] = field(own);
            if unused.contains(&format!("{name}.{short}")) {
                doc = format!("{NOT_USED} {doc}");
            }
            Some([short, one.get(own.name)?.to_string(), allowed, doc])
        });
        let table = columns(rows);
        match table.is_empty() {
            true => text += "  no hyper-parameters\n\n",
            false => text = text + &table + "\n",
        }
    }
    if !unused.is_empty() {
        text = text + &wrapped(NOT_USED_MEANS) + "\n";
    }
    text += "--set NAME=VALUE sets a hyper-parameter, --set LAYER.NAME=VALUE that of a layer\n";
    Ok(text)
}

/// The documentation of an algorithm.
fn documentation(catalog: &Catalog, name: &str) -> &'static str {
    let mut entries = catalog.registry.entries().iter();
    let entry = entries.find(|entry| entry.name == name);
    entry.map_or("", |entry| entry.doc.trim())
}

fn section(catalog: &Catalog, listing: Listing) -> String {
    match listing {
        Listing::Specs => {
            let entries = catalog.registry.entries().iter().map(spec);
            format!(
                "Algorithms (SPEC)\n{}",
                entries.collect::<Vec<_>>().join("\n")
            )
        }
        Listing::Models => format!("Models (--model)\n{}", columns(models(catalog))),
        Listing::Auxiliaries => auxiliaries(),
        Listing::Datasets => datasets(),
        Listing::Partitioners => {
            let rows = PARTITIONS.iter().map(|p| [p.syntax, p.doc, dash(p.paper)]);
            format!("Partitioners (--partition)\n{}", columns(rows))
        }
    }
}

/// A name, its paper and its hyper-parameters.
fn spec(entry: &Entry) -> String {
    let about = entry.doc.lines().next().unwrap_or_default();
    let mut text = columns([[entry.name, about]].into_iter());
    if entry.takes_base {
        let default = entry.default_base.map_or_else(
            || "which it needs".to_owned(),
            |base| format!("{base} if none is named"),
        );
        let name = entry.name;
        let plug_in = format!("a plug-in over any base, as in {name}(BASE); {default}");
        text += &columns_in(4, [[plug_in]].into_iter());
    }
    if !entry.fields.is_empty() {
        text += &columns_in(4, entry.fields.iter().map(field));
    }
    text
}

fn field(field: &Field) -> [String; 4] {
    [
        field.name.to_owned(),
        HyperValue::from(field.default).to_string(),
        field.allowed(),
        field.doc.to_owned(),
    ]
}

/// Names, documentation and papers of all models.
fn models(catalog: &Catalog) -> impl Iterator<Item = [&'static str; 3]> {
    let own = catalog.models.iter().map(|m| [m.name, m.doc, "-"]);
    let hidden = |name: &str| catalog.models.iter().any(|own| own.name == name);
    let bundled = MODELS
        .iter()
        .filter(move |m| !hidden(m.name))
        .map(|m| [m.name, m.doc, m.paper]);
    bundled.chain(own)
}

/// A network, its functions and its paper, and each variant on a line of its own.
fn auxiliaries() -> String {
    let mut text = "Auxiliary networks, added beside the model (--aux NAME=VARIANT)\n".to_owned();
    for network in &AUXILIARIES {
        let functions: Vec<&str> = network.function_names().collect();
        let gives = format!("gives {}; {}", functions.join(", "), network.paper);
        text += &columns([[network.name, network.doc]].into_iter());
        text += &columns_in(4, [[gives]].into_iter());
        text += &columns_in(4, network.variants.iter().map(|v| [v.name, v.doc]));
    }
    text
}

/// A dataset, and below it its shape and how to get it.
fn datasets() -> String {
    let datasets = DATASETS.iter().map(|d| {
        let sizes: Vec<String> = d.shape.iter().map(usize::to_string).collect();
        let shape = format!("{}, {} classes", sizes.join("x"), d.classes);
        let about = [shape.as_str(), d.how]
            .into_iter()
            .filter(|part| !part.is_empty());
        let about = about.collect::<Vec<_>>().join(". ");
        columns([[d.name, d.doc]].into_iter()) + &columns_in(4, [[about]].into_iter())
    });
    format!("Datasets (--data)\n{}", datasets.collect::<String>())
}

fn dash(text: &str) -> &str {
    if text.is_empty() { "-" } else { text }
}
