//! Hyper-parameters that change nothing: an algorithm may have a layer with a hyper-parameter, and not run
//! the part of the layer that uses it.

use std::collections::BTreeSet;

use fedround_dsl::{
    BoxedAlgorithm, Field, Hyper, LayerField, Objective, Phase, Registry, all_fields, phases_for,
    stage_evaluations,
};
use fedround_ir::fed::{HyperValue, print_exact};
use fedround_passes::PassManager;
use fedround_passes::fed::link_with;

use super::hypers::{self, Given, Setting};
use crate::error::CliError;
use crate::terminal::tell;

/// What is said of one, before its documentation.
pub(crate) const NOT_USED: &str = "not used:";
/// What that means.
pub(crate) const NOT_USED_MEANS: &str =
    "not used: with these settings it changes nothing in the whole algorithm, and --set refuses it";

/// What hyper-parameters do that were given on the command line. Those that are given their defaults
/// are in neither list.
pub(crate) struct Uses {
    /// Names of those that change the program.
    pub used: Vec<String>,
    /// The others.
    pub dead: Vec<Dead>,
    /// What to say of names that several layers have.
    pub notes: Vec<String>,
}

/// A hyper-parameter that changes nothing, and the flag that gave it.
pub(crate) struct Dead {
    pub flag: &'static str,
    pub name: String,
}

impl Uses {
    /// Compares an algorithm, for models of an objective, with the same without one of its settings.
    pub fn of(
        registry: &Registry,
        (spec, settings): (&str, &[Setting]),
        objective: &Objective,
    ) -> Result<Self, CliError> {
        let algorithm = hypers::algorithm(registry, spec, settings)?;
        let known = Known::of(&algorithm, objective);
        let mut uses = Self {
            used: vec![],
            dead: vec![],
            notes: vec![],
        };
        for (i, setting) in settings.iter().enumerate() {
            let Some(flag) = setting.flag() else {
                continue;
            };
            let without = [&settings[..i], &settings[i + 1..]].concat();
            let without = hypers::algorithm(registry, spec, &without)?;
            if hypers::named(&*algorithm) == hypers::named(&*without) {
                continue;
            }
            let given = (flag, setting.name.as_str());
            let note = known.layers_note(&*algorithm, registry, (spec, settings), given);
            uses.notes.extend(note);
            let field = hypers::lookup(&*algorithm, &setting.name);
            let used = field.is_some_and(|field| known.reads(&full_name(&field)))
                || !known.is_same(&without);
            let name = setting.name.clone();
            match used {
                true => uses.used.push(name),
                false => uses.dead.push(Dead { flag, name }),
            }
        }
        Ok(uses)
    }

    /// Says which layers were set, where several have a name.
    pub fn told(self) -> Self {
        let notes = self.notes.iter();
        notes.for_each(|note| tell!("note: {note}"));
        self
    }

    /// Fails if there is one that changes nothing.
    pub fn check(self, spec: &str) -> Result<(), CliError> {
        match self.dead.into_iter().next() {
            Some(Dead { flag, name }) => Err(CliError::DeadHyper {
                flag,
                name,
                spec: spec.to_owned(),
            }),
            None => Ok(()),
        }
    }
}

/// The hyper-parameters of an algorithm, as in `fedavg.lr`, of which no other value would change anything.
/// Of a free text there is no other value to try; it counts as used.
pub(crate) fn unused(
    registry: &Registry,
    (spec, settings): (&str, &[Setting]),
    objective: &Objective,
) -> Result<BTreeSet<String>, CliError> {
    let algorithm = hypers::algorithm(registry, spec, settings)?;
    let known = Known::of(&algorithm, objective);
    let fields = all_fields(&*algorithm).into_iter();
    let unused = fields.filter(|field| known.changes_nothing(registry, (spec, settings), field));
    Ok(unused.map(|field| full_name(&field)).collect())
}

/// The name of a field with its layer.
pub(crate) fn full_name(field: &LayerField) -> String {
    format!("{}.{}", field.layer, field.field.name)
}

/// A few values that a field may have instead of its own.
fn other_values(field: &Field, value: &HyperValue) -> Vec<HyperValue> {
    let tried: Vec<HyperValue> = match value {
        HyperValue::Bool(on) => vec![HyperValue::Bool(!on)],
        HyperValue::Text(_) => {
            let words = field.choices.iter();
            words
                .map(|word| HyperValue::Text((*word).to_owned()))
                .collect()
        }
        HyperValue::Int(n) => [n + 1, 2 * n + 3, n / 2, 0, 1]
            .map(HyperValue::Int)
            .to_vec(),
        HyperValue::Float(x) => [0.5 * x, x + 1.0, 0.5, 1.0, 0.0, 0.25]
            .map(HyperValue::Float)
            .to_vec(),
    };
    let allowed = tried
        .into_iter()
        .filter(|other| other != value && field.check(other.clone()).is_ok());
    match value {
        HyperValue::Text(_) => allowed.collect(),
        _ => allowed.take(2).collect(),
    }
}

/// An algorithm, to be compared with others.
struct Known<'o> {
    objective: &'o Objective,
    /// The phases of training and of evaluations as they run; `None` if they cannot be linked.
    linked: Option<Vec<Linked>>,
}

/// A phase as it is before it meets a model.
#[derive(PartialEq)]
struct Linked {
    /// Its rounds and its graph, with the values of hyper-parameters.
    text: String,
    /// The hyper-parameters that it reads while it runs, as in `fedavg.lr`.
    read: BTreeSet<String>,
}

impl<'o> Known<'o> {
    fn of(algorithm: &BoxedAlgorithm, objective: &'o Objective) -> Self {
        Self {
            objective,
            linked: linked(algorithm, objective),
        }
    }

    /// Whether a hyper-parameter is known to count.
    fn reads(&self, name: &str) -> bool {
        let mut phases = self.linked.iter().flatten();
        phases.any(|phase| phase.read.contains(name))
    }

    /// Whether no other value of a field would change anything in this algorithm, which is of a spec with
    /// settings.
    fn changes_nothing(
        &self,
        registry: &Registry,
        (spec, settings): (&str, &[Setting]),
        field: &LayerField,
    ) -> bool {
        let name = full_name(field);
        let same = |value: HyperValue| {
            let setting = Setting {
                name: name.clone(),
                value: Given::Value(value),
            };
            let other = hypers::algorithm(registry, spec, &[settings, &[setting]].concat());
            // A value that the algorithm does not take says that it looks at it.
            other.is_ok_and(|other| self.is_same(&other))
        };
        let others = other_values(field.field, &field.value);
        !others.is_empty() && !self.reads(&name) && others.into_iter().all(same)
    }

    /// What to say of a name without a layer that several layers have: which one its flag means, and what those
    /// inside of it keep. Not of those that change nothing or have a setting of their own.
    fn layers_note(
        &self,
        algorithm: &dyn Hyper,
        registry: &Registry,
        (spec, settings): (&str, &[Setting]),
        (flag, name): (&str, &str),
    ) -> Option<String> {
        let fields = all_fields(algorithm).into_iter();
        let mut same = fields.filter(|field| field.field.name == name);
        let set = same.next()?;
        let others = same.filter(|field| {
            let own = full_name(field);
            field.layer != set.layer
                && settings.iter().all(|setting| setting.name != own)
                && !self.changes_nothing(registry, (spec, settings), field)
        });
        let others = others.map(|field| format!("; {} stays {}", full_name(&field), field.value));
        let others: String = others.collect();
        let set = full_name(&set);
        (!others.is_empty()).then(|| format!("{flag} {name} sets {set}{others}"))
    }

    /// Whether another algorithm does the same. One that cannot do without a setting uses it: noise of 1 may
    /// need more noise elsewhere.
    fn is_same(&self, other: &BoxedAlgorithm) -> bool {
        self.linked.is_some() && linked(other, self.objective) == self.linked
    }
}

/// The phases of training, then those of each evaluation.
fn linked(algorithm: &BoxedAlgorithm, objective: &Objective) -> Option<Vec<Linked>> {
    let training = phases_for(&**algorithm, objective).ok()?;
    let evaluations = stage_evaluations(&**algorithm, objective).ok()?.into_iter();
    let of = |phase: Phase| {
        let linked = link_with(phase.module, &mut PassManager::new())
            .ok()?
            .module;
        let rounds = phase.rounds.unwrap_or_default();
        Some(Linked {
            text: format!("{rounds} rounds\n{}", print_exact(&linked)),
            read: linked
                .hypers
                .iter()
                .map(|hyper| hyper.name.clone())
                .collect(),
        })
    };
    let phases = evaluations.flat_map(|evaluation| evaluation.phases);
    training.into_iter().chain(phases).map(of).collect()
}
