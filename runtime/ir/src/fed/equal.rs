//! Structural equality of modules.

use std::collections::HashMap;

use super::{FedOp, Func, Module, Op, OpKind, Region, Value};

/// Whether two modules are the same program: they have the same functions, ops, operands and regions,
/// up to the numbering of values.
///
/// Source locations, names of layers and values of hyper-parameters are ignored. Hyper-parameters are
/// inputs of the program, of which the fields and kinds are compared. It does not matter where and how
/// often `fed.hyper` reads one of them.
pub fn equal(a: &Module, b: &Module) -> bool {
    difference(a, b).is_none()
}

/// A description of the first difference between two modules; `None` if they are [`equal`].
pub fn difference(a: &Module, b: &Module) -> Option<String> {
    let signature = |m: &Module| -> Vec<_> {
        m.hypers
            .iter()
            .map(|hyper| (hyper.field().to_owned(), hyper.value.kind()))
            .collect()
    };
    let (left, right) = (signature(a), signature(b));
    if left != right {
        let names = |side: &[(String, _)]| -> Vec<String> {
            side.iter().map(|(name, _)| name.clone()).collect()
        };
        return Some(format!(
            "hyper-parameters {:?} against {:?}",
            names(&left),
            names(&right)
        ));
    }
    if a.funcs.len() != b.funcs.len() {
        return Some(format!(
            "{} functions against {}",
            a.funcs.len(),
            b.funcs.len()
        ));
    }
    let ranks = (layer_ranks(a), layer_ranks(b));
    for (index, (x, y)) in a.funcs.iter().zip(&b.funcs).enumerate() {
        if x.hook != y.hook || ranks.0[index] != ranks.1[index] {
            return Some(format!(
                "function {index} is {} against {}",
                x.hook.name(),
                y.hook.name()
            ));
        }
        let mut walk = Walk {
            a,
            b,
            same: HashMap::new(),
            hypers: (HashMap::new(), HashMap::new()),
        };
        if let Err(difference) = walk.region(&x.body, &y.body) {
            return Some(format!("in {}: {difference}", x.hook.name()));
        }
    }
    None
}

/// Layers counted by first appearance, so that a layer without functions does not matter.
fn layer_ranks(module: &Module) -> Vec<usize> {
    let mut seen: Vec<usize> = Vec::new();
    let rank = |func: &Func| {
        seen.iter()
            .position(|layer| *layer == func.layer)
            .unwrap_or_else(|| {
                seen.push(func.layer);
                seen.len() - 1
            })
    };
    module.funcs.iter().map(rank).collect()
}

/// Enters the hyper-parameters that a region reads; gives its other ops.
fn read_hypers<'m>(region: &'m Region, hypers: &mut HashMap<Value, usize>) -> Vec<&'m Op> {
    let other = |op: &&Op| match (&op.kind, op.results.as_slice()) {
        (OpKind::Fed(FedOp::Hyper(index)), [value]) => {
            hypers.insert(*value, *index);
            false
        }
        _ => true,
    };
    region.ops.iter().filter(other).collect()
}

struct Walk<'m> {
    a: &'m Module,
    b: &'m Module,
    same: HashMap<Value, Value>,
    /// The hyper-parameter that a value is.
    hypers: (HashMap<Value, usize>, HashMap<Value, usize>),
}

impl Walk<'_> {
    fn define(&mut self, a: &[Value], b: &[Value], what: &str) -> Result<(), String> {
        if a.len() != b.len() {
            return Err(format!("{} {what} against {}", a.len(), b.len()));
        }
        for (x, y) in a.iter().zip(b) {
            let types = (
                self.a.types.get(x.0 as usize),
                self.b.types.get(y.0 as usize),
            );
            if types.0 != types.1 {
                return Err(format!("{what} of other types"));
            }
            self.same.insert(*x, *y);
        }
        Ok(())
    }

    fn uses(&self, a: &[Value], b: &[Value], what: &str) -> Result<(), String> {
        let same = |(x, y): (&Value, &Value)| match (self.hypers.0.get(x), self.hypers.1.get(y)) {
            (None, None) => self.same.get(x) == Some(y),
            (x, y) => x == y,
        };
        let same = a.len() == b.len() && a.iter().zip(b).all(same);
        if same {
            Ok(())
        } else {
            Err(format!("{what} are other values"))
        }
    }

    fn region(&mut self, a: &Region, b: &Region) -> Result<(), String> {
        self.define(&a.args, &b.args, "arguments")?;
        let ops = (
            read_hypers(a, &mut self.hypers.0),
            read_hypers(b, &mut self.hypers.1),
        );
        for (index, (x, y)) in ops.0.iter().zip(&ops.1).enumerate() {
            self.op(x, y)
                .map_err(|difference| format!("op {index}, {}: {difference}", x.kind.name()))?;
        }
        if ops.0.len() != ops.1.len() {
            return Err(format!("{} ops against {}", ops.0.len(), ops.1.len()));
        }
        self.uses(&a.yields, &b.yields, "yields")
    }

    fn op(&mut self, a: &Op, b: &Op) -> Result<(), String> {
        if a.kind != b.kind {
            return Err(format!("{:?} against {:?}", a.kind, b.kind));
        }
        self.uses(&a.operands, &b.operands, "operands")?;
        if a.regions.len() != b.regions.len() {
            return Err("another number of regions".to_owned());
        }
        for (x, y) in a.regions.iter().zip(&b.regions) {
            self.region(x, y)?;
        }
        self.define(&a.results, &b.results, "results")
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Builder, Hook, OpKind};
    use super::*;
    use crate::Loc;
    use crate::fed::{ArithOp, TreeOp};

    fn regularizer(layer: &str, waste: bool, factor: f64) -> Module {
        let mut b = Builder::new();
        b.layer(layer);
        let args = b.begin(Hook::Regularizer);
        let norm = b.push(OpKind::Tree(TreeOp::SqNorm), &args[1..], Loc::caller());
        let factor = b.push(OpKind::Arith(ArithOp::Const(factor)), &[], Loc::caller());
        let scaled = b.push(
            OpKind::Arith(ArithOp::Mul),
            &[factor[0], norm[0]],
            Loc::caller(),
        );
        b.end(Hook::Regularizer, scaled, Loc::caller());
        let mut module = b.finish().unwrap();
        if waste {
            // Other numbers for the same values.
            let fresh = module.value(module.type_of(norm[0]));
            module.funcs[0].body.ops[0].results[0] = fresh;
            module.funcs[0].body.ops[2].operands[1] = fresh;
        }
        module
    }

    #[test]
    fn numbering_names_and_locations_do_not_matter() {
        assert_eq!(
            difference(&regularizer("a", false, 0.5), &regularizer("b", true, 0.5)),
            None
        );
    }

    #[test]
    fn a_constant_matters() {
        let difference = difference(
            &regularizer("a", false, 0.5),
            &regularizer("a", false, 0.25),
        )
        .unwrap();
        assert!(difference.contains("arith.const"), "{difference}");
    }

    #[test]
    fn operands_matter() {
        let a = regularizer("a", false, 0.5);
        let mut b = a.clone();
        b.funcs[0].body.ops[2].operands.reverse();
        assert!(!equal(&a, &b));
    }
}
