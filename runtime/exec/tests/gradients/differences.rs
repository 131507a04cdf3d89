//! Central differences of functions along a direction.

use fedround_ir::Loc;
use fedround_ir::tensor::{Constant, Graph, Op, Val};

use crate::gradients::case::Point;

/// Central differences of `f` along a direction.
pub fn slope(point: &Point, along: &Point, step: f64, f: impl Fn(&Point) -> Point) -> Point {
    let moved = |t: f64| {
        let leaf = |(x, s): (&Vec<f64>, &Vec<f64>)| -> Vec<f64> {
            x.iter().zip(s).map(|(x, s)| x + t * s).collect()
        };
        f(&point.iter().zip(along).map(leaf).collect())
    };
    let (above, below) = (moved(step), moved(-step));
    let slope = |(a, b): (&f64, &f64)| (a - b) / (2.0 * step);
    let slopes = |(a, b): (&Vec<f64>, &Vec<f64>)| a.iter().zip(b).map(slope).collect();
    above.iter().zip(&below).map(slopes).collect()
}

/// A direction in the space of a tensor whose components differ.
pub fn direction(shape: &[usize]) -> Vec<f64> {
    let n: usize = shape.iter().product();
    (0..n)
        .map(|i| ((7 * i + 3) % 11) as f64 / 5.0 - 1.0)
        .collect()
}

/// `Σ g · v` over all gradients, `v` being [`direction`].
pub fn component(graph: &mut Graph, grads: &[Val]) -> Val {
    let mut total = graph
        .push(Op::Full(0.0, vec![1]), &[], Loc::caller())
        .unwrap();
    for &g in grads {
        let constant = Constant {
            ty: graph.type_of(g).clone(),
            values: direction(graph.shape(g)).into(),
        };
        let v = graph
            .push(Op::Constant(constant), &[], Loc::caller())
            .unwrap();
        let product = graph.push(Op::Mul, &[g, v], Loc::caller()).unwrap();
        let sum = graph.push(Op::Sum, &[product], Loc::caller()).unwrap();
        total = graph.push(Op::Add, &[total, sum], Loc::caller()).unwrap();
    }
    total
}
