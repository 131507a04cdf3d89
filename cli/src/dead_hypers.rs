//! Hyper-parameters of the command line that change nothing: an algorithm may have a layer with a
//! hyper-parameter, and not run the part of the layer that uses it.

use fedround_dsl::Registry;
use fedround_exec::Program;
use fedround_ir::fed::{print, print_exact};

use crate::error::CliError;
use crate::hypers::{self, Setting};

/// What hyper-parameters do that were given on the command line. Those that are given their defaults
/// are in neither list.
pub(crate) struct Uses {
    /// Names of those that change the program.
    pub used: Vec<String>,
    /// Names of the others.
    pub dead: Vec<String>,
}

impl Uses {
    /// Compares the program of `spec` with those that `compile` makes of all settings but one.
    pub fn of(
        registry: &Registry,
        (spec, settings): (&str, &[Setting]),
        program: &Program,
        compile: impl Fn(&[Setting]) -> Result<Vec<String>, CliError>,
    ) -> Result<Self, CliError> {
        let values = |settings: &[Setting]| -> Result<_, CliError> {
            let algorithm = hypers::algorithm(registry, spec, settings)?;
            Ok(hypers::named(&*algorithm))
        };
        let ours = texts(program);
        let mut uses = Self {
            used: vec![],
            dead: vec![],
        };
        for (i, setting) in settings.iter().enumerate() {
            if !setting.is_of_command_line() {
                continue;
            }
            let without = [&settings[..i], &settings[i + 1..]].concat();
            if values(settings)? == values(&without)? {
                continue;
            }
            // A program that cannot do without a setting uses it: noise of 1 may need more noise elsewhere.
            let same = || compile(&without).is_ok_and(|texts| texts == ours);
            let dead = !of_own_models(program, &setting.name) && same();
            let names = if dead { &mut uses.dead } else { &mut uses.used };
            names.push(setting.name.clone());
        }
        Ok(uses)
    }

    /// Fails if there is one that changes nothing.
    pub fn check(self, spec: &str) -> Result<(), CliError> {
        match self.dead.into_iter().next() {
            Some(name) => Err(CliError::DeadHyper {
                name,
                spec: spec.to_owned(),
            }),
            None => Ok(()),
        }
    }
}

/// A program's phases with their rounds and the values of hyper-parameters.
pub(crate) fn texts(program: &Program) -> Vec<String> {
    let phases = program.phases().into_iter();
    let text = |(rounds, phase): (Option<String>, &Program)| {
        rounds.unwrap_or_default() + &print_exact(phase.linked())
    };
    phases.map(text).collect()
}

/// Whether the hook that makes clients' own models reads a hyper-parameter, of which rounds need not have
/// anything.
fn of_own_models(program: &Program, name: &str) -> bool {
    let name = name.rsplit('.').next().unwrap_or(name);
    let staged = print(program.staged());
    let mut own = staged.split("fed.func @").filter(|text| {
        let header = text.lines().next().unwrap_or_default();
        header.contains("::personalize(")
    });
    own.any(|text| text.contains(&format!("%{name}")))
}
