//! `lower`: makes a tensor graph of a compute segment of the fed dialect.
//!
//! A parameter tree becomes one tensor per leaf, and a scalar a tensor of one element. A [`Frontend`]
//! traces models and losses, whose graphs are inlined. For `opt.grad`, the gradient pass runs on the
//! lowered region. Hyper-parameters are inputs, so that one graph serves all of their values.
//!
//! A forward pass on parameters that an enclosing `opt.grad` differentiates runs in training mode and
//! updates the buffers of these parameters. The new buffers are visible after the `opt.grad`. Every other
//! forward pass runs in inference mode.

mod arithmetic;
mod error;
mod frontend;
pub mod output_name;
pub mod parts;
mod privacy;
mod training;

use std::collections::{HashMap, HashSet};

use fedround_ir::Loc;
use fedround_ir::fed::{
    ExternalOp, FedOp, Kind, Module, Op as ModuleOp, OpKind, OptOp, PrivacyOp, TreeOp, Value,
};
use fedround_ir::tensor::{Graph, Op, TensorType, Val};

use crate::schedule::{Compute, Schedule};
pub use error::LowerError;
pub use frontend::{Frontend, FrontendError};

/// The shapes and settings that a segment is lowered for.
#[derive(Clone, Debug, Default)]
pub struct Shapes {
    /// The number of examples in each batch among [`Compute::ins`].
    pub batches: HashMap<Value, usize>,
    /// Types of the features and labels among [`Compute::ins`].
    pub rows: HashMap<Value, TensorType>,
    /// Loss scaling: losses are multiplied by this number before differentiation, and gradients are
    /// divided by it. Without it, small gradients would be 0 in a narrow float type.
    pub loss_scale: Option<f64>,
}

/// A lowered segment. The graph's inputs are, in order: the leaves of each value in
/// [`Compute::ins`] (a batch is its [columns](Schedule::columns)), then one `[1]` tensor for each
/// hyper-parameter. Its outputs are the leaves of each value in [`Compute::outs`], the buffers of
/// each in [`Compute::advanced`], then `losses` scalars.
#[derive(Clone, Debug)]
pub struct Lowered {
    /// The graph, not yet optimised.
    pub graph: Graph,
    /// Names and values of the hyper-parameters among the inputs.
    pub hypers: Vec<Value>,
    /// How many training losses the graph returns after its outputs, one per gradient.
    pub losses: usize,
}

/// Lowers a segment.
///
/// # Errors
///
/// See [`LowerError`]; each names the line of the spec.
pub fn lower(
    schedule: &Schedule,
    segment: &Compute,
    frontend: &dyn Frontend,
    shapes: &Shapes,
) -> Result<Lowered, LowerError> {
    let mut this = Lower {
        module: &schedule.module,
        columns: &schedule.columns,
        frontend,
        graph: Graph::default(),
        env: HashMap::new(),
        trained: HashSet::new(),
        owners: HashMap::new(),
        enclosing: vec![],
        passes: vec![],
        losses: vec![],
        loss_scale: shapes.loss_scale,
    };
    this.bind_inputs(segment, shapes)?;
    let mut hypers = vec![];
    for v in &segment.free {
        let Some(free) = schedule.free.get(v) else {
            continue;
        };
        let lowered = match (&free.hyper, free.value.number()) {
            (Some(name), _) => {
                hypers.push(*v);
                this.graph.input(name.clone(), TensorType::f32([1]))
            }
            (None, Some(x)) => {
                let at = segment.ops[0].loc;
                this.graph.push(Op::Full(x, vec![1]), &[], at)?
            }
            (None, None) => continue,
        };
        this.env.insert(*v, Tree(vec![lowered]));
    }
    this.ops(&segment.ops)?;
    for (i, v) in segment.outs.iter().enumerate() {
        let Tree(leaves) = this.get(*v, &segment.ops[0])?;
        let kind = this.module.type_of(*v).kind;
        for (j, leaf) in leaves.into_iter().enumerate() {
            let name = match kind {
                Kind::Params => output_name::value(i, Some(&frontend.parameters()[j].0)),
                _ => output_name::value(i, None),
            };
            this.graph.outputs.push((name, leaf));
        }
    }
    for (i, v) in segment.advanced.iter().enumerate() {
        let Tree(leaves) = this.get(*v, &segment.ops[0])?;
        for &b in frontend.buffers() {
            let name = output_name::advanced(i, &frontend.parameters()[b].0);
            this.graph.outputs.push((name, leaves[b]));
        }
    }
    let losses = std::mem::take(&mut this.losses);
    for (i, loss) in losses.iter().enumerate() {
        this.graph.outputs.push((output_name::loss(i), *loss));
    }
    Ok(Lowered {
        graph: this.graph,
        hypers,
        losses: losses.len(),
    })
}

/// The tensors of one fed value.
#[derive(Clone)]
struct Tree(Vec<Val>);

struct Lower<'a> {
    module: &'a Module,
    columns: &'a [(String, Kind)],
    frontend: &'a dyn Frontend,
    graph: Graph,
    env: HashMap<Value, Tree>,
    /// What the enclosing gradients differentiate, and trees made of it.
    trained: HashSet<Value>,
    /// Which running statistics each tree shares with a differentiated one.
    owners: HashMap<Value, training::Owners>,
    /// The points of the enclosing gradients, and their regions' own copies of them.
    enclosing: Vec<(Value, Value)>,
    /// Forward passes in training until here.
    passes: Vec<training::Pass>,
    losses: Vec<Val>,
    loss_scale: Option<f64>,
}

impl<'a> Lower<'a> {
    fn bind_inputs(&mut self, segment: &Compute, shapes: &Shapes) -> Result<(), LowerError> {
        let mut batches = 0;
        for (i, v) in segment.ins.iter().enumerate() {
            let leaves = match self.module.type_of(*v).kind {
                Kind::Params => {
                    let leaves = self.frontend.parameters().to_vec();
                    leaves
                        .into_iter()
                        .map(|(name, ty)| self.graph.input(format!("in{i}.{name}"), ty))
                        .collect()
                }
                Kind::Batch => {
                    let size = shapes.batches.get(v).copied();
                    let size = size.ok_or_else(|| unsupported(&segment.ops[0]))?;
                    let columns = self.columns.iter().map(|(name, kind)| {
                        let ty = self.frontend.column(name, *kind, size);
                        let ty = ty.map_err(frontend(reader(&segment.ops, name)))?;
                        let name = match batches {
                            0 => name.clone(),
                            n => format!("{name}{n}"),
                        };
                        Ok(self.graph.input(name, ty))
                    });
                    let columns = columns.collect::<Result<_, LowerError>>()?;
                    batches += 1;
                    columns
                }
                Kind::Tensor | Kind::Labels => {
                    let ty = shapes.rows.get(v).cloned();
                    let ty = ty.ok_or_else(|| unsupported(&segment.ops[0]))?;
                    vec![self.graph.input(format!("in{i}"), ty)]
                }
                Kind::Scalar | Kind::Index | Kind::Client | Kind::Cohort => {
                    vec![self.graph.input(format!("in{i}"), TensorType::f32([1]))]
                }
            };
            self.env.insert(*v, Tree(leaves));
        }
        Ok(())
    }

    /// Which leaves of a tree are buffers: none of a tensor.
    fn buffers(&self, tree: &Tree) -> &'a [usize] {
        match tree.0.len() == self.frontend.parameters().len() {
            true => self.frontend.buffers(),
            false => &[],
        }
    }

    fn get(&self, v: Value, op: &ModuleOp) -> Result<Tree, LowerError> {
        self.env.get(&v).cloned().ok_or_else(|| unsupported(op))
    }

    fn ops(&mut self, ops: &[ModuleOp]) -> Result<(), LowerError> {
        for op in ops {
            if op.kind.is_constant() {
                // Known before the round, and bound already.
                continue;
            }
            let operands: Vec<Tree> = op
                .operands
                .iter()
                .map(|v| self.get(*v, op))
                .collect::<Result<_, _>>()?;
            let results = self.op(op, &operands)?;
            if op.operands.iter().any(|v| self.trained.contains(v)) {
                self.trained.extend(&op.results);
            }
            if let (OpKind::Tree(TreeOp::ReplaceParts(_)), [made]) = (&op.kind, results.as_slice())
            {
                self.share_statistics(op, &operands, made);
            }
            self.env.extend(op.results.iter().copied().zip(results));
        }
        Ok(())
    }

    fn op(&mut self, op: &ModuleOp, operands: &[Tree]) -> Result<Vec<Tree>, LowerError> {
        let loc = op.loc;
        let one = |v: Val| Ok(vec![Tree(vec![v])]);
        match (&op.kind, operands) {
            (OpKind::External(ExternalOp::Column(name, _)), [b]) => {
                let index = self.columns.iter().position(|(column, _)| column == name);
                one(b.0[index.ok_or_else(|| unsupported(op))?])
            }
            (OpKind::External(ExternalOp::Apply(function)), [w, inputs @ ..]) => {
                one(self.apply(op, function, w, inputs)?)
            }
            (OpKind::External(ExternalOp::Loss(name)), inputs) => {
                let (args, types) = self.arguments(inputs);
                let traced = self.frontend.loss(name, &types).map_err(frontend(loc))?;
                Ok(vec![Tree(self.graph.inline(&traced, &args, loc)?)])
            }
            (OpKind::External(ExternalOp::Function(name)), inputs) => {
                let (args, types) = self.arguments(inputs);
                let traced = self
                    .frontend
                    .function(name, &types)
                    .map_err(frontend(loc))?;
                Ok(vec![Tree(self.graph.inline(&traced, &args, loc)?)])
            }
            (OpKind::Fed(FedOp::ZeroInputs), [x]) => {
                let rows =
                    x.0.first()
                        .and_then(|v| self.graph.shape(*v).first().copied());
                let shape = self.frontend.input(rows.unwrap_or_default()).shape.to_vec();
                one(self.graph.push(Op::Full(0.0, shape), &[], loc)?)
            }
            (OpKind::Tree(TreeOp::ReplaceParts(parts)), [a, b]) => {
                let tree = parts::merge(self.frontend, parts, &a.0, &b.0, loc);
                Ok(vec![Tree(tree?)])
            }
            (OpKind::Privacy(PrivacyOp::Clip), [x, bound]) => {
                Ok(vec![self.clip(x, bound.0[0], loc)?])
            }
            (OpKind::Privacy(PrivacyOp::ClipRows), [x, bound]) => {
                one(self.clip_rows(x.0[0], bound.0[0], loc)?)
            }
            (OpKind::Privacy(PrivacyOp::L1Rows), [x]) => one(self.l1_rows(x.0[0], loc)?),
            (OpKind::Privacy(PrivacyOp::Laplace), [x, b]) => {
                one(self.laplace(x.0[0], b.0[0], loc)?)
            }
            (OpKind::Privacy(PrivacyOp::Noise), [x, sigma]) => {
                Ok(vec![self.noise(x, sigma.0[0], loc)?])
            }
            // A statement, not a computation.
            (OpKind::Privacy(PrivacyOp::Release(_)), [x]) => Ok(vec![x.clone()]),
            (OpKind::Opt(OptOp::Grad), [w]) => match op.regions.first() {
                Some(region) => self.grad(op, region, w),
                None => Err(unsupported(op)),
            },
            _ => self.arithmetic(op, operands),
        }
    }
}

/// Where the ops read a column of a batch.
fn reader(ops: &[ModuleOp], column: &str) -> Loc {
    let all = ops.iter().flat_map(ModuleOp::with_inner);
    let reads = |op: &&ModuleOp| matches!(&op.kind, OpKind::External(ExternalOp::Column(name, _)) if name == column);
    let own = all.filter(reads).map(|op| op.loc).next();
    own.or_else(|| ops.first().map(|op| op.loc))
        .unwrap_or_else(Loc::caller)
}

fn unsupported(op: &ModuleOp) -> LowerError {
    LowerError::Unsupported {
        op: format!("{:?}", op.kind),
        loc: op.loc,
    }
}

fn frontend(loc: Loc) -> impl FnOnce(FrontendError) -> LowerError {
    move |source| LowerError::Frontend { loc, source }
}
