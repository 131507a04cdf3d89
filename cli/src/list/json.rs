//! The output of `fedround list --json`.

use std::collections::BTreeMap;

use fedround_data::DATASETS;
use fedround_data::partition::PARTITIONS;
use fedround_dsl::{Entry, Field};
use fedround_ir::fed::HyperValue;
use fedround_models::AUXILIARIES;
use serde_json::{Value, json};

use super::{documentation, models};
use crate::args::Listing;
use crate::catalog::Catalog;
use crate::error::CliError;
use crate::settings::hypers::{layers, to_toml};

/// The lists of these kinds, by the names of the kinds.
pub(super) fn lists(catalog: &Catalog, kinds: &[Listing]) -> BTreeMap<&'static str, Vec<Value>> {
    kinds.iter().map(|kind| list(catalog, *kind)).collect()
}

fn list(catalog: &Catalog, kind: Listing) -> (&'static str, Vec<Value>) {
    let named = |[name, doc, paper]: [&'static str; 3]| {
        let paper = (!["", "-"].contains(&paper)).then_some(paper);
        json!({ "name": name, "doc": doc, "paper": paper })
    };
    match kind {
        Listing::Specs => {
            let entries = catalog.registry.entries().iter();
            ("specs", entries.map(algorithm).collect())
        }
        Listing::Models => ("models", models(catalog).map(named).collect()),
        Listing::Auxiliaries => {
            let networks = AUXILIARIES.iter().map(|network| {
                let variants = network.variants.iter().map(|v| (v.name, v.doc));
                json!({
                    "name": network.name,
                    "doc": network.doc,
                    "paper": network.paper,
                    "functions": network.function_names().collect::<Vec<_>>(),
                    "variants": variants.collect::<BTreeMap<_, _>>(),
                })
            });
            ("auxiliaries", networks.collect())
        }
        Listing::Datasets => {
            let datasets = DATASETS.iter().map(|dataset| {
                json!({
                    "name": dataset.name,
                    "doc": dataset.doc,
                    "how": dataset.how,
                    "shape": dataset.shape,
                    "classes": dataset.classes,
                })
            });
            ("datasets", datasets.collect())
        }
        Listing::Partitioners => {
            let all = PARTITIONS.iter().map(|p| named([p.syntax, p.doc, p.paper]));
            ("partitioners", all.collect())
        }
    }
}

fn algorithm(entry: &Entry) -> Value {
    let fields = entry.fields.iter();
    let fields = fields.map(|field| hyper(field, &field.default.into()));
    json!({
        "name": entry.name,
        "doc": entry.doc.trim(),
        "takes_base": entry.takes_base,
        "default_base": entry.default_base,
        "hyper": fields.collect::<Vec<_>>(),
    })
}

/// A hyper-parameter with a value: of a list the default, of a spec its own.
fn hyper(field: &Field, value: &HyperValue) -> Value {
    json!({
        "name": field.name,
        "value": to_toml(value),
        "allowed": field.allowed(),
        "doc": field.doc,
    })
}

/// A spec in full: all of its layers, outermost first. Of each hyper-parameter it says whether it changes anything with
/// the default model.
pub(super) fn spec(catalog: &Catalog, spec: &str) -> Result<Value, CliError> {
    let algorithm = catalog.algorithm(spec, &[])?;
    let unused = catalog.unused_by_default(spec);
    let layers = layers(&*algorithm).map(|one| {
        let fields = one.fields().iter().filter_map(|field| {
            let mut known = hyper(field, &one.get(field.name)?);
            if let Some(unused) = &unused {
                let name = format!("{}.{}", one.name(), field.name);
                known["used"] = (!unused.contains(&name)).into();
            }
            Some(known)
        });
        json!({
            "name": one.name(),
            "doc": documentation(catalog, one.name()),
            "hyper": fields.collect::<Vec<_>>(),
        })
    });
    Ok(json!({ "spec": spec, "layers": layers.collect::<Vec<_>>() }))
}
