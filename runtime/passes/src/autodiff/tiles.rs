//! Values that are read in slices which lie side by side and cover them, as the gates of an LSTM are.
//!
//! The gradient of such a value is the gradients of its slices side by side: one `cat`. By the rule of a
//! single slice it would be a sum of tensors of the whole size, one for each slice, which takes time in the
//! square of the number of slices.

use std::collections::{BTreeMap, HashMap};

use fedround_ir::Loc;
use fedround_ir::tensor::{Graph, Op, TypeError, Val};

/// The gradients of slices until the value itself is reached.
pub(super) struct Tiles(HashMap<Val, Tiling>);

/// The ranges of a slice, and where it is written.
type Cut<'a> = (&'a [(usize, usize)], Loc);

/// The slices of a value along one dimension.
struct Tiling {
    dim: usize,
    /// By their first place: the place after their last, and their gradients as far as they have some.
    slices: BTreeMap<usize, (usize, Option<Val>)>,
    loc: Loc,
}

impl Tiles {
    /// All values of a graph that are read in such slices and in no other way.
    pub fn of(graph: &Graph) -> Self {
        let mut reads: HashMap<Val, Vec<Option<Cut<'_>>>> = HashMap::new();
        for node in &graph.nodes {
            for v in &node.ins {
                let slice = match &node.op {
                    Op::Slice(ranges) => Some((&ranges[..], node.loc)),
                    _ => None,
                };
                reads.entry(*v).or_default().push(slice);
            }
        }
        let outputs = graph.outputs.iter().map(|(_, v)| v);
        outputs.for_each(|v| reads.entry(*v).or_default().push(None));
        let tilings = reads.into_iter().filter_map(|(v, reads)| {
            let slices: Option<Vec<_>> = reads.into_iter().collect();
            Some((v, Tiling::new(graph.shape(v), &slices?)?))
        });
        Self(tilings.collect())
    }

    /// Takes the gradient of a slice of a value; `false` if the value is not among these.
    pub fn take(&mut self, of: Val, ranges: &[(usize, usize)], gradient: Val) -> bool {
        let Some(tiling) = self.0.get_mut(&of) else {
            return false;
        };
        let slice = tiling.slices.get_mut(&ranges[tiling.dim].0);
        slice.map(|(_, own)| *own = Some(gradient)).is_some()
    }

    /// The gradient of a value, if it is among these and a slice has one. Slices without a gradient have
    /// zeros.
    pub fn gradient(&mut self, graph: &mut Graph, of: Val) -> Result<Option<Val>, TypeError> {
        let found = self.0.remove(&of);
        let found = found.filter(|tiling| tiling.slices.values().any(|(_, g)| g.is_some()));
        let Some(Tiling { dim, slices, loc }) = found else {
            return Ok(None);
        };
        let parts = slices.into_iter().map(|(start, (end, gradient))| {
            let mut shape = graph.shape(of).to_vec();
            shape[dim] = end - start;
            gradient.map_or_else(|| graph.push(Op::Full(0.0, shape), &[], loc), Ok)
        });
        let parts = parts.collect::<Result<Vec<_>, _>>()?;
        Ok(Some(graph.push(Op::Cat(dim), &parts, loc)?))
    }
}

impl Tiling {
    /// The slices of a value of this shape, if there are several and they cover it side by side.
    fn new(shape: &[usize], slices: &[Cut<'_>]) -> Option<Self> {
        let (first, loc) = slices.first().filter(|_| slices.len() > 1)?;
        let cut = |d: &usize| first[*d] != (0, shape[*d]);
        let dim = (0..shape.len()).find(cut)?;
        let mut along = BTreeMap::new();
        for (ranges, _) in slices {
            let mut others = (0..shape.len()).filter(|d| *d != dim);
            let (start, end) = ranges[dim];
            let whole = others.all(|d| ranges[d] == (0, shape[d]));
            if !whole || along.insert(start, (end, None)).is_some() {
                return None;
            }
        }
        let mut at = 0;
        for (start, (end, _)) in &along {
            if *start != at {
                return None;
            }
            at = *end;
        }
        (at == shape[dim]).then_some(Self {
            dim,
            slices: along,
            loc: *loc,
        })
    }
}

#[cfg(test)]
mod tests {
    use fedround_ir::tensor::TensorType;

    use super::*;
    use crate::autodiff::grad;

    /// `Σ_i (x[ranges_i])²`.
    fn graph(ranges: &[(usize, usize)]) -> (Graph, Val, Val) {
        let (mut graph, loc) = (Graph::default(), Loc::caller());
        let x = graph.input("x".to_owned(), TensorType::f32([2, 6]));
        let mut sum: Option<Val> = None;
        for range in ranges {
            let slice = Op::Slice(vec![(0, 2), *range]);
            let slice = graph.push(slice, &[x], loc).unwrap();
            let square = graph.push(Op::Mul, &[slice, slice], loc).unwrap();
            let total = graph.push(Op::Sum, &[square], loc).unwrap();
            sum = Some(match sum {
                None => total,
                Some(sum) => graph.push(Op::Add, &[sum, total], loc).unwrap(),
            });
        }
        (graph, x, sum.unwrap())
    }

    fn ops(ranges: &[(usize, usize)]) -> (usize, usize) {
        let (mut graph, x, loss) = graph(ranges);
        let found = grad(&mut graph, loss, &[x], Loc::caller()).unwrap();
        assert_eq!(graph.shape(found[0]), [2, 6]);
        let count = |of: fn(&Op) -> bool| graph.nodes.iter().filter(|n| of(&n.op)).count();
        (
            count(|op| matches!(op, Op::Cat(_))),
            count(|op| matches!(op, Op::SliceAssign(_))),
        )
    }

    #[test]
    fn slices_that_cover_a_value_are_joined() {
        assert_eq!(ops(&[(0, 1), (1, 4), (4, 6)]), (1, 0));
        assert_eq!(ops(&[(4, 6), (0, 4)]), (1, 0));
    }

    #[test]
    fn other_slices_are_added() {
        assert_eq!(ops(&[(0, 2), (3, 6)]), (0, 2));
        assert_eq!(ops(&[(0, 4), (3, 6)]), (0, 2));
        assert_eq!(ops(&[(0, 3), (0, 3), (3, 6)]), (0, 3));
        assert_eq!(ops(&[(0, 5)]), (0, 1));
        assert_eq!(ops(&[(0, 6)]), (0, 1));
    }

    #[test]
    fn a_slice_without_a_gradient_has_zeros() {
        let (mut graph, x, _) = graph(&[(0, 2), (2, 6)]);
        // The loss of the first slice alone.
        let first = Val(graph.nodes[2].outs[0].0);
        let found = grad(&mut graph, first, &[x], Loc::caller()).unwrap();
        let node = graph.nodes.iter().find(|n| n.outs.contains(&found[0]));
        let node = node.unwrap();
        assert_eq!(node.op, Op::Cat(1));
        let [_, rest] = node.ins[..] else {
            panic!("{node:?}")
        };
        assert_eq!(graph.shape(rest), [2, 4]);
    }
}
