//! Layers: linear, convolutions and pools.

use burn_ir::{ModuleOperationIr as Module, TensorIr};
use fedround_ir::tensor::{Conv2d, Graph, Op, Pool2d, Val};

use super::{Import, ImportError, shape};

impl Import<'_> {
    pub(super) fn module(&mut self, op: &Module) -> Result<(), ImportError> {
        match op {
            Module::Linear(o) => self.linear(&o.x, &o.weight, o.bias.as_ref(), &o.out),
            Module::Conv2d(o) => {
                let options = Conv2d {
                    stride: o.options.stride,
                    padding: o.options.padding,
                    dilation: o.options.dilation,
                    groups: o.options.groups,
                };
                let mut ins = vec![&o.x, &o.weight];
                ins.extend(&o.bias);
                self.emit(Op::Conv2d(options), &ins, &o.out)
            }
            Module::MaxPool2d(o) if !o.ceil_mode => {
                let options = Pool2d {
                    kernel: o.kernel_size,
                    stride: o.stride,
                    padding: o.padding,
                    dilation: o.dilation,
                    count_include_pad: true,
                };
                self.emit(Op::MaxPool2d(options), &[&o.x], &o.out)
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
            other => self.unknown(other),
        }
    }

    /// `x w + b` for `x: [.., d_in]`, as one matrix product of `[rows, d_in]`.
    fn linear(
        &mut self,
        x: &TensorIr,
        weight: &TensorIr,
        bias: Option<&TensorIr>,
        out: &TensorIr,
    ) -> Result<(), ImportError> {
        let (from, to) = (shape(x), shape(out));
        let (d_in, d_out) = (from[from.len() - 1], to[to.len() - 1]);
        let rows = from.iter().product::<usize>() / d_in.max(1);
        let (x, weight) = (self.value(x.id)?, self.value(weight.id)?);
        let push = |graph: &mut Graph, op: Op, ins: &[Val]| graph.push(op, ins, self.loc);
        let x = push(&mut self.graph, Op::Reshape(vec![rows, d_in]), &[x])?;
        let mut y = push(&mut self.graph, Op::MatMul, &[x, weight])?;
        if let Some(bias) = bias {
            let bias = match self.map.get(&bias.id) {
                Some(v) => *v,
                None => return self.unknown(bias),
            };
            let bias = push(&mut self.graph, Op::Reshape(vec![1, d_out]), &[bias])?;
            y = push(&mut self.graph, Op::Add, &[y, bias])?;
        }
        let y = push(&mut self.graph, Op::Reshape(to), &[y])?;
        self.map.insert(out.id, y);
        Ok(())
    }
}
