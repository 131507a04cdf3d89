//! `lower`, continued: arithmetic on numbers and on parameters, leaf by leaf.

use std::collections::HashMap;

use fedround_ir::Loc;
use fedround_ir::fed::{ArithOp, Math, Op as ModuleOp, OpKind, TreeOp};
use fedround_ir::tensor::{Cmp, Op, TypeError, Val};

use super::{Lower, LowerError, Tree, unsupported};

impl Lower<'_> {
    pub(super) fn arithmetic(
        &mut self,
        op: &ModuleOp,
        operands: &[Tree],
    ) -> Result<Vec<Tree>, LowerError> {
        let loc = op.loc;
        let tree = match (&op.kind, operands) {
            (OpKind::Arith(ArithOp::Add) | OpKind::Tree(TreeOp::Add), [a, b]) => {
                self.zip(&Op::Add, a, b, loc)?
            }
            (OpKind::Arith(ArithOp::Sub) | OpKind::Tree(TreeOp::Sub), [a, b]) => {
                self.zip(&Op::Sub, a, b, loc)?
            }
            (OpKind::Arith(ArithOp::Mul) | OpKind::Tree(TreeOp::Mul), [a, b]) => {
                self.zip(&Op::Mul, a, b, loc)?
            }
            (OpKind::Arith(ArithOp::Div) | OpKind::Tree(TreeOp::Div), [a, b]) => {
                self.zip(&Op::Div, a, b, loc)?
            }
            (OpKind::Arith(ArithOp::Pow), [a, b]) => self.zip(&Op::Pow, a, b, loc)?,
            (OpKind::Arith(ArithOp::Neg), [a]) => {
                self.each(a, |g, x| g.graph.push(Op::Neg, &[x], loc))?
            }
            (OpKind::Arith(ArithOp::Math(math)) | OpKind::Tree(TreeOp::Math(math)), [a]) => {
                self.each(a, |g, x| g.graph.push(tensor_op(*math), &[x], loc))?
            }
            (OpKind::Tree(TreeOp::LayerSum), [a]) => self.layer_sums(a, loc)?,
            (OpKind::Tree(TreeOp::Scale), [s, a]) => {
                self.each(a, |g, x| g.with_number(Op::Mul, x, s.0[0], loc))?
            }
            (OpKind::Tree(TreeOp::AddScalar), [s, a]) => {
                self.each(a, |g, x| g.with_number(Op::Add, x, s.0[0], loc))?
            }
            (OpKind::Tree(TreeOp::Clamp), [low, high, a]) => self.each(a, |g, x| {
                let x = g.bounded(Cmp::Less, x, low.0[0], loc)?;
                g.bounded(Cmp::Greater, x, high.0[0], loc)
            })?,
            (OpKind::Arith(ArithOp::Select) | OpKind::Tree(TreeOp::Select), [c, a, b]) => {
                let leaves = c.0.iter().zip(a.0.iter().zip(&b.0));
                let leaves = leaves.map(|(&c, (&a, &b))| {
                    let above = Op::CompareScalar(Cmp::Greater, 0.0);
                    let above = self.graph.push(above, &[c], loc)?;
                    self.graph.push(Op::Where, &[above, a, b], loc)
                });
                Tree(leaves.collect::<Result<_, TypeError>>()?)
            }
            (OpKind::Tree(TreeOp::Choose), [c, a, b]) => {
                let c = c.0[0];
                let pairs = a.0.iter().zip(&b.0);
                let leaves = pairs.map(|(&a, &b)| {
                    let shape = self.graph.shape(a).to_vec();
                    let c = self.number_like(c, a, loc)?;
                    let c = self.graph.push(Op::Expand(shape), &[c], loc)?;
                    let above = Op::CompareScalar(Cmp::Greater, 0.0);
                    let above = self.graph.push(above, &[c], loc)?;
                    self.graph.push(Op::Where, &[above, a, b], loc)
                });
                Tree(leaves.collect::<Result<_, TypeError>>()?)
            }
            (OpKind::Tree(TreeOp::Dot), [a, b]) => self.dot(a, b, loc)?,
            (OpKind::Tree(TreeOp::SqNorm), [a]) => self.dot(a, a, loc)?,
            _ => return Err(unsupported(op)),
        };
        Ok(vec![tree])
    }

    pub(super) fn each(
        &mut self,
        a: &Tree,
        mut leaf: impl FnMut(&mut Self, Val) -> Result<Val, TypeError>,
    ) -> Result<Tree, TypeError> {
        let leaves = a.0.iter().map(|&x| leaf(self, x));
        Ok(Tree(leaves.collect::<Result<_, _>>()?))
    }

    fn zip(&mut self, op: &Op, a: &Tree, b: &Tree, loc: Loc) -> Result<Tree, TypeError> {
        let pairs = a.0.iter().zip(&b.0);
        let leaves = pairs.map(|(&x, &y)| self.graph.push(op.clone(), &[x, y], loc));
        Ok(Tree(leaves.collect::<Result<_, _>>()?))
    }

    /// A number, `f32[1]`, in a shape that broadcasts with a leaf.
    fn number_like(&mut self, s: Val, leaf: Val, loc: Loc) -> Result<Val, TypeError> {
        let rank = self.graph.shape(leaf).len();
        self.graph.push(Op::Reshape(vec![1; rank]), &[s], loc)
    }

    pub(super) fn with_number(
        &mut self,
        op: Op,
        leaf: Val,
        s: Val,
        loc: Loc,
    ) -> Result<Val, TypeError> {
        let s = self.number_like(s, leaf, loc)?;
        self.graph.push(op, &[leaf, s], loc)
    }

    /// A leaf with the bound where it is beyond it.
    fn bounded(&mut self, beyond: Cmp, leaf: Val, bound: Val, loc: Loc) -> Result<Val, TypeError> {
        let bound = self.number_like(bound, leaf, loc)?;
        let beyond = self.graph.push(Op::Compare(beyond), &[leaf, bound], loc)?;
        self.graph.push(Op::Where, &[beyond, bound, leaf], loc)
    }

    /// For each leaf the sum of its layer's trained leaves, in its shape.
    fn layer_sums(&mut self, a: &Tree, loc: Loc) -> Result<Tree, TypeError> {
        let (frontend, buffers) = (self.frontend, self.buffers(a));
        let names = frontend.parameters().iter();
        let layers = names.map(|(name, _)| name.rsplit_once('.').map_or("", |(layer, _)| layer));
        let layers: Vec<&str> = layers.collect();
        let mut sums: HashMap<&str, Val> = HashMap::new();
        for (i, (&x, layer)) in a.0.iter().zip(&layers).enumerate() {
            if buffers.contains(&i) {
                continue;
            }
            let mut sum = self.graph.push(Op::Sum, &[x], loc)?;
            if let Some(&others) = sums.get(layer) {
                sum = self.graph.push(Op::Add, &[others, sum], loc)?;
            }
            sums.insert(layer, sum);
        }
        let leaves = a.0.iter().zip(&layers).map(|(&x, layer)| {
            let shape = self.graph.shape(x).to_vec();
            match sums.get(layer) {
                Some(&sum) => {
                    let sum = self.number_like(sum, x, loc)?;
                    self.graph.push(Op::Expand(shape), &[sum], loc)
                }
                None => self.graph.push(Op::Full(0.0, shape), &[], loc),
            }
        });
        Ok(Tree(leaves.collect::<Result<_, _>>()?))
    }

    /// `Σ aᵢ · bᵢ` over the trained leaves: buffers are no part of norms.
    pub(super) fn dot(&mut self, a: &Tree, b: &Tree, loc: Loc) -> Result<Tree, TypeError> {
        let buffers = self.buffers(a);
        Ok(Tree(vec![self.dot_but(buffers, a, b, loc)?]))
    }

    /// `Σ aᵢ · bᵢ` over all leaves but some.
    pub(super) fn dot_but(
        &mut self,
        but: &[usize],
        a: &Tree,
        b: &Tree,
        loc: Loc,
    ) -> Result<Val, TypeError> {
        let mut total = self.graph.push(Op::Full(0.0, vec![1]), &[], loc)?;
        for (i, (&x, &y)) in a.0.iter().zip(&b.0).enumerate() {
            if but.contains(&i) {
                continue;
            }
            let product = self.graph.push(Op::Mul, &[x, y], loc)?;
            let sum = self.graph.push(Op::Sum, &[product], loc)?;
            total = self.graph.push(Op::Add, &[total, sum], loc)?;
        }
        Ok(total)
    }
}

fn tensor_op(math: Math) -> Op {
    match math {
        Math::Sqrt => Op::Sqrt,
        Math::Exp => Op::Exp,
        Math::Log => Op::Log,
        Math::Cos => Op::Cos,
        Math::Floor => Op::Floor,
    }
}
