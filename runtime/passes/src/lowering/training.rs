//! `lower`: forward passes of models, and gradients.

use std::collections::HashMap;

use fedround_ir::fed::{Kind, Op as ModuleOp, Region, Value};
use fedround_ir::tensor::{Op, TensorType, Val};

use super::{Lower, LowerError, Tree, frontend, unsupported};
use crate::autodiff::grad_scaled;
use crate::tensor::transform::{pool_first, share};

/// For each buffer that a tree shares with a differentiated tree, by its place among the leaves: that tree.
pub(super) type Owners = HashMap<usize, Value>;

/// A forward pass in training.
pub(super) struct Pass {
    function: String,
    /// The tree, and what the function was given beside it.
    on: (Value, Vec<Val>),
    /// The buffers that it updated.
    updated: Vec<usize>,
}

impl Lower<'_> {
    /// What a function of the model or a loss is given, and its types.
    pub(super) fn arguments(&self, inputs: &[Tree]) -> (Vec<Val>, Vec<TensorType>) {
        let values = inputs.iter().flat_map(|tree| &tree.0);
        let typed = values.map(|&v| (v, self.graph.type_of(v).clone()));
        typed.unzip()
    }

    /// The value of a function of the model. In training, the tree has the buffers that the
    /// forward pass makes from here on. Different functions of the same inputs, such as logits and
    /// features, are read from one forward pass in papers and their code: they update a buffer once.
    pub(super) fn apply(
        &mut self,
        op: &ModuleOp,
        function: &str,
        w: &Tree,
        inputs: &[Tree],
    ) -> Result<Val, LowerError> {
        let tree = op.operands[0];
        // The last pass may have been on another tree with the same statistics.
        let owners = self.owners.get(&tree).cloned().unwrap_or_default();
        let w = self.refreshed(w, &owners, op)?;
        let training = self.trained.contains(&tree);
        let (args, types) = self.arguments(inputs);
        let on = (tree, args.clone());
        let traced = self.frontend.apply(function, &types, training);
        let traced = pool_first(&traced.map_err(frontend(op.loc))?)?;
        let args: Vec<Val> = w.0.iter().copied().chain(args).collect();
        let mut outs = self.graph.inline(&traced, &args, op.loc)?.into_iter();
        let value = outs.next().ok_or_else(|| unsupported(op))?;
        let done = self.updated_by_others(function, &on);
        let (mut next, mut updated) = (w.clone(), vec![]);
        for (&b, out) in self.frontend.buffers().iter().zip(outs) {
            if out != w.0[b] && !done.contains(&b) {
                next.0[b] = self.graph.push(Op::StopGradient, &[out], op.loc)?;
                updated.push(b);
            }
        }
        for (b, owner) in owners {
            if let Some(owner) = self.env.get_mut(&owner) {
                owner.0[b] = next.0[b];
            }
        }
        self.env.insert(tree, next);
        if training {
            let function = function.to_owned();
            self.passes.push(Pass {
                function,
                on,
                updated,
            });
        }
        Ok(value)
    }

    /// A tree with the running statistics that it shares as they are now.
    fn refreshed(&self, w: &Tree, owners: &Owners, op: &ModuleOp) -> Result<Tree, LowerError> {
        let mut w = w.clone();
        for (b, owner) in owners {
            w.0[*b] = self.get(*owner, op)?.0[*b];
        }
        Ok(w)
    }

    /// The owners of the statistics of a gradient's point. If a gradient around it is taken at the same point, this
    /// one goes on from there.
    fn owners_of_point(&self, point: Value) -> Owners {
        let mut around = self.enclosing.iter().rev();
        let around = around.find(|(outer, _)| *outer == point);
        let tree = around.map_or(point, |(_, arg)| *arg);
        self.owners.get(&tree).cloned().unwrap_or_default()
    }

    /// Notes which running statistics a tree made by `replace_parts` shares with a differentiated one.
    pub(super) fn share_statistics(&mut self, op: &ModuleOp, operands: &[Tree], made: &Tree) {
        let shared = self.buffers(made).iter().filter_map(|&b| {
            let mut sources = op.operands.iter().zip(operands);
            let (source, _) = sources.find(|(_, tree)| tree.0.get(b) == made.0.get(b))?;
            Some((b, *self.owners.get(source)?.get(&b)?))
        });
        let shared: Owners = shared.collect();
        self.owners.extend(op.results.first().map(|v| (*v, shared)));
    }

    /// The buffers that other functions of the same inputs have updated. A function that is repeated is a pass of
    /// its own, for it may draw other random numbers.
    fn updated_by_others(&self, function: &str, on: &(Value, Vec<Val>)) -> Vec<usize> {
        let same = || self.passes.iter().filter(|pass| pass.on == *on);
        if same().any(|pass| pass.function == function) {
            return vec![];
        }
        same().flat_map(|pass| pass.updated.clone()).collect()
    }

    pub(super) fn grad(
        &mut self,
        op: &ModuleOp,
        region: &Region,
        w: &Tree,
    ) -> Result<Vec<Tree>, LowerError> {
        let point = op.operands[0];
        let owners = self.owners_of_point(point);
        let w = &self.refreshed(w, &owners, op)?;
        // The region's own copies of the parameters: what it captures from outside is constant,
        // even where it is the same value. Folding removes the copies.
        let copies = w.0.iter().map(|&v| {
            let shape = self.graph.shape(v).to_vec();
            self.graph.push(Op::Reshape(shape), &[v], op.loc)
        });
        let copies: Vec<Val> = copies.collect::<Result<_, _>>()?;
        let (Some(&arg), Some(&loss)) = (region.args.first(), region.yields.first()) else {
            return Err(unsupported(op));
        };
        // After the copies, which another gradient's are not to be taken for.
        let own = self.graph.nodes.len();
        self.env.insert(arg, Tree(copies.clone()));
        self.trained.insert(arg);
        let own_buffers = self.buffers(w).iter().map(|&b| (b, arg)).collect();
        self.owners.insert(arg, own_buffers);
        self.enclosing.push((point, arg));
        self.ops(&region.ops)?;
        self.enclosing.pop();
        let loss = self.get(loss, op)?.0[0];
        let loss = share(&mut self.graph, own, loss);
        let buffers = self.buffers(w);
        let (mut after, advanced) = (self.get(point, op)?, self.get(arg, op)?);
        for &b in buffers.iter().filter(|&&b| advanced.0[b] != copies[b]) {
            after.0[b] = advanced.0[b];
            if let Some(owner) = owners.get(&b).and_then(|v| self.env.get_mut(v)) {
                owner.0[b] = advanced.0[b];
            }
        }
        self.env.insert(point, after);
        let leaves = copies.iter().enumerate();
        let wrt = leaves.filter(|(i, _)| !buffers.contains(i));
        let wrt: Vec<Val> = wrt.map(|(_, v)| *v).collect();
        let mut grads = grad_scaled(&mut self.graph, loss, &wrt, self.loss_scale, op.loc)?;
        for &b in buffers {
            let shape = self.graph.shape(copies[b]).to_vec();
            let zeros = self.graph.push(Op::Full(0.0, shape), &[], op.loc)?;
            grads.insert(b, zeros);
        }
        // What is descended on to train the model, and not on its inputs.
        if self.module.type_of(point).kind == Kind::Params {
            self.losses.push(loss);
        }
        Ok(vec![Tree(grads), Tree(vec![loss])])
    }
}
