//! The warnings about a program that are worth showing.

use std::fmt;

use fedround_algorithms::registry;
use fedround_dsl::phases;
use fedround_exec::{Program, Warning as ProgramWarning};
use fedround_ir::fed::{Effect, Module, Op, OpKind, PrivacyOp};
use fedround_passes::fed::link;

/// Something in a program that is probably not meant so.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Warning {
    /// One of the compiler's, about a phase.
    Program(ProgramWarning),
    /// No round changes anything: the server's model is given back as it came, and no state is set. Such is a
    /// plug-in whose clients are to keep what they train, over a base whose clients keep nothing.
    TrainsNothing,
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Program(warning) => warning.fmt(f),
            Self::TrainsNothing => f.write_str(
                "the rounds of this algorithm train nothing: the server keeps its model as it is, and clients keep none. A plug-in that leaves models to the clients needs a base whose clients keep them, as those of adcol do",
            ),
        }
    }
}

/// The warnings about all phases of a program. Left out are those that a bundled algorithm over its own base
/// has, too, because they are intended there.
pub fn warnings(program: &Program) -> Vec<Warning> {
    let phases = program.phases();
    let of_phases = phases.iter().flat_map(|(_, phase)| phase.warnings());
    let mut all: Vec<ProgramWarning> = of_phases.cloned().collect();
    if !all.is_empty() {
        let intended = intended();
        all.retain(|warning| !intended.contains(warning));
    }
    let nothing = phases
        .iter()
        .all(|(_, phase)| changes_nothing(phase.linked()));
    let all = all.into_iter().map(Warning::Program);
    all.chain(nothing.then_some(Warning::TrainsNothing))
        .collect()
}

/// Whether no round of a phase changes anything.
fn changes_nothing(module: &Module) -> bool {
    let claim = |op: &Op| matches!(op.kind, OpKind::Privacy(PrivacyOp::Claim(_)));
    let sets = |op: &Op| op.kind.effect() == Effect::Writes && !claim(op);
    let funcs = || module.funcs.iter().map(|func| &func.body);
    funcs().all(|body| body.yields.first() == body.args.first()) && !module.all_ops().any(sets)
}

/// The warnings of the bundled algorithms over their own bases, such as of a round that replaces the base's,
/// each in its last phase: a phase before it has no use for some of what the last one has.
fn intended() -> Vec<ProgramWarning> {
    let bundled = registry();
    let specs = bundled.names().into_iter();
    let phases = specs.filter_map(|name| phases(&*bundled.parse(name).ok()?).ok());
    let linked = phases.filter_map(|mut phases| link(phases.pop()?.module).ok());
    let warnings = linked.flat_map(|linked| linked.warnings);
    warnings.map(ProgramWarning::Spec).collect()
}
