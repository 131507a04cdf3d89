//! Decides from the program alone whether the steps of a loop can be captured on a GPU and replayed.
//!
//! The body must be one compute segment that computes the next values of all loop-carried values, with nothing but
//! reads before it. Conditions that are known only when the loop begins, such as which clients have a full batch, are
//! checked then.

use fedround_exec::Program;
use fedround_ir::fed::{FedOp, OpKind, OptOp, Value};
use fedround_passes::lowering::Frontend;
use fedround_passes::schedule::{Block, Compute, Control, Item};

/// Why the steps of a loop run operation by operation and are not replayed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PlainReason {
    /// The body has several compute segments, or other operations between them.
    #[error("the loop's body is more than one segment")]
    Segments,
    /// The segment updates buffers, such as running means, of parameters that the loop does not carry; a
    /// model without buffers has none to update.
    #[error("the step updates running statistics of a model that the loop does not carry")]
    Buffers,
    /// The body yields a value that it neither computes nor carries.
    #[error("the body yields a value that the step does not compute")]
    HandsOn,
    /// The loop is over rows. Only loops over batches and repetitions are captured.
    #[error("the loop is over rows")]
    Rows,
    /// The loop collects values over a client's examples and trains nothing.
    #[error("the loop collects values")]
    Collects,
    /// Clients train one after the other, each from the result of the one before.
    #[error("clients take turns")]
    Turns,
    /// The loop is part of the server's own work, and not of work for a client.
    #[error("the loop is the server's own")]
    Server,
    /// Some clients of the group sit out the loop.
    #[error("some clients of the group sit out the loop")]
    SitOut,
    /// No client of the group has a full batch.
    #[error("no client of the group has a full batch")]
    NoFullBatch,
    /// A carried value has no tensors.
    #[error("a carried value is not a tensor")]
    Carries,
    /// All inputs of the segment are the same for all clients of the group.
    #[error("everything the step reads is the same for all clients of the group")]
    Shares,
    /// A value that the segment reads is missing.
    #[error("a value that the step reads is missing")]
    NotThere,
    /// A value that is read has no tensors.
    #[error("the step reads a value that is neither a tensor nor the batch")]
    Reads,
}

/// Who runs a loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Runner {
    /// A client, or the server for a client.
    Client,
    /// The server.
    Server,
}

/// The form of a loop whose steps can be captured.
pub(crate) struct LoopForm<'a> {
    /// The index of the compute segment that is the loop's body.
    pub index: usize,
    /// Operations whose results are the same in each step.
    pub constants: Vec<&'a Control>,
    /// Operations that have to run before each step, because they give other values each time.
    pub per_step_reads: Vec<&'a Control>,
    /// For each leaf of the loop-carried values, the index of the segment's output that is its next value. `None` if
    /// the leaf stays the same.
    pub next: Vec<Option<usize>>,
}

impl<'a> LoopForm<'a> {
    /// The form of a loop, which is a control operation with a body.
    pub fn of(
        program: &Program,
        control: &Control,
        block: &'a Block,
        runner: Runner,
    ) -> Result<Self, PlainReason> {
        match &control.op.kind {
            OpKind::Opt(OptOp::ForBatches) => {}
            OpKind::Opt(OptOp::Repeat) if runner == Runner::Client => {}
            OpKind::Opt(OptOp::ForRows(_)) => return Err(PlainReason::Rows),
            OpKind::Opt(OptOp::Collect) => return Err(PlainReason::Collects),
            OpKind::Fed(FedOp::InTurn) => return Err(PlainReason::Turns),
            _ => return Err(PlainReason::Server),
        }
        let mut form = Self::of_body(block).ok_or(PlainReason::Segments)?;
        let compute = &program.schedule().segments[form.index];
        let batches = control.op.kind == OpKind::Opt(OptOp::ForBatches);
        form.next = next_leaves(program, compute, (block, batches))?;
        Ok(form)
    }

    /// The form of a loop's body, without `next`; `None` unless it is one segment with only reads before it, and
    /// nothing after it.
    fn of_body(block: &'a Block) -> Option<Self> {
        let ((last, _), reads) = block.items.split_last()?;
        let Item::Compute(index) = *last else {
            return None;
        };
        let mut form = Self {
            index,
            constants: vec![],
            per_step_reads: vec![],
            next: vec![],
        };
        for (item, _) in reads {
            let Item::Control(control) = item else {
                return None;
            };
            let of_loop = |v| block.args.contains(v);
            match control.op.kind {
                OpKind::Fed(
                    FedOp::RoundIndex
                    | FedOp::NumClients
                    | FedOp::NumExamples
                    | FedOp::LabelCounts
                    | FedOp::ClientNumber,
                ) => {
                    form.constants.push(control);
                }
                OpKind::Opt(OptOp::OneBatch | OptOp::SampleRows)
                    if !control.op.operands.iter().any(of_loop) =>
                {
                    form.per_step_reads.push(control);
                }
                _ => return None,
            }
        }
        Some(form)
    }
}

/// For each leaf of the loop-carried values, the index of the segment's output that is its next value. In a loop over
/// `batches`, the batch is the body's first argument, before the loop-carried values.
fn next_leaves(
    program: &Program,
    compute: &Compute,
    (body, batches): (&Block, bool),
) -> Result<Vec<Option<usize>>, PlainReason> {
    let buffers = program.model().buffers();
    let mut first = vec![];
    let mut outputs = 0;
    for v in &compute.outs {
        first.push(outputs);
        outputs += program.tensor_count(*v);
    }
    let advanced = |v: &Value| {
        let at = compute.advanced.iter().position(|w| w == v)?;
        Some(outputs + at * buffers.len())
    };
    let outside = |v: &Value| !body.args.contains(v);
    if !buffers.is_empty() && compute.advanced.iter().any(outside) {
        return Err(PlainReason::Buffers);
    }
    let mut next = vec![];
    let carried = body.args.iter().skip(usize::from(batches));
    for (yielded, arg) in body.yields.iter().zip(carried) {
        let leaves = program.tensor_count(*arg);
        let made = compute.outs.iter().position(|v| v == yielded);
        if let Some(at) = made {
            next.extend((0..leaves).map(|j| Some(first[at] + j)));
        } else if arg == yielded {
            let from = advanced(yielded);
            let buffer = |j: usize| buffers.iter().position(|&b| b == j);
            next.extend((0..leaves).map(|j| Some(from? + buffer(j)?)));
        } else {
            return Err(PlainReason::HandsOn);
        }
    }
    Ok(next)
}
