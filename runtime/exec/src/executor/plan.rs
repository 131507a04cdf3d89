//! A plan: a tensor graph whose values are assigned to slots, ready to be run again and again.
//!
//! A slot holds a value from its definition to its last use. The last use moves the value out of the slot,
//! so the op holds the only handle to the tensor and may write its result in place. Slots are reused: a
//! plan has as many slots as values are alive at once.

use std::fmt::Write as _;

use fedround_ir::tensor::{Graph, Op, TensorType, Val};

use super::fused_kernel::Kernel;

/// A read of a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Read {
    /// Index of the slot.
    pub slot: usize,
    /// Whether this is the last read, which moves the value out and leaves the slot empty.
    pub take: bool,
}

/// An instruction of a plan: one op, with the slots of its operands and results.
#[derive(Clone, Debug)]
pub struct Instr {
    /// The op to compute.
    pub op: Op,
    /// The reads of its operands, in order.
    pub ins: Vec<Read>,
    /// The slots of its results; `None` for a result that no op reads.
    pub outs: Vec<Option<usize>>,
    /// The values of the graph that the results are. Two nodes of the graph may become one instruction, so
    /// the index of an instruction is not the index of a node.
    pub results: Vec<Val>,
    /// The CPU kernel of a fused op; `None` for other ops.
    pub kernel: Option<Kernel>,
}

impl Instr {
    /// Merges the next instruction into this one, and gives whether that was possible. Both then go through
    /// the tensor in one pass.
    ///
    /// This instruction must be a fused op or an `axpy`, and `next` a `matmul_add` that is the only reader
    /// of this one's first result.
    fn merge(&mut self, next: &Self, graph: &Graph) -> bool {
        let Op::MatMulAdd(factor) = &next.op else {
            return false;
        };
        let update = match &self.op {
            Op::Axpy(_) => Kernel::update(&self.op, graph.shape(self.results[0])),
            // Its first result is a sum, not a tensor that a product could be added to.
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
        let own_result = |r: &Read| self.outs.contains(&Some(r.slot));
        let is_only_reader = first == Some(y.slot) && y.take && !rest.iter().any(own_result);
        if !is_only_reader || kernel.product.is_some() {
            return false;
        }
        kernel.product = Some(*factor);
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
    /// Name, type and slot of each input; the slot is `None` for an input that no op reads.
    pub inputs: Vec<(String, TensorType, Option<usize>)>,
    /// The instructions, in the order in which they run.
    pub instrs: Vec<Instr>,
    /// Name and read of each output.
    pub outputs: Vec<(String, Read)>,
    /// Number of slots.
    pub slots: usize,
    /// Whether the CPU's convolutions are exact: [`Target::exact_convolutions`](crate::Target).
    pub exact_convolutions: bool,
}

impl Plan {
    /// Assigns slots to the values of a graph.
    pub fn new(graph: &Graph) -> Self {
        // The node that uses each value last. Outputs stay to the end.
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
                slot: slots.slot_of[v.0 as usize],
                // If an op reads a value twice, only the second read takes it.
                take: last[v.0 as usize] == Some(i) && !node.ins[j + 1..].contains(v),
            });
            let ins: Vec<Read> = ins.collect();
            // Results get slots before the operands' slots are freed, so an op never writes a slot that it
            // reads.
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
                .is_some_and(|last: &mut Instr| last.merge(&instr, graph))
            {
                instrs.push(instr);
            }
        }
        let outputs = graph.outputs.iter().enumerate().map(|(i, (name, v))| {
            let take = !graph.outputs[i + 1..].iter().any(|(_, w)| w == v);
            let slot = slots.slot_of[v.0 as usize];
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

    /// Sets whether the CPU's convolutions are exact.
    #[must_use]
    pub fn with_exact_convolutions(mut self, exact: bool) -> Self {
        self.exact_convolutions = exact;
        self
    }

    /// For each output, the input that the plan returns there unchanged; `None` for a computed output.
    pub fn forwarded_inputs(&self) -> Vec<Option<usize>> {
        // The input that each slot still holds at the end.
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

    /// The plan as text. `!` marks a read that takes the value.
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
            let product = instr.kernel.as_ref().and_then(|kernel| kernel.product);
            let line = format!(
                "  {} = {}{} {}",
                outs.join(", "),
                instr.op.name(),
                product.map_or("", |_| "+matmul_add"),
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
    /// The slot of each value of the graph, by number; 0 until the value is defined.
    slot_of: Vec<usize>,
    /// Slots whose value is no longer needed.
    free_slots: Vec<usize>,
    /// The number of slots so far.
    len: usize,
}

impl SlotAllocator {
    fn new(graph: &Graph) -> Self {
        Self {
            slot_of: vec![0; graph.types.len()],
            free_slots: vec![],
            len: 0,
        }
    }

    fn define(&mut self, v: Val) -> usize {
        let slot = self.free_slots.pop().unwrap_or_else(|| {
            self.len += 1;
            self.len - 1
        });
        self.slot_of[v.0 as usize] = slot;
        slot
    }

    fn free(&mut self, v: Val) {
        self.free_slots.push(self.slot_of[v.0 as usize]);
    }
}
