//! Where the values of a graph are made and read.

use fedround_ir::tensor::Graph;

/// For each value, the node that makes it; `None` of an input.
pub(super) fn makers(graph: &Graph) -> Vec<Option<usize>> {
    let mut makers = vec![None; graph.types.len()];
    for (i, node) in graph.nodes.iter().enumerate() {
        for v in &node.outs {
            makers[v.0 as usize] = Some(i);
        }
    }
    makers
}

/// For each value, the nodes that read it, in order, once for each operand.
pub(super) fn readers(graph: &Graph) -> Vec<Vec<usize>> {
    let mut readers = vec![vec![]; graph.types.len()];
    for (i, node) in graph.nodes.iter().enumerate() {
        for v in &node.ins {
            readers[v.0 as usize].push(i);
        }
    }
    readers
}
