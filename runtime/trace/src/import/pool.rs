//! Imports burn's pooling operations. One-dimensional pools become two-dimensional ones over images of height 1.

use burn_ir::{ModuleOperationIr as Module, TensorIr};
use fedround_ir::tensor::{Op, Pool2d};

use super::{Import, ImportError, shape};

impl Import<'_> {
    pub(super) fn pool(&mut self, op: &Module) -> Result<(), ImportError> {
        match op {
            Module::MaxPool2d(o) if !o.ceil_mode => {
                let options = max_pool(o.kernel_size, o.stride, o.padding, o.dilation);
                self.emit(Op::MaxPool2d(options), &[&o.x], &o.out)
            }
            Module::MaxPool2dWithIndices(o) if !o.ceil_mode => {
                let options = max_pool(o.kernel_size, o.stride, o.padding, o.dilation);
                let x = self.value(&o.x)?;
                let results = self.push_multi(Op::MaxPool2d(options), &[x])?;
                self.bind(&o.out, results[0])?;
                self.bind(&o.out_indices, results[1])
            }
            Module::AvgPool2d(o) if !o.ceil_mode => {
                let options = Pool2d {
                    kernel: o.kernel_size,
                    stride: o.stride,
                    padding: o.padding,
                    dilation: [1, 1],
                    count_include_pad: o.count_include_pad,
                };
                self.emit(Op::AvgPool2d(options), &[&o.x], &o.out)
            }
            Module::MaxPool1d(o) if !o.ceil_mode => {
                let [k, s, p, d] = [o.kernel_size, o.stride, o.padding, o.dilation];
                let options = max_pool([1, k], [1, s], [0, p], [1, d]);
                self.one_row_pool(Op::MaxPool2d(options), &o.x, &o.out)
            }
            Module::AvgPool1d(o) if !o.ceil_mode => {
                let options = Pool2d {
                    kernel: [1, o.kernel_size],
                    stride: [1, o.stride],
                    padding: [0, o.padding],
                    dilation: [1, 1],
                    count_include_pad: o.count_include_pad,
                };
                self.one_row_pool(Op::AvgPool2d(options), &o.x, &o.out)
            }
            other => self.unknown(other),
        }
    }

    /// A pool of a tensor `[n, c, l]`, as a pool of images of one row, `[n, c, 1, l]`.
    fn one_row_pool(&mut self, op: Op, x: &TensorIr, out: &TensorIr) -> Result<(), ImportError> {
        let x = self.row(x)?;
        let y = self.chain(x, [op, Op::Reshape(shape(out))])?;
        self.bind(out, y)
    }
}

fn max_pool(
    kernel: [usize; 2],
    stride: [usize; 2],
    padding: [usize; 2],
    dilation: [usize; 2],
) -> Pool2d {
    Pool2d {
        kernel,
        stride,
        padding,
        dilation,
        count_include_pad: true,
    }
}
