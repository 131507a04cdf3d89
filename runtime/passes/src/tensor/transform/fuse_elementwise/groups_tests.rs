use std::time::{Duration, Instant};

use fedround_ir::Loc;
use fedround_ir::tensor::TensorType;
use proptest::prelude::*;

use super::super::fuse_elementwise;
use super::*;

/// Merges by the definition: a merge is possible if no sum is read in the merged group, and no path leads out of
/// it and back. Takes time with the square of the nodes and more.
fn reference(graph: &Graph) -> Vec<usize> {
    let mut group: Vec<usize> = (0..graph.nodes.len()).collect();
    let (makers, readers) = (makers(graph), readers(graph));
    for (i, node) in graph.nodes.iter().enumerate() {
        let Some(shape) = shape_of(graph, node) else {
            continue;
        };
        let related = node.ins.iter().flat_map(|v| {
            let whole = graph.shape(*v) == shape && graph.type_of(*v).len() > 1;
            let siblings = readers[v.0 as usize].iter().filter(move |_| whole);
            let maker = makers[v.0 as usize];
            maker.into_iter().chain(siblings.copied())
        });
        let mut candidates: Vec<usize> = related.filter(|&j| j < i).map(|j| group[j]).collect();
        candidates.sort_unstable();
        candidates.dedup();
        for other in candidates {
            let own = group[i];
            if own != other
                && shape_of(graph, &graph.nodes[other]) == Some(shape)
                && legal(graph, &group, own, other)
            {
                let (into, from) = (own.min(other), own.max(other));
                let all = group.iter_mut().filter(|g| **g == from);
                all.for_each(|g| *g = into);
            }
        }
    }
    group
}

fn legal(graph: &Graph, group: &[usize], a: usize, b: usize) -> bool {
    let makers = makers(graph);
    let unit = |n: usize| if group[n] == b { a } else { group[n] };
    let mut reads: Vec<HashSet<usize>> = vec![HashSet::new(); group.len()];
    for (n, node) in graph.nodes.iter().enumerate() {
        for p in node.ins.iter().filter_map(|v| makers[v.0 as usize]) {
            if unit(p) != unit(n) {
                reads[unit(n)].insert(unit(p));
            } else if unit(n) == a && matches!(graph.nodes[p].op, Op::Sum | Op::Dot) {
                return false;
            }
        }
    }
    let mut seen = vec![false; group.len()];
    let mut todo: Vec<usize> = reads[a].iter().copied().collect();
    while let Some(n) = todo.pop() {
        if n == a {
            return false;
        }
        if !std::mem::replace(&mut seen[n], true) {
            todo.extend(&reads[n]);
        }
    }
    true
}

/// A graph in which each node reads some of the values before it.
fn graph(choices: &[(u8, usize, usize)]) -> Graph {
    let mut graph = Graph::default();
    let mut whole: Vec<Val> = ["a", "b", "c"]
        .map(|name| graph.input(name, TensorType::f32([3, 3])))
        .to_vec();
    let mut numbers = vec![graph.input("s", TensorType::f32([1]))];
    for &(kind, a, b) in choices {
        let (x, y) = (whole[a % whole.len()], whole[b % whole.len()]);
        let s = numbers[b % numbers.len()];
        let mut push = |op, ins: &[Val]| graph.push(op, ins, Loc::caller()).unwrap();
        match kind {
            0 | 1 => whole.push(push(Op::Add, &[x, y])),
            2 => whole.push(push(Op::Relu, &[x])),
            3 => whole.push(push(Op::MatMul, &[x, y])),
            4 => numbers.push(push(Op::Dot, &[x, y])),
            5 => numbers.push(push(Op::Sum, &[x])),
            6 => numbers.push(push(Op::Add, &[s, s])),
            _ => whole.push(push(Op::Axpy(1.0), &[x, s, y])),
        }
    }
    let ends = whole
        .iter()
        .chain(&numbers)
        .map(|v| (format!("o{}", v.0), *v));
    graph.outputs = ends.collect();
    graph
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn groups_are_those_of_the_definition(
        choices in prop::collection::vec((0u8..8, 0usize..1000, 0usize..1000), 1..60),
    ) {
        let graph = graph(&choices);
        let found = groups_with_masks(&graph);
        prop_assert_eq!(&found, &reference(&graph));
        // Every unit comes after what it reads.
        let (makers, mut done) = (makers(&graph), HashSet::new());
        for unit in order(&graph, &found) {
            for v in unit.iter().flat_map(|&i| &graph.nodes[i].ins) {
                let from = makers[v.0 as usize];
                prop_assert!(from.is_none_or(|p| unit.contains(&p) || done.contains(&p)));
            }
            done.extend(unit);
        }
        prop_assert_eq!(done.len(), graph.nodes.len());
    }
}

/// 3,000 nodes once took 3.6 s, and ten times as many a hundred times as long.
#[test]
fn many_nodes_take_time_in_proportion() {
    let chain: Vec<_> = (0..30_000).map(|i| (2, i + 2, 0)).collect();
    let layers = (0..30_000).map(|i| ([3, 7, 0, 2][i % 4], i + 2, i));
    let siblings = (0..30_000).map(|i| ([0, 4, 3][i % 3], 0, i));
    for choices in [chain, layers.collect(), siblings.collect()] {
        let graph = graph(&choices);
        let started = Instant::now();
        fuse_elementwise(&graph).unwrap();
        let taken = started.elapsed();
        assert!(taken < Duration::from_secs(20), "{taken:?}");
    }
}
