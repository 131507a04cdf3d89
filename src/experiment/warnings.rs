//! What the compiler finds legal but seldom meant.

use std::collections::BTreeSet;

use fedround_algorithms::registry;
use fedround_dsl::phases;
use fedround_exec::Program;
use fedround_passes::fed::link;

/// The compiler's warnings about a program, without those that a bundled spec over its own base has,
/// too: there they are meant.
pub fn warnings(program: &Program) -> Vec<String> {
    let of_phases = program.phases().into_iter();
    let all = of_phases.flat_map(|(_, program)| program.warnings().iter());
    let mut all: Vec<String> = all.map(ToString::to_string).collect();
    if !all.is_empty() {
        let meant = meant();
        all.retain(|warning| !meant.contains(warning));
    }
    all
}

/// The warnings of the bundled specs over their own bases. A phase before the last has no use for some
/// of what the last has.
fn meant() -> BTreeSet<String> {
    let bundled = registry();
    let specs = bundled.names().into_iter();
    let phases = specs.filter_map(|name| phases(&*bundled.parse(name).ok()?).ok());
    let linked = phases.filter_map(|mut phases| link(phases.pop()?.module).ok());
    let warnings = linked.flat_map(|linked| linked.warnings);
    warnings.map(|warning| warning.to_string()).collect()
}
