//! Splits a grouped convolution into one operation for each group.

use fedround_ir::tensor::{Conv2d, Node, Op, TypeError, Val};

use super::{Build, Sizes};

/// `None` where there is one group.
pub(super) fn lower(b: &mut Build, node: &Node) -> Result<Option<Val>, TypeError> {
    let Some(sizes) = Sizes::of(b.new, node).filter(|s| s.options.groups > 1) else {
        return Ok(None);
    };
    let groups = sizes.options.groups;
    let (channels, filters) = (sizes.x[1] / groups, sizes.w[0] / groups);
    let options = Conv2d {
        groups: 1,
        ..sizes.options
    };
    let mut parts = Vec::with_capacity(groups);
    for g in 0..groups {
        let mut part =
            |i: usize, dim: usize, size: usize| b.slice(node.ins[i], dim, g * size, (g + 1) * size);
        let (op, ins) = match &node.op {
            Op::Conv2d(_) => {
                let mut ins = vec![part(0, 1, channels)?, part(1, 0, filters)?];
                if node.ins.len() > 2 {
                    ins.push(part(2, 0, filters)?);
                }
                (Op::Conv2d(options), ins)
            }
            Op::Conv2dInputGrad(_, to) => {
                let mut to = to.clone();
                to[1] = channels;
                let ins = vec![part(0, 0, filters)?, part(1, 1, filters)?];
                (Op::Conv2dInputGrad(options, to), ins)
            }
            Op::Conv2dWeightGrad(_, to) => {
                let mut to = to.clone();
                to[0] = filters;
                let ins = vec![part(0, 1, channels)?, part(1, 1, filters)?];
                (Op::Conv2dWeightGrad(options, to), ins)
            }
            _ => return Ok(None),
        };
        parts.push(b.push(op, &ins)?);
    }
    let joined = usize::from(!matches!(node.op, Op::Conv2dWeightGrad(..)));
    b.push(Op::Cat(joined), &parts).map(Some)
}
