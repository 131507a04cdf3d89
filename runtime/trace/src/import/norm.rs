//! Normalisations and attention, in terms of the dialect's ops.

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
            // With given statistics; a layer in training computes its own.
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
                    scores = self.filled_where(mask, f64::from(f32::MIN), scores)?;
                }
                if let Some(bias) = &o.attn_bias {
                    let bias = self.value(bias)?;
                    scores = self.push(Op::Add, &[scores, bias])?;
                }
                let mut weights = self.chain(scores, [Op::LogSoftmax(3), Op::Exp])?;
                // A query whose keys are all hidden attends to none, not to all alike.
                for &mask in &masks {
                    weights = self.filled_where(mask, 0.0, weights)?;
                }
                let value = self.value(&o.value)?;
                let y = self.push(Op::MatMul, &[weights, value])?;
                self.bind(&o.out, y)
            }
            other => self.unknown(other),
        }
    }

    /// A number where the mask holds.
    fn filled_where(&mut self, mask: Val, c: f64, otherwise: Val) -> Result<Val, ImportError> {
        let number = self.push(Op::Full(c, vec![1; 4]), &[])?;
        self.push(Op::Where, &[mask, number, otherwise])
    }

    /// True where a key comes after its query; the last key and the last query are in line.
    fn causal(&mut self, scores: Val) -> Result<Val, ImportError> {
        let (rows, columns) = (self.graph.shape(scores)[2], self.graph.shape(scores)[3]);
        let later = |i: usize| i % columns + rows > i / columns + columns;
        let later = |i: usize| f64::from(u8::from(later(i)));
        let values: Vec<f64> = (0..rows * columns).map(later).collect();
        let constant = Constant {
            ty: TensorType::new(DType::Bool, [1, 1, rows, columns]),
            values: Arc::from(values),
        };
        self.push(Op::Constant(constant), &[])
    }
}
