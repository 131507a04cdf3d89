//! `elide-zero-carry`: removes loop-carried leaves that stay zero, such as unused momentum.
//!
//! Parameters that a loss does not read have a gradient of zero. Their momentum begins at zero and stays
//! zero, and they do not change. Examples are FedFed's generator in the rounds after it was used, and a
//! network that another phase trains. A leaf stays zero if the graph of the loop's body yields zero for
//! it whenever it begins at zero.

use std::collections::HashMap;

use fedround_ir::Loc;
use fedround_ir::tensor::{Graph, GraphError, Op, Val};

use super::fold::fold;
use super::rewrite::{Growing, Rewrite};

/// A leaf that a loop carries: the numbers of the graph's input, and of the output that is its next
/// value.
pub type Leaf = (usize, usize);

/// Replaces leaves that are zero before the loop and stay zero by constants where they are read, and
/// yields them unchanged.
///
/// # Errors
///
/// The graph is not well formed.
pub fn elide_zero_carry(graph: &Graph, zero: &[Leaf]) -> Result<Graph, GraphError> {
    let mut zero = zero.to_vec();
    loop {
        let mut assumed = fold(&with_zeros(graph, &zero)?)?;
        let stays = |&(input, output): &Leaf| {
            let value = assumed.outputs[output].1;
            value == assumed.inputs[input].1 || is_zero(&assumed, value)
        };
        let (stay, go): (Vec<_>, Vec<_>) = zero.iter().copied().partition(stays);
        if go.is_empty() {
            for (input, output) in stay {
                assumed.outputs[output].1 = assumed.inputs[input].1;
            }
            return Ok(assumed);
        }
        zero = stay;
    }
}

/// The graph with zeros in the place of some inputs.
fn with_zeros(graph: &Graph, zero: &[Leaf]) -> Result<Graph, GraphError> {
    // A rewritten graph begins with its inputs. Each is made a constant where it is first read.
    let inputs = zero.iter().map(|&(input, _)| (Val(input as u32), None));
    let mut zeros: HashMap<Val, Option<Val>> = inputs.collect();
    Rewrite::run(graph, |rewrite, mut node| {
        for v in &mut node.ins {
            if let Some(zero) = zeros.get_mut(v) {
                let made = match *zero {
                    Some(made) => made,
                    None => full(&mut rewrite.new, *v, node.loc)?,
                };
                (*zero, *v) = (Some(made), made);
            }
        }
        rewrite.keep(node)
    })
}

fn full(graph: &mut Growing, like: Val, loc: Loc) -> Result<Val, GraphError> {
    let shape = graph.shape(like).to_vec();
    Ok(graph.push(Op::Full(0.0, shape), &[], loc)?)
}

fn is_zero(graph: &Graph, v: Val) -> bool {
    let made = graph.nodes.iter().find(|node| node.outs.contains(&v));
    made.is_some_and(|node| matches!(node.op, Op::Full(0.0, _)))
}

#[cfg(test)]
mod tests {
    use fedround_ir::tensor::TensorType;

    use super::*;
    use crate::tensor::optimize;

    /// A step with momentum and decay on two leaves, of which the loss reads the first.
    fn step() -> Graph {
        let at = Loc::caller();
        let mut g = Graph::default();
        let input = |g: &mut Graph, name: &str| g.input(name, TensorType::f32([2]));
        let ins = ["w0", "w1", "v0", "v1"].map(|name| input(&mut g, name));
        let m = g.input("m", TensorType::f32([1]));
        let decay = g.input("decay", TensorType::f32([1]));
        let mut push = |op, ins: &[Val]| g.push(op, ins, at).unwrap();
        let none = push(Op::Full(0.0, vec![2]), &[]);
        let gradients = [push(Op::Exp, &[ins[0]]), none];
        let mut next = vec![];
        for i in 0..2 {
            let (w, v) = (ins[i], ins[2 + i]);
            let decayed = push(Op::Mul, &[w, decay]);
            let g = push(Op::Add, &[gradients[i], decayed]);
            let kept = push(Op::Mul, &[v, m]);
            let v = push(Op::Add, &[kept, g]);
            let moved = push(Op::MulScalar(0.1), &[v]);
            next.push((push(Op::Sub, &[w, moved]), v));
        }
        for (i, (w, _)) in next.iter().enumerate() {
            g.outputs.push((format!("w{i}"), *w));
        }
        for (i, (_, v)) in next.iter().enumerate() {
            g.outputs.push((format!("v{i}"), *v));
        }
        g
    }

    fn returned(zero: &[Leaf]) -> (Vec<Option<String>>, usize) {
        let g = optimize(elide_zero_carry(&optimize(step()).unwrap(), zero).unwrap()).unwrap();
        let named = |v: Val| g.inputs.iter().find(|(_, input)| *input == v);
        let name = |(_, v): &(String, Val)| Some(named(*v)?.0.clone());
        (g.outputs.iter().map(name).collect(), g.nodes.len())
    }

    #[test]
    fn what_stays_at_zero_is_handed_on() {
        let all = returned(&[]).1;
        // Momenta begin at zero; one of them is given a gradient, the other the decay of a leaf.
        assert_eq!(returned(&[(2, 2), (3, 3)]), (vec![None; 4], all));
        // Where that leaf is zero, too, both stay.
        let (outputs, nodes) = returned(&[(1, 1), (2, 2), (3, 3)]);
        let own = |name: &str| Some(name.to_owned());
        assert_eq!(outputs, [None, own("w1"), None, own("v1")]);
        assert!(nodes < all, "{nodes} of {all}");
    }

    #[test]
    fn a_leaf_that_grows_from_zero_is_computed() {
        assert_eq!(returned(&[(0, 0)]), returned(&[]));
    }
}
