//! The regions of a program's phases, and which leaves of parameters are sent with each of their values.

use fedround_exec::{CompileError, Program};
use fedround_ir::fed::{FedOp, OpKind, TreeOp, Value};
use fedround_passes::fed::Leaves;
use fedround_passes::parties::{Region, Split};
use fedround_passes::schedule::{Block, Control, Item};

use crate::context::missing;
use crate::controls::controls;
use crate::error::RunError;
use crate::regions::MapJob;

/// The regions of all phases, in order.
pub(super) struct RegionTable(Vec<Split>);

impl RegionTable {
    /// The regions of a program.
    ///
    /// # Errors
    ///
    /// A phase cannot run between a server and parties.
    pub fn of(program: &Program) -> Result<Self, CompileError> {
        let phases = program.phases().into_iter();
        let splits = phases.map(|(_, phase)| phase.parties());
        splits.collect::<Result<_, _>>().map(Self)
    }

    /// Whether clients keep states from one round to the next.
    pub fn sets_states(&self) -> bool {
        let mut regions = self.0.iter().flat_map(|split| &split.regions);
        regions.any(|region| !region.sets.is_empty())
    }

    /// A region of a phase.
    pub fn region(&self, phase: usize, index: usize) -> Option<&Region> {
        self.0.get(phase)?.regions.get(index)
    }

    /// The region whose code is that of a map, and its index.
    pub fn of_job(&self, phase: usize, job: &MapJob<'_>) -> Result<(usize, &Region), RunError> {
        let client = job.body.args.first();
        let regions = self.0.get(phase).map(|split| split.regions.iter());
        let mut regions = regions.into_iter().flatten().enumerate();
        let found = regions.find(|(_, region)| Some(&region.client) == client);
        found.ok_or_else(|| missing(job.op, "region"))
    }
}

/// For each leaf of a value of parameters, whether it is sent. The leaves `without` are not.
pub(super) fn sent_leaves(program: &Program, without: &Leaves) -> Vec<bool> {
    let left_out = program.leaf_mask(without).into_iter();
    left_out.map(|left_out| !left_out).collect()
}

/// Whether all clients receive a value as the round's argument: the server's parameters as they are at the start of the
/// round.
pub(super) fn is_round_argument(program: &Program, value: Value) -> bool {
    let round = &program.schedule().round;
    round.items.iter().any(|(item, _)| match item {
        Item::Control(control) => {
            let op = &control.op;
            op.kind == OpKind::Fed(FedOp::Broadcast)
                && op.results.contains(&value)
                && op.operands.first() == round.args.first()
        }
        Item::Compute(_) => false,
    })
}

/// The map in a schedule whose code is that of a region. Regions are identified by their client argument.
pub(super) fn map_of_region(block: &Block, client: Value) -> Option<(&Control, &Block)> {
    controls(block).into_iter().find_map(|control| {
        let body = control.body.as_ref()?;
        (body.args.first() == Some(&client)).then_some((control, body))
    })
}

/// The index of the input that a leaf of a yielded value equals, if the code returns the leaf unchanged.
pub(super) fn unchanged_input(
    program: &Program,
    code: &Block,
    value: Value,
    leaf: usize,
) -> Option<usize> {
    let args = code.args.get(1..)?;
    if let Some(input) = args.iter().position(|arg| *arg == value) {
        return Some(input);
    }
    let segments = code.items.iter().filter_map(|(item, _)| match item {
        Item::Compute(i) => program.schedule().segments.get(*i),
        Item::Control(_) => None,
    });
    let mut ops = segments.flat_map(|segment| &segment.ops);
    let made = ops.find(|op| op.results.contains(&value))?;
    match (&made.kind, made.operands.as_slice()) {
        (OpKind::Tree(TreeOp::ReplaceParts(names)), [rest, taken]) => {
            let named = program.leaf_mask(&Leaves::named(names));
            let from = match named.get(leaf).copied().unwrap_or_default() {
                true => taken,
                false => rest,
            };
            unchanged_input(program, code, *from, leaf)
        }
        _ => None,
    }
}
