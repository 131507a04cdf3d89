//! `fedround list`.

use std::fmt::Write;

use clap::ValueEnum;
use fedround_data::DATASETS;
use fedround_data::partition::PARTITIONS;
use fedround_dsl::{Entry, Field, Hyper};
use fedround_ir::fed::HyperValue;
use fedround_models::{AUXILIARIES, MODELS};

use crate::args::{ListArgs, Listing};
use crate::catalog::Catalog;
use crate::error::CliError;
use crate::output::print;
use crate::table::columns;

/// Runs the subcommand.
pub(crate) fn list(catalog: &Catalog, args: &ListArgs) -> Result<(), CliError> {
    let all = [
        Listing::Specs,
        Listing::Models,
        Listing::Auxiliaries,
        Listing::Datasets,
        Listing::Partitioners,
    ];
    let kind = |text: &str| Listing::from_str(text, true).ok();
    let wanted = match &args.what {
        None => all.to_vec(),
        Some(what) => match kind(what) {
            Some(listing) => vec![listing],
            None => return print(&in_full(catalog, what)?),
        },
    };
    let sections = wanted.into_iter();
    let sections: Vec<String> = sections.map(|listing| section(catalog, listing)).collect();
    print(&sections.join("\n"))
}

/// An algorithm with its whole documentation and the hyper-parameters of all of its layers.
fn in_full(catalog: &Catalog, spec: &str) -> Result<String, CliError> {
    let algorithm = catalog.algorithm(spec, &[])?;
    let mut text = String::new();
    let mut layer: Option<&dyn Hyper> = Some(&*algorithm);
    while let Some(one) = layer {
        let name = one.name();
        let entry = catalog
            .registry
            .entries()
            .iter()
            .find(|entry| entry.name == name);
        let doc = entry.map_or("", |entry| entry.doc);
        // Writing to a `String` cannot fail.
        let _ = writeln!(text, "{name}\n{}", indent(doc.trim()));
        let rows = one.fields().iter().filter_map(|own| {
            let [name, _, allowed, doc] = field(own);
            Some([name, one.get(own.name)?.to_string(), allowed, doc])
        });
        let table = columns(rows);
        match table.is_empty() {
            true => text += "  no hyper-parameters\n\n",
            false => text = text + &table + "\n",
        }
        layer = one.base();
    }
    text += "--set NAME=VALUE sets a hyper-parameter, --set LAYER.NAME=VALUE that of a layer\n";
    Ok(text)
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
        Listing::Models => models(catalog),
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
    let mut text = String::new();
    // Writing to a `String` cannot fail.
    let _ = writeln!(text, "  {}  {about}", entry.name);
    if entry.takes_base {
        let default = entry.default_base.map_or_else(
            || "which it needs".to_owned(),
            |base| format!("{base} if none is named"),
        );
        let name = entry.name;
        let _ = writeln!(
            text,
            "    a plug-in over any base, as in {name}(BASE); {default}"
        );
    }
    if !entry.fields.is_empty() {
        text += &indent(&columns(entry.fields.iter().map(field)));
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

fn models(catalog: &Catalog) -> String {
    let own = catalog.models.iter().map(|m| [m.name, m.doc, "-"]);
    let hidden = |name: &str| catalog.models.iter().any(|own| own.name == name);
    let bundled = MODELS
        .iter()
        .filter(|m| !hidden(m.name))
        .map(|m| [m.name, m.doc, m.paper]);
    format!("Models (--model)\n{}", columns(bundled.chain(own)))
}

/// A network, its functions and its paper, and each variant on a line of its own.
fn auxiliaries() -> String {
    let mut text = "Auxiliary networks, added beside the model for algorithms that apply their \
                    functions (--aux NAME=VARIANT)\n"
        .to_owned();
    for network in &AUXILIARIES {
        let functions: Vec<&str> = network.function_names().collect();
        // Writing to a `String` cannot fail.
        let _ = writeln!(text, "  {}  {}", network.name, network.doc);
        let _ = writeln!(
            text,
            "    gives {}; {}",
            functions.join(", "),
            network.paper
        );
        text += &indent(&columns(network.variants.iter().map(|v| [v.name, v.doc])));
    }
    text
}

fn datasets() -> String {
    let rows = DATASETS.iter().map(|d| {
        let sizes: Vec<String> = d.shape.iter().map(usize::to_string).collect();
        let shape = format!("{}, {} classes", sizes.join("x"), d.classes);
        [d.name.to_owned(), shape, d.doc.to_owned(), d.how.to_owned()]
    });
    format!("Datasets (--data)\n{}", columns(rows))
}

fn dash(text: &str) -> &str {
    if text.is_empty() { "-" } else { text }
}

fn indent(text: &str) -> String {
    text.lines().map(|line| format!("  {line}\n")).collect()
}
