//! `channel-rows`: what is computed of images channel by channel is computed on rows of channels.
//!
//! Batch normalisation sums `[n, c, h, w]` over all dimensions but the channels, one after another, and then
//! repeats `[1, c, 1, 1]` for each pixel. GPUs keep what convolutions and pools make with the channels last:
//! there, `[n·h·w, c]` is a view, over which all of these sums are one. What follows the sum, `[1, c]`, may be
//! part of its kernel. So elementwise ops on images whose rows are at hand are computed on the rows, and what
//! they give is turned back where a layer reads it: a view, too.

use std::collections::HashMap;

use fedround_ir::Loc;
use fedround_ir::tensor::{Graph, GraphError, Node, Op, Val};

use super::channel_sums::has_channels_last;
use super::dce::dce;
use super::rewrite::{Growing, Rewrite};

/// Computes on rows of channels what can be.
///
/// # Errors
///
/// The graph is not well formed.
pub fn channel_rows(graph: &Graph) -> Result<Graph, GraphError> {
    let mut rows = Rows::default();
    let turned = Rewrite::run(graph, |rewrite, node| {
        let new = &mut rewrite.new;
        match &node.op {
            Op::Reshape(_) => rows.reshape(new, node),
            Op::Expand(_) => rows.expand(new, node),
            &Op::SumDim(d) | &Op::MeanDim(d) => rows.total(new, node, d),
            op if op.is_elementwise() => rows.elementwise(new, node),
            _ => new
                .push_multi(node.op, &node.ins, node.loc)
                .map_err(Into::into),
        }
    })?;
    Ok(dce(&turned))
}

/// The values that are there in rows. Channels are the second dimension of these values.
#[derive(Default)]
struct Rows {
    /// `[pixels, channels]`, or `[1, channels]` of what is the same for every pixel.
    of: HashMap<Val, Val>,
    /// What sums and means over some of the dimensions are of.
    partial: HashMap<Val, (Val, Op)>,
}

impl Rows {
    /// The rows of a value, if they are at hand.
    fn known(&mut self, graph: &mut Growing, v: Val, loc: Loc) -> Result<Option<Val>, GraphError> {
        let known = self.of.get(&v).copied();
        let is_image = graph.shape(v).len() == 4 && !graph.type_of(v).is_empty();
        if known.is_some() || !is_image || !has_channels_last(graph, v) {
            return Ok(known);
        }
        let channels = graph.shape(v)[1];
        let pixels = graph.type_of(v).len() / channels;
        let last = graph.push(Op::Permute(vec![0, 2, 3, 1]), &[v], loc)?;
        let rows = graph.push(Op::Reshape(vec![pixels, channels]), &[last], loc)?;
        self.of.insert(v, rows);
        Ok(Some(rows))
    }

    fn reshape(&mut self, graph: &mut Growing, node: Node) -> Result<Vec<Val>, GraphError> {
        let v = node.ins[0];
        let from = graph.shape(v).to_vec();
        let rows = self.known(graph, v, node.loc)?;
        // Nothing is between a row and what it is reshaped to.
        let row = rows.filter(|rows| graph.type_of(*rows).len() == graph.type_of(v).len());
        let row = row.filter(|row| graph.shape(*row)[0] == 1);
        let out = graph.push(node.op, &[row.unwrap_or(v)], node.loc)?;
        let to = graph.shape(out);
        if from.len() > 1 && to.len() > 1 && from[..2] == to[..2] {
            if let Some(rows) = rows {
                self.of.insert(out, rows);
            }
            if let Some(partial) = self.partial.get(&v).cloned() {
                self.partial.insert(out, partial);
            }
        }
        Ok(vec![out])
    }

    fn expand(&mut self, graph: &mut Growing, node: Node) -> Result<Vec<Val>, GraphError> {
        let v = node.ins[0];
        let row = self.known(graph, v, node.loc)?;
        let row = row.filter(|row| graph.shape(*row)[0] == 1);
        let out = graph.push(node.op, &[v], node.loc)?;
        let rows = match (graph.shape(v), graph.shape(out)) {
            (from, to) if from.len() < 2 || from.len() != to.len() || from[1] != to[1] => None,
            _ if row.is_some() => row,
            // Of one number for each plane.
            (&[n, c, 1], &[to, _, pixels]) if n == to => {
                let plane = graph.push(Op::Reshape(vec![n, 1, c]), &[v], node.loc)?;
                let last = graph.push(Op::Expand(vec![n, pixels, c]), &[plane], node.loc)?;
                Some(graph.push(Op::Reshape(vec![n * pixels, c]), &[last], node.loc)?)
            }
            _ => None,
        };
        if let Some(rows) = rows {
            self.of.insert(out, rows);
        }
        Ok(vec![out])
    }

    /// A sum or mean over one dimension, which may be the last of those that are not the channels.
    fn total(
        &mut self,
        graph: &mut Growing,
        node: Node,
        along: usize,
    ) -> Result<Vec<Val>, GraphError> {
        let (v, loc) = (node.ins[0], node.loc);
        let shape = graph.shape(v).to_vec();
        let is_mean = matches!(node.op, Op::MeanDim(_));
        let over = |d| match is_mean {
            true => Op::MeanDim(d),
            false => Op::SumDim(d),
        };
        let over_rows = over(0);
        let rows = self.known(graph, v, loc)?;
        let rows = rows.filter(|rows| graph.shape(*rows)[0] > 1);
        let begun = self.partial.get(&v).filter(|(_, op)| *op == over_rows);
        let of = rows.or(begun.map(|(of, _)| *of)).filter(|_| along != 1);
        let Some(of) = of else {
            return Ok(vec![graph.push(node.op, &[v], loc)?]);
        };
        let mut to = shape.clone();
        to[along] = 1;
        if to.iter().product::<usize>() == shape[1] {
            let row = graph.push(over_rows, &[of], loc)?;
            let out = graph.push(Op::Reshape(to), &[row], loc)?;
            self.of.insert(out, row);
            return Ok(vec![out]);
        }
        let out = match (rows, &shape[..]) {
            (Some(rows), &[n, channels, pixels]) if along == 2 => {
                let planes = Op::Reshape(vec![n, pixels, channels]);
                let planes = graph.push(planes, &[rows], loc)?;
                let total = graph.push(over(1), &[planes], loc)?;
                graph.push(Op::Reshape(to), &[total], loc)?
            }
            _ => graph.push(node.op, &[v], loc)?,
        };
        self.partial.insert(out, (of, over_rows));
        Ok(vec![out])
    }

    fn elementwise(&mut self, graph: &mut Growing, node: Node) -> Result<Vec<Val>, GraphError> {
        let ins: Vec<_> = node.ins.iter().map(|v| graph.type_of(*v)).collect();
        let shape = node.op.infer(&ins, node.loc)?.swap_remove(0).shape;
        let Some(mut ins) = self.operands(graph, &node, &shape)? else {
            return Ok(graph.push_multi(node.op, &node.ins, node.loc)?);
        };
        if matches!(node.op, Op::ReluGrad | Op::And | Op::Or) {
            alike(graph, &mut ins, node.loc)?;
        }
        let rows = graph.push(node.op, &ins, node.loc)?;
        let out = turned_back(graph, rows, shape, node.loc)?;
        self.of.insert(out, rows);
        Ok(vec![out])
    }

    /// The operands of an op in rows, if some are at hand and the others are views.
    fn operands(
        &mut self,
        graph: &mut Growing,
        node: &Node,
        shape: &[usize],
    ) -> Result<Option<Vec<Val>>, GraphError> {
        if shape.len() < 3 || shape.contains(&0) {
            return Ok(None);
        }
        let pixels = shape.iter().product::<usize>() / shape[1];
        let (mut ins, mut any) = (vec![], false);
        for &v in &node.ins {
            let own = graph.shape(v).to_vec();
            let known = self.known(graph, v, node.loc)?;
            any |= known.is_some();
            let row = |n| Op::Reshape(vec![1, n]);
            ins.push(match known {
                Some(rows) if [1, pixels].contains(&graph.shape(rows)[0]) => rows,
                Some(_) => return Ok(None),
                None if graph.type_of(v).len() == 1 => graph.push(row(1), &[v], node.loc)?,
                None if own.len() > 1 && graph.type_of(v).len() == own[1] => {
                    graph.push(row(own[1]), &[v], node.loc)?
                }
                None => return Ok(None),
            });
        }
        Ok(any.then_some(ins))
    }
}

/// Repeats single rows, where others are those of all pixels: some ops repeat none.
fn alike(graph: &mut Growing, rows: &mut [Val], loc: Loc) -> Result<(), GraphError> {
    let all = rows.iter().map(|v| graph.shape(*v)[0]).max().unwrap_or(1);
    for v in rows {
        let mut shape = graph.shape(*v).to_vec();
        if shape[0] < all {
            shape[0] = all;
            *v = graph.push(Op::Expand(shape), &[*v], loc)?;
        }
    }
    Ok(())
}

/// A value in its own shape, of its rows.
fn turned_back(
    graph: &mut Growing,
    rows: Val,
    shape: Vec<usize>,
    loc: Loc,
) -> Result<Val, GraphError> {
    let n = shape.len();
    let (size, channels) = (graph.type_of(rows).len(), shape[1]);
    if size < shape.iter().product() {
        let mut one = vec![1; n];
        one[1] = size;
        let one = graph.push(Op::Reshape(one), &[rows], loc)?;
        return Ok(graph.push(Op::Expand(shape), &[one], loc)?);
    }
    if size == channels {
        return Ok(graph.push(Op::Reshape(shape), &[rows], loc)?);
    }
    let last = [&shape[..1], &shape[2..], &[channels]].concat();
    let last = graph.push(Op::Reshape(last), &[rows], loc)?;
    let order = [0, n - 1].into_iter().chain(1..n - 1).collect();
    Ok(graph.push(Op::Permute(order), &[last], loc)?)
}
