//! Rounds for the tests of the checks.

use super::super::verify::tests::{loc, module};
use super::super::{
    ArithOp, Broken, Builder, Dp, ExternalOp, FedOp, Hook, Kind, Module, OpKind, OptOp, Place,
    PrivacyOp, Reduce, TreeOp, Type, Value, verify_linked,
};

/// A round that is being written.
pub(super) struct Round<'b>(&'b mut Builder);

impl Round<'_> {
    pub(super) fn op(&mut self, kind: OpKind, operands: &[Value]) -> Value {
        let results = self.0.push(kind, operands, loc());
        results.first().copied().unwrap_or(Value(u32::MAX))
    }

    pub(super) fn claim(&mut self, dp: Dp) {
        let _ = self.op(OpKind::Privacy(PrivacyOp::Claim(dp)), &[]);
    }

    pub(super) fn number(&mut self, x: f64) -> Value {
        self.op(OpKind::Arith(ArithOp::Const(x)), &[])
    }

    pub(super) fn clip(&mut self, x: Value) -> Value {
        let bound = self.number(1.0);
        self.op(OpKind::Privacy(PrivacyOp::Clip), &[x, bound])
    }

    pub(super) fn noise(&mut self, x: Value) -> Value {
        let sigma = self.number(0.5);
        self.op(OpKind::Privacy(PrivacyOp::Noise), &[x, sigma])
    }

    pub(super) fn mean(&mut self, x: Value) -> Value {
        self.op(OpKind::Fed(FedOp::Reduce(Reduce::Mean)), &[x])
    }

    pub(super) fn everyone(&mut self, w: Value) -> Value {
        let everyone = self.op(OpKind::Fed(FedOp::AllClients), &[]);
        self.op(OpKind::Fed(FedOp::Broadcast), &[w, everyone])
    }

    /// One value for each client, from the client and what it received.
    pub(super) fn map(
        &mut self,
        sent: Value,
        body: impl FnOnce(&mut Round<'_>, Value, Value) -> Value,
    ) -> Value {
        let types = [Type::client(Kind::Client), Type::client(Kind::Params)];
        let args = self.0.open(&types, Place::Client);
        let yielded = body(&mut Round(self.0), args[0], args[1]);
        let region = self.0.close(vec![yielded], loc());
        self.0
            .push_with(OpKind::Fed(FedOp::Map), &[sent], vec![region], loc())[0]
    }

    /// The gradient of the server's `w` of a loss that reads another tree.
    pub(super) fn gradient_on_server(&mut self, w: Value, other: Value) -> Value {
        let point = self.0.open(&[Type::server(Kind::Params)], Place::Server);
        let loss = self.op(OpKind::Tree(TreeOp::Dot), &[point[0], other]);
        let function = self.0.close(vec![loss], loc());
        self.0
            .push_with(OpKind::Opt(OptOp::Grad), &[w], vec![function], loc())[0]
    }

    /// `w` after a step on the client's data.
    pub(super) fn train(&mut self, k: Value, w: Value) -> Value {
        let count = self.op(OpKind::Arith(ArithOp::IndexConst(1)), &[]);
        let types = [Type::client(Kind::Batch), Type::client(Kind::Params)];
        let step = self.0.open(&types, Place::Client);
        let point = self.0.open(&types[1..], Place::Client);
        let x = self.op(
            OpKind::External(ExternalOp::Column("x".into(), Kind::Tensor)),
            &step[..1],
        );
        let y = self.op(
            OpKind::External(ExternalOp::Column("y".into(), Kind::Labels)),
            &step[..1],
        );
        let logits = self.op(
            OpKind::External(ExternalOp::Apply("forward".into())),
            &[point[0], x],
        );
        let loss = self.op(
            OpKind::External(ExternalOp::Loss("cross_entropy".into())),
            &[logits, y],
        );
        let function = self.0.close(vec![loss], loc());
        let gradient =
            self.0
                .push_with(OpKind::Opt(OptOp::Grad), &step[1..], vec![function], loc());
        let next = self.op(OpKind::Tree(TreeOp::Sub), &[step[1], gradient[0]]);
        let body = self.0.close(vec![next], loc());
        let operands = [k, count, count, w];
        self.0
            .push_with(OpKind::Opt(OptOp::ForBatches), &operands, vec![body], loc())[0]
    }
}

/// A linked module of one round.
pub(super) fn round(fill: impl FnOnce(&mut Round<'_>, Value) -> Value) -> Module {
    module(Hook::Round, |b, w| vec![fill(&mut Round(b), w[0])])
}

/// A round in which the server averages what each client makes of `w`.
pub(super) fn averaged(body: impl FnOnce(&mut Round<'_>, Value, Value) -> Value) -> Module {
    round(|b, w| {
        let sent = b.everyone(w);
        let w_k = b.map(sent, body);
        b.mean(w_k)
    })
}

/// What is broken, by op.
pub(super) fn broken(module: &Module) -> Vec<(String, Broken)> {
    let errors = verify_linked(module).err().map(|errors| errors.0);
    let errors = errors.unwrap_or_default().into_iter();
    errors.map(|error| (error.op, error.broken)).collect()
}
