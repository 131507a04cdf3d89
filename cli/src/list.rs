//! `fedround list`.

use std::fmt::Write;

use fedround_data::DATASETS;
use fedround_data::partition::PARTITIONS;
use fedround_dsl::{Entry, Field};
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
    let wanted = all
        .into_iter()
        .filter(|l| args.what.is_none_or(|what| what == *l));
    let sections: Vec<String> = wanted.map(|listing| section(catalog, listing)).collect();
    print(&sections.join("\n"))
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
