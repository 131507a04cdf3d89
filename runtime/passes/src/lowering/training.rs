//! `lower`: forward passes of models, and gradients.

use fedround_ir::fed::{Kind, Op as ModuleOp, Region};
use fedround_ir::tensor::{Op, TensorType, Val};

use super::{Lower, LowerError, Tree, frontend, unsupported};
use crate::autodiff::grad_scaled;
use crate::tensor::transform::{pool_first, share};

impl Lower<'_> {
    /// What a function of the model or a loss is given, and its types.
    pub(super) fn arguments(&self, inputs: &[Tree]) -> (Vec<Val>, Vec<TensorType>) {
        let values = inputs.iter().flat_map(|tree| &tree.0);
        let typed = values.map(|&v| (v, self.graph.type_of(v).clone()));
        typed.unzip()
    }

    /// The value of a function of the model. In training, the tree has the buffers that the
    /// forward pass makes from here on.
    pub(super) fn apply(
        &mut self,
        op: &ModuleOp,
        function: &str,
        w: &Tree,
        inputs: &[Tree],
    ) -> Result<Val, LowerError> {
        let training = self.trained.contains(&op.operands[0]);
        let (args, types) = self.arguments(inputs);
        let traced = self.frontend.apply(function, &types, training);
        let traced = pool_first(&traced.map_err(frontend(op.loc))?)?;
        let args: Vec<Val> = w.0.iter().copied().chain(args).collect();
        let mut outs = self.graph.inline(&traced, &args, op.loc)?.into_iter();
        let value = outs.next().ok_or_else(|| unsupported(op))?;
        let mut next = w.clone();
        for (&b, out) in self.frontend.buffers().iter().zip(outs) {
            next.0[b] = self.graph.push(Op::StopGradient, &[out], op.loc)?;
        }
        self.env.insert(op.operands[0], next);
        Ok(value)
    }

    pub(super) fn grad(
        &mut self,
        op: &ModuleOp,
        region: &Region,
        w: &Tree,
    ) -> Result<Vec<Tree>, LowerError> {
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
        self.ops(&region.ops)?;
        let loss = self.get(loss, op)?.0[0];
        let loss = share(&mut self.graph, own, loss);
        let buffers = self.buffers(w);
        let (mut after, advanced) = (w.clone(), self.get(arg, op)?);
        buffers.iter().for_each(|&b| after.0[b] = advanced.0[b]);
        self.env.insert(op.operands[0], after);
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
        if self.module.type_of(op.operands[0]).kind == Kind::Params {
            self.losses.push(loss);
        }
        Ok(vec![Tree(grads), Tree(vec![loss])])
    }
}
