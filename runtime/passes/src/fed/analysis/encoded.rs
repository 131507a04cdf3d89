//! Finds the values of clients that cross as encoded bytes: results of a map that its code yields as
//! `fed.encode` gives them, or added to what the server sent: it has that, and adds what it decodes.

use std::collections::{HashMap, HashSet};

use fedround_codec::Codec;
use fedround_ir::fed::{Direction, Encoding, FedOp, Module, Op, OpKind, Region, TreeOp, Value};

/// How a value is encoded.
#[derive(Clone, Debug, PartialEq)]
pub struct Encoded {
    /// The codec with its setting.
    pub codec: Codec,
    /// What its bytes are, as a formula: `top-k(P, share)`.
    pub formula: String,
    /// What the server decodes, in the code of the client.
    pub decoded: Value,
    /// The place among the map's operands of what it is added to, if it is.
    pub onto: Option<usize>,
}

/// How each result of a map that crosses encoded is encoded.
pub fn encoded(module: &Module) -> HashMap<Value, Encoded> {
    let downs = module.all_ops();
    let downs = downs.filter(|op| op.kind.direction() == Some(Direction::Down));
    let sent: HashSet<Value> = downs.flat_map(|op| op.results.clone()).collect();
    let mut found = HashMap::new();
    let maps = module.all_ops();
    for map in maps.filter(|op| op.kind == OpKind::Fed(FedOp::Map)) {
        let Some(code) = map.regions.first() else {
            continue;
        };
        // Their running statistics are others on the client than on the server.
        let advanced = map.differentiated();
        for (result, yielded) in map.results.iter().zip(&code.yields) {
            let Some(made) = made(code, *yielded) else {
                continue;
            };
            let encoded = match (&made.kind, made.operands.as_slice()) {
                (OpKind::Tree(TreeOp::Add), [a, b]) => {
                    let received = |v: &Value| {
                        let arg = code.args.iter().skip(1).position(|arg| arg == v)?;
                        let sent = map.operands.get(arg).is_some_and(|v| sent.contains(v));
                        (sent && !advanced.contains(v)).then_some(arg)
                    };
                    let (onto, rest) = match (received(a), received(b)) {
                        (Some(onto), _) => (onto, b),
                        (_, Some(onto)) => (onto, a),
                        (None, None) => continue,
                    };
                    let made = self::made(code, *rest);
                    made.and_then(|op| of_op(module, op, Some(onto)))
                }
                _ => of_op(module, made, None),
            };
            found.extend(encoded.map(|encoded| (*result, encoded)));
        }
    }
    found
}

fn made(code: &Region, value: Value) -> Option<&Op> {
    code.ops.iter().find(|op| op.results.contains(&value))
}

/// The codec of an encoding with a setting, which the verifier has checked.
pub fn codec(encoding: Encoding, setting: f64) -> Codec {
    let share = setting;
    // A count, which a float holds exactly.
    let count = setting as usize;
    match encoding {
        Encoding::TopK => Codec::TopK { share },
        Encoding::RandomK => Codec::RandomK {
            share,
            scaled: true,
        },
        Encoding::UnscaledRandomK => Codec::RandomK {
            share,
            scaled: false,
        },
        Encoding::Quantize => Codec::Quantize { bits: count },
        Encoding::Sign => Codec::Sign,
        Encoding::LowRank => Codec::LowRank { rank: count },
    }
}

fn of_op(module: &Module, op: &Op, onto: Option<usize>) -> Option<Encoded> {
    let OpKind::Fed(FedOp::Encode(encoding)) = op.kind else {
        return None;
    };
    let name = encoding.name();
    let (number, formula) = match op.operands.get(1) {
        None => (0.0, format!("{name}(P)")),
        Some(setting) => {
            let number = module.known(*setting)?.number()?;
            let made = module.all_ops().find(|op| op.results.contains(setting));
            let text = match made.map(|op| &op.kind) {
                Some(OpKind::Fed(FedOp::Hyper(i))) => module.hyper_label(*i),
                _ => number.to_string(),
            };
            (number, format!("{name}(P, {text})"))
        }
    };
    Some(Encoded {
        codec: codec(encoding, number),
        formula,
        decoded: *op.results.first()?,
        onto,
    })
}
