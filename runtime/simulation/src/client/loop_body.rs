//! Recognises loops whose body is a single compute segment. Only such loops can be replayed.

use fedround_ir::fed::{FedOp, OpKind, OptOp};
use fedround_passes::schedule::{Block, Control, Item};

use super::Clients;

/// A loop's body of one segment.
pub(crate) struct Body<'a> {
    pub index: usize,
    /// Numbers that are the same at each step.
    pub numbers: Vec<&'a Control>,
    /// What is read anew before each.
    pub fresh: Vec<&'a Control>,
}

impl<'a> Body<'a> {
    /// The body of a loop, if nothing but reads is before its only segment, and nothing after it.
    pub fn of(block: &'a Block) -> Option<Self> {
        let ((last, _), reads) = block.items.split_last()?;
        let Item::Compute(index) = *last else {
            return None;
        };
        let mut body = Self {
            index,
            numbers: vec![],
            fresh: vec![],
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
                    | FedOp::ClientNumber,
                ) => {
                    body.numbers.push(control);
                }
                OpKind::Opt(OptOp::OneBatch | OptOp::SampleRows)
                    if !control.op.operands.iter().any(of_loop) =>
                {
                    body.fresh.push(control);
                }
                _ => return None,
            }
        }
        Some(body)
    }
}

/// Why a loop runs op by op.
pub(crate) type PlainReason = &'static str;

/// How a loop goes through its body.
#[derive(Clone, Copy)]
pub(crate) struct Loop {
    /// The examples in the batches that are replayed; none of an `opt.repeat`, which has none.
    pub size: Option<usize>,
    /// How many of its steps are replayed, at most.
    pub steps: u64,
    /// Whether all clients of the group go through it.
    pub all: bool,
}

impl Clients<'_> {
    /// A loop over batches of `size`: those that are full are replayed.
    pub(crate) fn full_batches(&self, epochs: usize, size: usize) -> Loop {
        let parts = self
            .ids
            .iter()
            .map(|&id| &self.cx.dataset.client_indices[id]);
        let most = parts.map(Vec::len).max().unwrap_or_default();
        let size = if self.alone() { size.min(most) } else { size };
        let steps = epochs * most.checked_div(size).unwrap_or_default();
        Loop {
            size: Some(size),
            steps: steps as u64,
            all: self.live.is_none(),
        }
    }
}
