//! The noise of a binary tree over the rounds of a pass (DP-FTRL).
//!
//! The leaves of a tree are the rounds of a pass, and each node has noise of its own. The noise `N_t` of the first `t`
//! rounds is the sum over the fewest nodes that cover them: one node of `2^l` rounds for each bit `l` that is set in
//! `t`. From round `t − 1` to round `t`, the nodes of the lowest levels close, and one node opens that covers them and
//! the new round. Round `t` therefore adds `N_t − N_{t−1}`: the noise of the new node minus the noise of the nodes that
//! close.
//!
//! The open nodes are a state of the server. Its first tensor has the number of the pass and the levels of the open
//! nodes; the nodes' noise follows. Each pass begins a new tree, even if its first round was skipped: the noise of an
//! earlier pass was released with its results, so none of its nodes may close.

use fedround_exec::tensor::{from_floats, read};
use fedround_ir::fed::{Module, Op, OpKind, PrivacyOp};
use fedround_passes::lowering::Frontend;
use fedround_random::{Purpose, noise};

use super::server::Server;
use crate::aggregate::weighted_sum::{Weight, WeightedSum};
use crate::context::missing;
use crate::error::RunError;
use crate::interpreter::Interpreter;
use crate::sampling::Pass;
use crate::value::{Env, RuntimeValue};

impl Server<'_> {
    /// `priv.tree_noise`: adds the noise of the round to parameters.
    pub(super) fn tree_noise(&mut self, op: &Op, env: &Env) -> Result<RuntimeValue, RunError> {
        let [of, sigma, cohort] = op.operands[..] else {
            return Err(missing(op, "value, deviation and cohort"));
        };
        let Some(RuntimeValue::Params(of)) = env.peek(of) else {
            return Err(missing(op, "parameters"));
        };
        let sigma = self.number(op, sigma, env)?;
        let clients = self.cx.clients();
        let m = self.cx.program.cohort(cohort, clients);
        let m = m.ok_or_else(|| missing(op, "size of a cohort"))?;
        let pass = Pass::of(self.cx.round, clients, m);
        let rounds = 1 + pass.position;
        let level = rounds.trailing_zeros() as f32;

        let (program, device) = (self.cx.program, self.cx.program.device());
        let types = program.model().parameters().iter();
        let shapes: Vec<&[usize]> = types.map(|(_, ty)| &ty.shape[..]).collect();
        let name = node_name(&program.schedule().module, op);
        let stored = match rounds {
            1 => None,
            _ => self.state.server.get(&name).cloned(),
        };
        // The pass and the levels of the open nodes, then the nodes themselves.
        let (mut head, mut nodes) = (vec![pass.number as f32, level], vec![]);
        let keys = self.draw_keys(Purpose::Noise);
        for (i, shape) in shapes.iter().enumerate() {
            let mut values = vec![0.0; shape.iter().product()];
            let key = keys[0].with(i);
            noise::gaussian(&mut values, &mut noise::words(key, self.cx.secret));
            values
                .iter_mut()
                .for_each(|x| *x = (sigma * f64::from(*x)) as f32);
            nodes.push(from_floats(values, shape, device));
        }
        let mut sum = WeightedSum::default();
        sum.add(&Weight::Known(1.0), of)?;
        sum.add(&Weight::Known(1.0), &nodes)?;
        if let Some([known, open @ ..]) = stored.as_deref() {
            let known = read(known.clone())?;
            let leaves = shapes.len().max(1);
            let levels = match known.as_slice() {
                // Checkpoints of earlier versions do not have the number of the pass.
                levels if levels.len() * leaves == open.len() => levels,
                [stored_pass, levels @ ..] if levels.len() * leaves == open.len() => {
                    match *stored_pass == pass.number as f32 {
                        true => levels,
                        false => &[],
                    }
                }
                _ => return Err(RunError::TreeNodes { loc: op.loc }),
            };
            for (&known, node) in levels.iter().zip(open.chunks(leaves)) {
                match known < level {
                    true => sum.add(&Weight::Known(-1.0), node)?,
                    false => {
                        head.push(known);
                        nodes.extend_from_slice(node);
                    }
                }
            }
        }
        let count = head.len();
        nodes.insert(0, from_floats(head, &[count], device));
        self.state.server.insert(name, nodes);
        Ok(RuntimeValue::Params(sum.finish(
            1.0,
            shapes.into_iter(),
            device,
        )?))
    }
}

/// The names of the server states with the open nodes of a module's trees.
pub(crate) fn nodes_names(module: &Module) -> impl Iterator<Item = String> + '_ {
    let trees = module.all_ops().filter(|op| is_tree(op));
    trees.map(|op| node_name(module, op))
}

/// The name of the state with a tree's open nodes, by the tree's index in the module. It contains a space, so that no
/// state of an algorithm has the same name.
fn node_name(module: &Module, op: &Op) -> String {
    let before = module.all_ops().filter(|op| is_tree(op));
    let index = before
        .take_while(|other| other.results != op.results)
        .count();
    format!("tree noise {index}")
}

/// Whether an operation adds the noise of a tree.
fn is_tree(op: &Op) -> bool {
    op.kind == OpKind::Privacy(PrivacyOp::TreeNoise)
}
