//! The compiler's warnings about a program that are worth showing.

use fedround_algorithms::registry;
use fedround_dsl::phases;
use fedround_exec::{Program, Warning};
use fedround_ir::fed::{Effect, Module, Op, OpKind, PrivacyOp};
use fedround_passes::fed::link;

/// The compiler's warnings about all phases of a program. Left out are those that a bundled algorithm
/// over its own base has, too, because they are intended there.
pub fn warnings(program: &Program) -> Vec<Warning> {
    let of_phases = program.phases().into_iter();
    let all = of_phases.flat_map(|(_, program)| program.warnings());
    let mut all: Vec<Warning> = all.cloned().collect();
    if !all.is_empty() {
        let intended = intended();
        all.retain(|warning| !intended.contains(warning));
    }
    all
}

/// Whether no round of a program changes anything: the server's model is given back as it came, and no state is
/// set. Such is a plug-in whose clients are to keep what they train, over a base whose clients keep nothing.
pub fn trains_nothing(program: &Program) -> bool {
    let phases = program.phases();
    phases
        .iter()
        .all(|(_, phase)| changes_nothing(phase.linked()))
}

fn changes_nothing(module: &Module) -> bool {
    let claim = |op: &Op| matches!(op.kind, OpKind::Privacy(PrivacyOp::Claim(_)));
    let sets = |op: &Op| op.kind.effect() == Effect::Writes && !claim(op);
    let funcs = || module.funcs.iter().map(|func| &func.body);
    funcs().all(|body| body.yields.first() == body.args.first()) && !module.all_ops().any(sets)
}

/// The warnings of the bundled algorithms over their own bases, such as of a round that replaces the base's,
/// each in its last phase: a phase before it has no use for some of what the last one has.
fn intended() -> Vec<Warning> {
    let bundled = registry();
    let specs = bundled.names().into_iter();
    let phases = specs.filter_map(|name| phases(&*bundled.parse(name).ok()?).ok());
    let linked = phases.filter_map(|mut phases| link(phases.pop()?.module).ok());
    let warnings = linked.flat_map(|linked| linked.warnings);
    warnings.map(Warning::Spec).collect()
}
