//! A plan: a tensor graph bound to slots, ready to be run step after step.
//!
//! Each value lives in a slot from its definition to its last use, which takes it, so that an op
//! may write its result in place. Slots are reused: a plan has as many as values are alive at
//! once.

use std::fmt::Write as _;

use fedround_ir::tensor::{Graph, Op, TensorType, Val};

use super::fused_kernel::Kernel;

/// A read of a slot, the last one or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Read {
    /// Index of the slot.
    pub slot: usize,
    /// Whether the slot is emptied.
    pub take: bool,
}

/// One op on slots.
#[derive(Clone, Debug)]
pub struct Instr {
    /// What it computes.
    pub op: Op,
    /// Where its operands are.
    pub ins: Vec<Read>,
    /// Where its results go; `None` for a result that nothing reads.
    pub outs: Vec<Option<usize>>,
    /// The graph's values that these results are. Instructions are fewer than the graph's nodes where
    /// two of them were joined, so that places in the two lists do not correspond.
    pub results: Vec<Val>,
    /// The program of a fused op.
    pub kernel: Option<Kernel>,
}

impl Instr {
    /// Takes in the next op, if it adds a product to what this one, fused or an update, gives first and
    /// nothing else reads: both then walk the tensor once. Gives whether it does.
    fn join(&mut self, next: &Self, graph: &Graph) -> bool {
        let Op::MatMulAdd(factor) = &next.op else {
            return false;
        };
        let update = match &self.op {
            Op::Axpy(_) => Kernel::update(&self.op, graph.shape(self.results[0])),
            // What it gives first is a sum.
            Op::Fused(fused) if fused.outputs.is_empty() => return false,
            _ => None,
        };
        let Some(mut kernel) = self.kernel.clone().or(update) else {
            return false;
        };
        let [y, rest @ ..] = next.ins.as_slice() else {
            return false;
        };
        let first = self.outs.first().copied().flatten();
        let made_here = |r: &Read| self.outs.contains(&Some(r.slot));
        if first != Some(y.slot) || !y.take || kernel.adds_product() || rest.iter().any(made_here) {
            return false;
        }
        kernel.add_product(*factor);
        self.kernel = Some(kernel);
        self.ins.extend(rest);
        self.outs[0] = next.outs[0];
        self.results[0] = next.results[0];
        true
    }
}

/// A graph in executable form.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Names, types and slots of the inputs; a slot of `None` is an input that is not read.
    pub inputs: Vec<(String, TensorType, Option<usize>)>,
    /// Ops in order.
    pub instrs: Vec<Instr>,
    /// Names and reads of the outputs.
    pub outputs: Vec<(String, Read)>,
    /// Number of slots.
    pub slots: usize,
    /// Whether the CPU's convolutions are exact: [`Target::exact_convolutions`](crate::Target).
    pub exact_convolutions: bool,
}

impl Plan {
    /// Assigns slots to the values of a graph.
    pub fn new(graph: &Graph) -> Self {
        let mut last = graph.last_uses();
        for (_, v) in &graph.outputs {
            last[v.0 as usize] = Some(usize::MAX);
        }
        let mut slots = SlotAllocator::new(graph);
        let inputs = graph.inputs.iter().map(|(name, v)| {
            let slot = last[v.0 as usize].map(|_| slots.define(*v));
            (name.clone(), graph.type_of(*v).clone(), slot)
        });
        let inputs = inputs.collect();
        let mut instrs = Vec::with_capacity(graph.nodes.len());
        for (i, node) in graph.nodes.iter().enumerate() {
            let ins = node.ins.iter().enumerate().map(|(j, v)| Read {
                slot: slots.of[v.0 as usize],
                // An operand that is read twice is taken by the last read alone.
                take: last[v.0 as usize] == Some(i) && !node.ins[j + 1..].contains(v),
            });
            let ins: Vec<Read> = ins.collect();
            // Results are placed before operands are freed: an op never writes a slot it reads.
            let outs = node.outs.iter().map(|v| {
                let used = last[v.0 as usize].is_some();
                used.then(|| slots.define(*v))
            });
            let outs = outs.collect();
            for (v, read) in node.ins.iter().zip(&ins) {
                if read.take {
                    slots.free(*v);
                }
            }
            let kernel = match &node.op {
                Op::Fused(fused) => Kernel::new(fused, node.ins.len()),
                _ => None,
            };
            let instr = Instr {
                kernel,
                op: node.op.clone(),
                ins,
                outs,
                results: node.outs.to_vec(),
            };
            if !instrs
                .last_mut()
                .is_some_and(|last: &mut Instr| last.join(&instr, graph))
            {
                instrs.push(instr);
            }
        }
        let outputs = graph.outputs.iter().enumerate().map(|(i, (name, v))| {
            let take = !graph.outputs[i + 1..].iter().any(|(_, w)| w == v);
            let slot = slots.of[v.0 as usize];
            (name.clone(), Read { slot, take })
        });
        Self {
            inputs,
            outputs: outputs.collect(),
            instrs,
            slots: slots.len,
            exact_convolutions: false,
        }
    }

    /// The same plan with exact convolutions on the CPU, or without.
    #[must_use]
    pub fn with_exact_convolutions(mut self, exact: bool) -> Self {
        self.exact_convolutions = exact;
        self
    }

    /// For each output, the input that it passes through unchanged, if any.
    pub fn passed(&self) -> Vec<Option<usize>> {
        let mut input = vec![None; self.slots];
        for (i, (_, _, slot)) in self.inputs.iter().enumerate() {
            if let Some(slot) = slot {
                input[*slot] = Some(i);
            }
        }
        for slot in self
            .instrs
            .iter()
            .flat_map(|instr| instr.outs.iter().flatten())
        {
            input[*slot] = None;
        }
        self.outputs.iter().map(|(_, r)| input[r.slot]).collect()
    }

    /// The plan's text: `!` marks a read that takes the value.
    pub fn text(&self, name: &str) -> String {
        let mut out = format!("plan @{name} slots {} {{\n", self.slots);
        let inputs: Vec<String> = self
            .inputs
            .iter()
            .map(|(name, _, slot)| match slot {
                Some(slot) => format!("s{slot} = {name}"),
                None => format!("_ = {name}"),
            })
            .collect();
        for chunk in inputs.chunks(4) {
            _ = writeln!(out, "  in {}", chunk.join(", "));
        }
        let read = |r: &Read| format!("s{}{}", r.slot, if r.take { "!" } else { "" });
        for instr in &self.instrs {
            let outs: Vec<String> = instr
                .outs
                .iter()
                .map(|s| s.map_or_else(|| "_".to_owned(), |s| format!("s{s}")))
                .collect();
            let ins: Vec<String> = instr.ins.iter().map(read).collect();
            let joined = instr.kernel.as_ref().is_some_and(Kernel::adds_product);
            let line = format!(
                "  {} = {}{} {}",
                outs.join(", "),
                instr.op.name(),
                if joined { "+matmul_add" } else { "" },
                ins.join(", ")
            );
            _ = writeln!(out, "{}", line.trim_end());
        }
        for (name, r) in &self.outputs {
            _ = writeln!(out, "  out {name} = {}", read(r));
        }
        out.push_str("}\n");
        out
    }
}

struct SlotAllocator {
    of: Vec<usize>,
    spare: Vec<usize>,
    len: usize,
}

impl SlotAllocator {
    fn new(graph: &Graph) -> Self {
        Self {
            of: vec![0; graph.types.len()],
            spare: vec![],
            len: 0,
        }
    }

    fn define(&mut self, v: Val) -> usize {
        let slot = self.spare.pop().unwrap_or_else(|| {
            self.len += 1;
            self.len - 1
        });
        self.of[v.0 as usize] = slot;
        slot
    }

    fn free(&mut self, v: Val) {
        self.spare.push(self.of[v.0 as usize]);
    }
}
