//! The output of `fedround list --json`.

use std::collections::BTreeMap;

use fedround_data::DATASETS;
use fedround_data::partition::PARTITIONS;
use fedround_dsl::{Entry, Field, Hyper};
use fedround_ir::fed::HyperValue;
use fedround_models::AUXILIARIES;
use serde::Serialize;

use super::{documentation, models};
use crate::args::Listing;
use crate::catalog::Catalog;
use crate::error::CliError;
use crate::hypers::to_toml;

/// Lists by the name of their kind.
pub(super) type Lists = BTreeMap<&'static str, Vec<Listed>>;

/// A thing of a list.
#[derive(Serialize)]
#[serde(untagged)]
pub(super) enum Listed {
    Algorithm(Algorithm),
    Network(Network),
    Dataset(Dataset),
    /// A model or a partitioner.
    Named {
        name: &'static str,
        doc: &'static str,
        paper: Option<&'static str>,
    },
}

/// An algorithm that can be a spec.
#[derive(Serialize)]
pub(super) struct Algorithm {
    name: &'static str,
    doc: &'static str,
    /// Whether it is a plug-in over a base.
    takes_base: bool,
    default_base: Option<&'static str>,
    hyper: Vec<HyperField>,
}

/// A network beside the model.
#[derive(Serialize)]
pub(super) struct Network {
    name: &'static str,
    doc: &'static str,
    paper: &'static str,
    functions: Vec<&'static str>,
    /// Documentation by name.
    variants: BTreeMap<&'static str, &'static str>,
}

/// A bundled dataset.
#[derive(Serialize)]
pub(super) struct Dataset {
    name: &'static str,
    doc: &'static str,
    /// How to get it.
    how: &'static str,
    shape: &'static [usize],
    classes: usize,
}

/// A hyper-parameter.
#[derive(Serialize)]
pub(super) struct HyperField {
    name: &'static str,
    /// Of a list the default, of a spec its value.
    value: toml::Value,
    allowed: String,
    doc: &'static str,
    /// Of a spec, whether it changes anything with the default model.
    #[serde(skip_serializing_if = "Option::is_none")]
    used: Option<bool>,
}

/// A spec with all of its layers, outermost first.
#[derive(Serialize)]
pub(super) struct Spec {
    spec: String,
    layers: Vec<Layer>,
}

/// A layer of a spec.
#[derive(Serialize)]
struct Layer {
    name: String,
    doc: &'static str,
    hyper: Vec<HyperField>,
}

/// The lists of these kinds.
pub(super) fn lists(catalog: &Catalog, kinds: &[Listing]) -> Lists {
    kinds.iter().map(|kind| list(catalog, *kind)).collect()
}

fn list(catalog: &Catalog, kind: Listing) -> (&'static str, Vec<Listed>) {
    let named = |[name, doc, paper]: [&'static str; 3]| Listed::Named {
        name,
        doc,
        paper: (!["", "-"].contains(&paper)).then_some(paper),
    };
    match kind {
        Listing::Specs => {
            let entries = catalog.registry.entries().iter();
            ("specs", entries.map(algorithm).collect())
        }
        Listing::Models => ("models", models(catalog).map(named).collect()),
        Listing::Auxiliaries => {
            let networks = AUXILIARIES.iter().map(|network| {
                Listed::Network(Network {
                    name: network.name,
                    doc: network.doc,
                    paper: network.paper,
                    functions: network.function_names().collect(),
                    variants: network.variants.iter().map(|v| (v.name, v.doc)).collect(),
                })
            });
            ("auxiliaries", networks.collect())
        }
        Listing::Datasets => {
            let datasets = DATASETS.iter().map(|dataset| {
                Listed::Dataset(Dataset {
                    name: dataset.name,
                    doc: dataset.doc,
                    how: dataset.how,
                    shape: dataset.shape,
                    classes: dataset.classes,
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

fn algorithm(entry: &Entry) -> Listed {
    Listed::Algorithm(Algorithm {
        name: entry.name,
        doc: entry.doc.trim(),
        takes_base: entry.takes_base,
        default_base: entry.default_base,
        hyper: entry
            .fields
            .iter()
            .map(|field| hyper(field, &field.default.into()))
            .collect(),
    })
}

fn hyper(field: &Field, value: &HyperValue) -> HyperField {
    HyperField {
        name: field.name,
        value: to_toml(value),
        allowed: field.allowed(),
        doc: field.doc,
        used: None,
    }
}

/// A spec in full.
pub(super) fn spec(catalog: &Catalog, spec: &str) -> Result<Spec, CliError> {
    let algorithm = catalog.algorithm(spec, &[])?;
    let unused = catalog.unused_by_default(spec);
    let (mut layers, mut layer): (_, Option<&dyn Hyper>) = (vec![], Some(&*algorithm));
    while let Some(one) = layer {
        let fields = one.fields().iter();
        let used = |field: &Field| {
            let name = format!("{}.{}", one.name(), field.name);
            unused.as_ref().map(|unused| !unused.contains(&name))
        };
        let fields = fields.filter_map(|field| {
            let known = hyper(field, &one.get(field.name)?);
            Some(HyperField {
                used: used(field),
                ..known
            })
        });
        layers.push(Layer {
            name: one.name().to_owned(),
            doc: documentation(catalog, one.name()),
            hyper: fields.collect(),
        });
        layer = one.base();
    }
    Ok(Spec {
        spec: spec.to_owned(),
        layers,
    })
}
