//! Counts the bytes that are alive while each node of a graph runs; see [`cost`](mod@super::cost).

use fedround_ir::tensor::{Graph, Node, Val};

use super::{Class, bytes, class};

/// The bytes alive at each node.
pub(super) fn live(graph: &Graph) -> Vec<u64> {
    let mut memory = Memory {
        readers: graph.use_counts(),
        of: vec![usize::MAX; graph.types.len()],
        blocks: vec![],
        live: 0,
    };
    for (_, v) in &graph.inputs {
        memory.allocate(*v, bytes(graph.type_of(*v)));
    }
    let step = |node: &Node| {
        let mut fresh = vec![];
        match class(&node.op) {
            Class::View => memory.alias(node),
            kind => {
                let in_place = match kind {
                    Class::Map(_) => node.ins.as_slice(),
                    Class::Update => node.ins.get(..1).unwrap_or_default(),
                    _ => &[],
                };
                let reused = node.outs.first().and_then(|out| {
                    let fits = |v: &&Val| graph.type_of(**v) == graph.type_of(*out);
                    in_place
                        .iter()
                        .filter(fits)
                        .find(|v| memory.dies_with(**v, node))
                });
                for (i, out) in node.outs.iter().enumerate() {
                    match reused {
                        Some(operand) if i == 0 => memory.share(*out, *operand),
                        _ => memory.allocate(*out, bytes(graph.type_of(*out))),
                    }
                    fresh.push(*out);
                }
            }
        }
        let live = memory.live;
        node.ins.iter().for_each(|v| memory.release(*v));
        // Results that nothing reads.
        fresh.iter().for_each(|v| memory.drop_unread(*v));
        live
    };
    graph.nodes.iter().map(step).collect()
}

/// Blocks of memory, each held by the values whose bytes are in it.
struct Memory {
    /// Reads that are still to come, by value.
    readers: Vec<usize>,
    /// The block of each value.
    of: Vec<usize>,
    /// Size of each block and how many values with reads to come are in it.
    blocks: Vec<(u64, usize)>,
    live: u64,
}

impl Memory {
    fn allocate(&mut self, v: Val, size: u64) {
        self.of[v.0 as usize] = self.blocks.len();
        self.blocks.push((size, 1));
        self.live += size;
    }

    fn share(&mut self, v: Val, with: Val) {
        let block = self.of[with.0 as usize];
        self.of[v.0 as usize] = block;
        self.blocks[block].1 += 1;
    }

    fn alias(&mut self, node: &Node) {
        if let ([operand, ..], [out]) = (node.ins.as_slice(), node.outs.as_slice()) {
            self.share(*out, *operand);
        }
    }

    /// Whether nothing reads a value's block after a node.
    fn dies_with(&self, v: Val, node: &Node) -> bool {
        let here = node.ins.iter().filter(|w| **w == v).count();
        self.readers[v.0 as usize] == here && self.blocks[self.of[v.0 as usize]].1 == 1
    }

    fn release(&mut self, v: Val) {
        let readers = &mut self.readers[v.0 as usize];
        *readers = readers.saturating_sub(1);
        if *readers == 0 {
            self.leave(v);
        }
    }

    fn drop_unread(&mut self, v: Val) {
        if self.readers[v.0 as usize] == 0 {
            self.leave(v);
        }
    }

    fn leave(&mut self, v: Val) {
        let (size, holders) = &mut self.blocks[self.of[v.0 as usize]];
        *holders -= 1;
        if *holders == 0 {
            self.live -= *size;
        }
    }
}
