//! The compiler's warnings about a program that are worth showing.

use fedround_algorithms::registry;
use fedround_dsl::phases;
use fedround_exec::{Program, Warning};
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
