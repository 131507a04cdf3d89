//! Numbers that are known before a round: literals, hyper-parameters and arithmetic on them.

use std::collections::{BTreeSet, HashMap, HashSet};

use super::{ArithOp, FedOp, Module, Op, OpKind, Value};

/// The numbers of a module that are known before a round.
#[derive(Clone, Debug)]
pub struct ConstEval<'m> {
    module: &'m Module,
    /// The op that makes a value.
    made: HashMap<Value, &'m Op>,
    numbers: HashMap<Value, f64>,
}

impl<'m> ConstEval<'m> {
    /// Evaluates the constants of a module.
    pub fn of(module: &'m Module) -> Self {
        let ops = module.all_ops();
        let made = ops.flat_map(|op| op.results.iter().map(move |v| (*v, op)));
        let mut known = Self {
            module,
            made: made.collect(),
            numbers: HashMap::new(),
        };
        // Operands come before what is made of them, so that each op is looked at once.
        for op in module.all_ops() {
            if let ([result], Some(number)) = (op.results.as_slice(), known.number_of(op)) {
                known.numbers.insert(*result, number);
            }
        }
        known
    }

    /// The module.
    pub fn module(&self) -> &'m Module {
        self.module
    }

    /// The op that makes a value; `None` of an argument.
    pub fn made(&self, value: Value) -> Option<&'m Op> {
        self.made.get(&value).copied()
    }

    /// A count.
    pub fn count(&self, value: Value) -> Option<usize> {
        self.made(value)?.kind.known(&self.module.hypers)?.count()
    }

    /// A number, or a count as one.
    pub fn number(&self, value: Value) -> Option<f64> {
        self.numbers.get(&value).copied()
    }

    /// The number that an op makes of known ones.
    fn number_of(&self, op: &Op) -> Option<f64> {
        let of = |i: usize| op.operands.get(i).and_then(|v| self.number(*v));
        match &op.kind {
            OpKind::Arith(ArithOp::Real) => of(0),
            OpKind::Arith(ArithOp::Add) => Some(of(0)? + of(1)?),
            OpKind::Arith(ArithOp::Sub) => Some(of(0)? - of(1)?),
            OpKind::Arith(ArithOp::Mul) => Some(of(0)? * of(1)?),
            OpKind::Arith(ArithOp::Div) => Some(of(0)? / of(1)?),
            OpKind::Arith(ArithOp::Neg) => Some(-of(0)?),
            OpKind::Arith(ArithOp::Pow) => Some(of(0)?.powf(of(1)?)),
            kind => kind.known(&self.module.hypers)?.number(),
        }
    }

    /// A number as a known one times one that is not: `z · c` where `z` is a hyper-parameter and `c` a state.
    /// The other one is `None` if all of it is known.
    pub fn factor(&self, value: Value) -> (f64, Option<Value>) {
        if let Some(known) = self.number(value) {
            return (known, None);
        }
        let op = self.made(value);
        let parts = op.map(|op| (&op.kind, op.operands.as_slice()));
        let times = |by: f64, of: Value| {
            let (factor, rest) = self.factor(of);
            (by * factor, rest)
        };
        match parts {
            Some((OpKind::Arith(ArithOp::Mul), [a, b])) => match (self.number(*a), self.number(*b))
            {
                (Some(a), _) => times(a, *b),
                (_, Some(b)) => times(b, *a),
                _ => (1.0, Some(value)),
            },
            Some((OpKind::Arith(ArithOp::Div), [a, b])) => match self.number(*b) {
                Some(b) => times(1.0 / b, *a),
                None => (1.0, Some(value)),
            },
            Some((OpKind::Arith(ArithOp::Neg), [a])) => times(-1.0, *a),
            _ => (1.0, Some(value)),
        }
    }

    /// The known factor of a noise scale, if it shows that there is no noise: zero, negative, infinite or NaN.
    pub fn no_noise(&self, scale: Value) -> Option<f64> {
        let (factor, _) = self.factor(scale);
        let some = (f64::MIN_POSITIVE..=f64::MAX).contains(&factor);
        (!some).then_some(factor)
    }

    /// The names of the hyper-parameters that the known factor of a number is computed from, in the order of
    /// their declarations.
    pub fn hypers(&self, value: Value) -> Vec<String> {
        let (mut open, mut seen) = (vec![value], HashSet::new());
        let mut found = BTreeSet::new();
        while let Some(value) = open.pop() {
            let Some(op) = self.made(value).filter(|_| seen.insert(value)) else {
                continue;
            };
            let product = matches!(
                op.kind,
                OpKind::Arith(ArithOp::Mul | ArithOp::Div | ArithOp::Neg)
            );
            let known = self.numbers.contains_key(&value);
            match op.kind {
                OpKind::Fed(FedOp::Hyper(index)) => {
                    found.insert(index);
                }
                _ if known || product => open.extend(&op.operands),
                _ => {}
            }
        }
        let named = found.into_iter().filter_map(|i| self.module.hypers.get(i));
        named.map(|hyper| hyper.name.clone()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::parse;
    use super::*;

    #[test]
    fn a_factor_is_what_is_known_of_a_product() {
        let text = |body: &str| {
            format!(
                "// fedround fed v1\nfed.algorithm @a(%z: f32 = 3.0) {{\n  fed.round(%w: params@server) {{\n    \
                 %c = tree.sq_norm %w : f32@server\n    {body}\n    \
                 %s = tree.scale %x, %w : params@server\n    fed.yield %s : params@server\n  }}\n}}\n"
            )
        };
        let factor = |body: &str| {
            let module = parse(&text(body)).unwrap();
            let known = ConstEval::of(&module);
            let scale = module
                .all_ops()
                .find(|op| op.operands.len() == 2 && op.results == module.funcs[0].body.yields);
            let (factor, rest) = known.factor(scale.unwrap().operands[0]);
            (
                factor,
                rest.map(|rest| known.made(rest).unwrap().kind.clone()),
            )
        };
        let norm = Some(OpKind::Tree(crate::fed::TreeOp::SqNorm));
        let two = "%t = arith.const 2.0 : f32@server\n    ";
        assert_eq!(
            factor("%x = arith.mul %c, %z : f32@server"),
            (3.0, norm.clone())
        );
        assert_eq!(
            factor("%x = arith.neg %c : f32@server"),
            (-1.0, norm.clone())
        );
        let halved = format!(
            "{two}%d = arith.div %c, %t : f32@server\n    %x = arith.mul %z, %d : f32@server"
        );
        assert_eq!(factor(&halved), (1.5, norm));
        assert_eq!(
            factor(&format!("{two}%x = arith.pow %z, %t : f32@server")),
            (9.0, None)
        );
        // Each number is computed once, however often others are made of it.
        let doubled: Vec<String> = (1..80)
            .map(|i| format!("%t{i} = arith.add %t{0}, %t{0} : f32@server\n    ", i - 1))
            .collect();
        let first = "%t0 = arith.const 1.0 : f32@server\n    ";
        let last = "%x = arith.mul %t79, %z : f32@server";
        let many = format!("{first}{}{last}", doubled.concat());
        assert_eq!(factor(&many), (3.0 * 2_f64.powi(79), None));
        let square = factor("%x = arith.mul %c, %c : f32@server");
        assert_eq!(square, (1.0, Some(OpKind::Arith(ArithOp::Mul))));
        let module = parse(&text("%x = arith.mul %c, %z : f32@server")).unwrap();
        let known = ConstEval::of(&module);
        let mut ops = module.all_ops();
        let scale = ops.find(|op| op.kind == OpKind::Arith(ArithOp::Mul));
        assert_eq!(known.hypers(scale.unwrap().results[0]), ["z"]);
    }
}
