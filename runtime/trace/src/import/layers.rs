//! Imports burn's layers: linear layers, convolutions and embeddings. One-dimensional convolutions become
//! two-dimensional ones over images of height 1.

use burn_ir::{ModuleOperationIr as Module, TensorIr};
use fedround_ir::tensor::{Conv2d, Op, Val};

use super::{Import, ImportError, shape};

impl Import<'_> {
    pub(super) fn module(&mut self, op: &Module) -> Result<(), ImportError> {
        match op {
            Module::Linear(o) => self.linear(&o.x, &o.weight, o.bias.as_ref(), &o.out),
            Module::Conv2d(o) => {
                let x = self.value(&o.x)?;
                let (x, padding) = self.even_padding(x, o.options.padding, &o.x)?;
                let options = Conv2d {
                    stride: o.options.stride,
                    padding,
                    dilation: o.options.dilation,
                    groups: o.options.groups,
                };
                let mut ins = vec![x, self.value(&o.weight)?];
                if let Some(bias) = &o.bias {
                    ins.push(self.value(bias)?);
                }
                let y = self.push(Op::Conv2d(options), &ins)?;
                self.bind(&o.out, y)
            }
            Module::Conv1d(o) => {
                let x = self.row(&o.x)?;
                let (x, padding) = self.even_padding(x, o.options.padding, &o.x)?;
                let (s, d) = (o.options.stride, o.options.dilation);
                let options = one_row_conv(s, padding, d, o.options.groups);
                let mut ins = vec![x, self.row(&o.weight)?];
                if let Some(bias) = &o.bias {
                    ins.push(self.value(bias)?);
                }
                let y = self.push(Op::Conv2d(options), &ins)?;
                let y = self.push(Op::Reshape(shape(&o.out)), &[y])?;
                self.bind(&o.out, y)
            }
            Module::ConvTranspose2d(o)
                if is_input_grad(o.options.padding_out, o.options.stride) =>
            {
                let options = Conv2d {
                    stride: o.options.stride,
                    padding: o.options.padding,
                    dilation: o.options.dilation,
                    groups: o.options.groups,
                };
                let (x, w) = (self.value(&o.x)?, self.value(&o.weight)?);
                let y = self.conv_transpose(options, x, w, shape(&o.out), o.bias.as_ref())?;
                self.bind(&o.out, y)
            }
            Module::ConvTranspose1d(o)
                if is_input_grad(o.options.padding_out, o.options.stride) =>
            {
                let (s, p, d) = (o.options.stride, o.options.padding, o.options.dilation);
                let options = one_row_conv(s, p, d, o.options.groups);
                let (x, w) = (self.row(&o.x)?, self.row(&o.weight)?);
                let row_shape = row_shape(shape(&o.out));
                let y = self.conv_transpose(options, x, w, row_shape, o.bias.as_ref())?;
                let y = self.push(Op::Reshape(shape(&o.out)), &[y])?;
                self.bind(&o.out, y)
            }
            Module::Embedding(o) => {
                let (w, i) = (self.value(&o.weights)?, self.value(&o.indices)?);
                let n = shape(&o.indices).iter().product();
                let i = self.push(Op::Reshape(vec![n]), &[i])?;
                let rows = self.push(Op::Select(0), &[w, i])?;
                let y = self.push(Op::Reshape(shape(&o.out)), &[rows])?;
                self.bind(&o.out, y)
            }
            Module::BatchNorm(_) | Module::LayerNorm(_) | Module::Attention(_) => self.norm(op),
            Module::Interpolate(_)
            | Module::AdaptiveAvgPool1d(_)
            | Module::AdaptiveAvgPool2d(_) => self.resample(op),
            _ => self.pool(op),
        }
    }

    /// `x w + b` for `x: [.., d_in]`, as one matrix product whose left factor is `[rows, d_in]`.
    fn linear(
        &mut self,
        x: &TensorIr,
        weight: &TensorIr,
        bias: Option<&TensorIr>,
        out: &TensorIr,
    ) -> Result<(), ImportError> {
        let (x_shape, y_shape) = (shape(x), shape(out));
        let (d_in, d_out) = (x_shape[x_shape.len() - 1], y_shape[y_shape.len() - 1]);
        let rows = x_shape.iter().product::<usize>() / d_in.max(1);
        let (x, weight) = (self.value(x)?, self.value(weight)?);
        let x = self.push(Op::Reshape(vec![rows, d_in]), &[x])?;
        let mut y = self.push(Op::MatMul, &[x, weight])?;
        if let Some(bias) = bias {
            let bias = self.value(bias)?;
            let bias = self.push(Op::Reshape(vec![1, d_out]), &[bias])?;
            y = self.push(Op::Add, &[y, bias])?;
        }
        let y = self.push(Op::Reshape(y_shape), &[y])?;
        self.bind(out, y)
    }

    /// A transposed convolution, which is the input gradient of a convolution with the same options.
    fn conv_transpose(
        &mut self,
        options: Conv2d,
        x: Val,
        w: Val,
        y_shape: Vec<usize>,
        bias: Option<&TensorIr>,
    ) -> Result<Val, ImportError> {
        let channels = y_shape[1];
        let y = self.push(Op::Conv2dInputGrad(options, y_shape), &[w, x])?;
        let Some(bias) = bias else { return Ok(y) };
        let bias = self.value(bias)?;
        let bias = self.push(Op::Reshape(vec![1, channels, 1, 1]), &[bias])?;
        self.push(Op::Add, &[y, bias])
    }

    /// A tensor `[n, c, l]` reshaped to an image of one row, `[n, c, 1, l]`.
    pub(super) fn row(&mut self, t: &TensorIr) -> Result<Val, ImportError> {
        let val = self.value(t)?;
        self.push(Op::Reshape(row_shape(shape(t))), &[val])
    }
}

/// Whether a transposed convolution is the input gradient of a convolution. That holds if its output padding is
/// smaller than the stride: with more rows, the convolution would have another row of output.
fn is_input_grad<const N: usize>(padding_out: [usize; N], stride: [usize; N]) -> bool {
    padding_out.iter().zip(stride).all(|(p, s)| *p < s)
}

/// `[n, c, l]` to `[n, c, 1, l]`.
fn row_shape(mut shape: Vec<usize>) -> Vec<usize> {
    shape.insert(2, 1);
    shape
}

/// The options of a one-dimensional convolution, for images of one row.
fn one_row_conv(
    stride: [usize; 1],
    padding: [usize; 1],
    dilation: [usize; 1],
    groups: usize,
) -> Conv2d {
    Conv2d {
        stride: [1, stride[0]],
        padding: [0, padding[0]],
        dilation: [1, dilation[0]],
        groups,
    }
}
