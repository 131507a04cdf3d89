//! Lists the loops of a program, and whether their steps can be captured on a GPU and replayed.

use fedround_exec::Program;
use fedround_ir::Loc;
use fedround_ir::fed::{FedOp, OpKind, OptOp};
use fedround_passes::schedule::{Block, Item};

use crate::loop_form::{LoopForm, PlainReason, Runner};

/// A loop of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoopReplay {
    /// Its line in the algorithm.
    pub loc: Loc,
    /// What it iterates over: `batches`, `repetitions`, `rows`, `examples` or `clients`.
    pub over: &'static str,
    /// The compute segments of its body, without those of loops inside it.
    pub segments: Vec<usize>,
    /// Why its steps run operation by operation. `None` if its steps are captured and replayed; even then, steps with
    /// batches that are not full run operation by operation.
    pub plain: Option<PlainReason>,
}

impl LoopReplay {
    /// The loops of a round, in order. Inner loops come after the loop that contains them. A simulation makes the same
    /// decision when it runs a loop.
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

/// Adds the loops of a block.
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
            // The bodies of other operations are no loops.
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
