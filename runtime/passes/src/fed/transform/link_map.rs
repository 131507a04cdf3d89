//! Inlines the code of a `fed.map`, whose clients read the parameters that they received.

use fedround_ir::fed::{FedOp, Kind, Op, OpKind, Type};

use super::link_hooks::{Frame, Linker, Values, translate};
use super::sent_params::Received;

impl<'m> Linker<'m> {
    /// A map over values that were computed on the clients has no operand that holds what they received; if
    /// its code asks, it gets one.
    pub(super) fn map(&mut self, op: &'m Op, map: &mut Values, frame: &Frame) -> Op {
        let mut operands = translate(&op.operands, map);
        let (origin, several) = match self.sent.received(&operands) {
            Received::Nothing => (None, vec![]),
            Received::One(value) => (Some(value), vec![]),
            Received::Several(sent) => (None, sent),
        };
        let around = std::mem::replace(&mut self.several, several);
        let mut regions = Vec::new();
        for region in &op.regions {
            let args = self.fresh(&region.args, map);
            let direct = operands.iter().position(|operand| Some(*operand) == origin);
            let direct = direct.and_then(|index| args.get(index + 1).copied());
            let extra = match (direct, origin) {
                (None, Some(_)) => Some(self.target.value(Type::client(Kind::Params))),
                _ => None,
            };
            let frame = Frame {
                layer: frame.layer,
                received: direct.or(extra),
            };
            let mut region = self.body(region, args, map, &frame);
            if let (Some(extra), Some(origin)) = (extra, origin)
                && self.received.contains(&extra)
            {
                region.args.push(extra);
                operands.push(origin);
            }
            regions.push(region);
        }
        self.several = around;
        let results = self.fresh(&op.results, map);
        self.sent.map(&operands, &results);
        Op {
            kind: OpKind::Fed(FedOp::Map),
            operands,
            results,
            regions,
            loc: op.loc,
        }
    }
}
