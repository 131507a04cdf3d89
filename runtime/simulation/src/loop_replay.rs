//! Lists the loops of a program, and whether a GPU that records steps replays theirs.

use fedround_exec::Program;
use fedround_ir::Loc;
use fedround_ir::fed::{FedOp, OpKind, OptOp};
use fedround_passes::schedule::{Block, Item};

use crate::loop_form::{LoopForm, PlainReason, Runner};

/// A loop of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoopReplay {
    /// Where it stands in the algorithm.
    pub loc: Loc,
    /// What it goes through: `batches`, `repetitions`, `rows`, `examples` or `clients`.
    pub over: &'static str,
    /// The compute segments of its body, without those of loops inside it.
    pub segments: Vec<usize>,
    /// Why its steps run operation by operation. `None` if a step is one recording that is replayed
    /// whole; steps on batches that are not full run operation by operation all the same.
    pub plain: Option<PlainReason>,
}

impl LoopReplay {
    /// The loops of a round, in order, those inside others after them. The decision is the one that a
    /// simulation makes when it runs the loop.
    pub fn all(program: &Program) -> Vec<Self> {
        let mut found = vec![];
        visit(
            program,
            &program.schedule().round,
            Runner::Server,
            &mut found,
        );
        found
    }
}

fn visit(program: &Program, block: &Block, runner: Runner, found: &mut Vec<LoopReplay>) {
    for (item, _) in &block.items {
        let Item::Control(control) = item else {
            continue;
        };
        let Some(body) = &control.body else { continue };
        let (over, inside) = match &control.op.kind {
            OpKind::Fed(FedOp::Map) => (None, Runner::Client),
            OpKind::Fed(FedOp::InTurn) => (Some("clients"), runner),
            OpKind::Opt(OptOp::ForBatches) => (Some("batches"), runner),
            OpKind::Opt(OptOp::Repeat) => (Some("repetitions"), runner),
            OpKind::Opt(OptOp::ForRows(_)) => (Some("rows"), runner),
            OpKind::Opt(OptOp::Collect) => (Some("examples"), runner),
            // Nothing else has a body that is a loop.
            _ => (None, runner),
        };
        if let Some(over) = over {
            let segments = body.items.iter().filter_map(|(item, _)| match item {
                Item::Compute(i) => Some(*i),
                Item::Control(_) => None,
            });
            found.push(LoopReplay {
                loc: control.op.loc,
                over,
                segments: segments.collect(),
                plain: LoopForm::of(program, control, body, runner).err(),
            });
        }
        visit(program, body, inside, found);
    }
}
