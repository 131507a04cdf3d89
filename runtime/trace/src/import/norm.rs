//! Imports burn's normalisations and attention, which become several ops of the tensor dialect.

use std::sync::Arc;

use burn_ir::ModuleOperationIr as Module;
use fedround_ir::tensor::{Constant, DType, Op, TensorType, Val};

use super::{Import, ImportError, real, shape};

impl Import<'_> {
    pub(super) fn norm(&mut self, op: &Module) -> Result<(), ImportError> {
        match op {
            Module::LayerNorm(o) => {
                let dims = shape(&o.input);
                let last = dims.len() - 1;
                let mut row = vec![1; dims.len()];
                row[last] = dims[last];
                let x = self.value(&o.input)?;
                let mean = self.push(Op::MeanDim(last), &[x])?;
                let centered = self.push(Op::Sub, &[x, mean])?;
                let squares = self.push(Op::Mul, &[centered, centered])?;
                let var = self.push(Op::MeanDim(last), &[squares])?;
                let std = self.chain(var, [Op::AddScalar(real(o.epsilon)), Op::Sqrt])?;
                let mut y = self.push(Op::Div, &[centered, std])?;
                let gamma = self.value(&o.gamma)?;
                let gamma = self.push(Op::Reshape(row.clone()), &[gamma])?;
                y = self.push(Op::Mul, &[y, gamma])?;
                if let Some(beta) = &o.beta {
                    let beta = self.value(beta)?;
                    let beta = self.push(Op::Reshape(row), &[beta])?;
                    y = self.push(Op::Add, &[y, beta])?;
                }
                self.bind(&o.out, y)
            }
            // burn records this operation for given statistics. In training, a layer computes its statistics by
            // separate operations.
            Module::BatchNorm(o) => {
                let mut channels = vec![1; shape(&o.x).len()];
                channels[1] = shape(&o.x)[1];
                let channel = |this: &mut Self, t| {
                    let v = this.value(t)?;
                    this.push(Op::Reshape(channels.clone()), &[v])
                };
                let (mean, var) = (channel(self, &o.mean)?, channel(self, &o.variance)?);
                let (gamma, beta) = (channel(self, &o.gamma)?, channel(self, &o.beta)?);
                let std = self.chain(var, [Op::AddScalar(real(o.epsilon)), Op::Sqrt])?;
                let scale = self.push(Op::Div, &[gamma, std])?;
                let x = self.value(&o.x)?;
                let centered = self.push(Op::Sub, &[x, mean])?;
                let scaled = self.push(Op::Mul, &[centered, scale])?;
                let y = self.push(Op::Add, &[scaled, beta])?;
                self.bind(&o.out, y)
            }
            Module::Attention(o) => {
                let q = shape(&o.query);
                let depth = q[q.len() - 1] as f64;
                let scale = o.options.scale.map_or(1.0 / depth.sqrt(), real);
                let (query, key) = (self.value(&o.query)?, self.value(&o.key)?);
                let key = self.push(Op::Permute(vec![0, 1, 3, 2]), &[key])?;
                let product = self.push(Op::MatMul, &[query, key])?;
                let mut scores = self.push(Op::MulScalar(scale), &[product])?;
                if let Some(cap) = o.options.softcap.map(real) {
                    let ops = [Op::MulScalar(1.0 / cap), Op::Tanh, Op::MulScalar(cap)];
                    scores = self.chain(scores, ops)?;
                }
                let mut masks = vec![];
                if let Some(mask) = &o.mask {
                    masks.push(self.value(mask)?);
                }
                if o.options.is_causal {
                    masks.push(self.causal(scores)?);
                }
                for &mask in &masks {
                    scores = self.fill_masked(mask, f64::from(f32::MIN), scores)?;
                }
                if let Some(bias) = &o.attn_bias {
                    let bias = self.value(bias)?;
                    scores = self.push(Op::Add, &[scores, bias])?;
                }
                let mut weights = self.chain(scores, [Op::LogSoftmax(3), Op::Exp])?;
                // If all keys of a query are masked, its weights must be 0. The softmax would give all of them
                // the same weight.
                for &mask in &masks {
                    weights = self.fill_masked(mask, 0.0, weights)?;
                }
                let value = self.value(&o.value)?;
                let y = self.push(Op::MatMul, &[weights, value])?;
                self.bind(&o.out, y)
            }
            other => self.unknown(other),
        }
    }

    /// The number `c` where the mask is set, and `otherwise` elsewhere.
    fn fill_masked(&mut self, mask: Val, c: f64, otherwise: Val) -> Result<Val, ImportError> {
        let number = self.push(Op::Full(c, vec![1; 4]), &[])?;
        self.push(Op::Where, &[mask, number, otherwise])
    }

    /// The causal mask `[1, 1, queries, keys]`: set where a key comes after its query. If there are more keys
    /// than queries, the last query is at the position of the last key.
    fn causal(&mut self, scores: Val) -> Result<Val, ImportError> {
        let (rows, columns) = (self.graph.shape(scores)[2], self.graph.shape(scores)[3]);
        let is_masked = |i: usize| i % columns + rows > i / columns + columns;
        let mask = (0..rows * columns).map(|i| f64::from(u8::from(is_masked(i))));
        let values: Vec<f64> = mask.collect();
        let constant = Constant {
            ty: TensorType::new(DType::Bool, [1, 1, rows, columns]),
            values: Arc::from(values),
        };
        self.push(Op::Constant(constant), &[])
    }
}
