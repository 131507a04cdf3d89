//! Mechanisms of differential privacy in a module: noise on a bounded value, with its numbers.

use std::collections::HashMap;

use fedround_ir::Loc;
use fedround_ir::fed::{HyperValue, Module, Op, OpKind, Place, Region, Value};

/// What noise is added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoiseKind {
    /// Normal, of a standard deviation.
    Gaussian,
    /// Laplace's, of a scale.
    Laplace,
}

/// What is bounded, and so what one mechanism hides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Each row, so one example.
    Row,
    /// What a client sends, so one client.
    Client,
}

/// Noise on a clipped value.
#[derive(Clone, Debug)]
pub struct Mechanism {
    /// The noise.
    pub noise: NoiseKind,
    /// Its standard deviation or scale.
    pub scale: f64,
    /// The bound on the L2 norm.
    pub bound: f64,
    /// Whether the bound also holds of the L1 norm.
    pub l1: bool,
    /// What is bounded.
    pub unit: Unit,
    /// Whether the server adds the noise.
    pub central: bool,
    /// Where it is noise on the sum over a batch's rows, each bounded by itself: how often.
    pub steps: Option<RowSteps>,
    /// Where.
    pub loc: Loc,
}

/// Steps over the mini-batches of some rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowSteps {
    /// Rows in a batch.
    pub batch: usize,
    /// How often a round goes over all rows.
    pub passes: usize,
}

/// The mechanisms of a linked module whose bound and noise are numbers of this program, where the
/// noise is added to what was clipped at once, or to a sum of it over a batch's rows.
pub fn mechanisms(module: &Module) -> Vec<Mechanism> {
    let mut finder = Finder {
        module,
        made: HashMap::new(),
    };
    let mut noises = vec![];
    for func in &module.funcs {
        finder.region(&func.body, None, &mut noises);
    }
    let found = noises.iter();
    found
        .filter_map(|(op, rows)| finder.mechanism(op, *rows))
        .collect()
}

/// Noise, and the loop over rows around it.
type Found<'m> = (&'m Op, Option<&'m Op>);

struct Finder<'m> {
    module: &'m Module,
    /// The op that makes a value.
    made: HashMap<Value, &'m Op>,
}

impl<'m> Finder<'m> {
    /// Finds noise, each with the loop over rows that is next around it.
    fn region(&mut self, region: &'m Region, rows: Option<&'m Op>, noises: &mut Vec<Found<'m>>) {
        for op in &region.ops {
            self.made.extend(op.results.iter().map(|v| (*v, op)));
            if matches!(op.kind, OpKind::Noise | OpKind::Laplace) {
                noises.push((op, rows));
            }
            // Noise in a loss is there to train with; what is differentiated does not leave.
            let mut inside = vec![];
            let rows = match op.kind {
                OpKind::ForRows(_) => Some(op),
                _ => rows,
            };
            for inner in &op.regions {
                self.region(inner, rows, &mut inside);
            }
            if op.kind != OpKind::Grad {
                noises.append(&mut inside);
            }
        }
    }

    fn mechanism(&self, op: &Op, rows: Option<&Op>) -> Option<Mechanism> {
        let [of, scale] = op.operands.as_slice() else {
            return None;
        };
        let made = self.made.get(of)?;
        let one = self.row_by_row(made, *of);
        let clip = one.unwrap_or(made);
        let unit = match clip.kind {
            OpKind::ClipRows => Unit::Row,
            OpKind::Clip if one.is_some() => Unit::Row,
            OpKind::Clip => Unit::Client,
            _ => return None,
        };
        let steps = match (one, rows) {
            (None, _) => None,
            // Of rows that are not those of a batch, it is not known how many there are.
            (Some(_), rows) => Some(RowSteps {
                passes: self.count(*rows?.operands.first()?)?,
                batch: self.count(*rows?.operands.get(1)?)?,
            }),
        };
        let [clipped, bound] = clip.operands.as_slice() else {
            return None;
        };
        let bound = self.number(*bound)?;
        let unit_l1 = self
            .made
            .get(clipped)
            .is_some_and(|op| matches!(&op.kind, OpKind::Function(name) if name == "l1_rows"));
        let place = op.results.first().map(|v| self.module.type_of(*v).place);
        Some(Mechanism {
            noise: match op.kind {
                OpKind::Laplace => NoiseKind::Laplace,
                _ => NoiseKind::Gaussian,
            },
            scale: self.number(*scale)?,
            bound,
            l1: unit_l1 && bound >= 1.0,
            unit,
            central: place == Some(Place::Server),
            steps,
            loc: op.loc,
        })
    }

    /// The clip of each row, where a value is their sum by a loop over rows of one.
    fn row_by_row(&self, made: &Op, value: Value) -> Option<&'m Op> {
        let (OpKind::ForRows(rows), [body]) = (&made.kind, made.regions.as_slice()) else {
            return None;
        };
        let size = made.operands.get(1).map(|v| self.count(*v));
        let at = made.results.iter().position(|v| *v == value)?;
        let (carried, next) = (body.args.get(rows + at)?, body.yields.get(at)?);
        let add = self.made.get(next)?;
        let other = match (&add.kind, add.operands.as_slice()) {
            (OpKind::TreeAdd, [a, b]) if a == carried => b,
            (OpKind::TreeAdd, [a, b]) if b == carried => a,
            _ => return None,
        };
        let clip = self.made.get(other)?;
        (size == Some(Some(1)) && clip.kind == OpKind::Clip).then_some(clip)
    }

    /// A count that is known before the round.
    fn count(&self, value: Value) -> Option<usize> {
        match self.made.get(&value)?.kind {
            OpKind::IndexConst(n) => Some(n),
            OpKind::Hyper(index) => match self.module.hypers.get(index)?.value {
                HyperValue::Int(n) => Some(n),
                _ => None,
            },
            _ => None,
        }
    }

    /// A number that is known before the round.
    fn number(&self, value: Value) -> Option<f64> {
        let op = self.made.get(&value)?;
        let of = |i: usize| op.operands.get(i).and_then(|v| self.number(*v));
        match &op.kind {
            OpKind::Const(x) => Some(*x),
            OpKind::Hyper(index) => match self.module.hypers.get(*index)?.value {
                HyperValue::Float(x) => Some(x),
                _ => None,
            },
            OpKind::Add => Some(of(0)? + of(1)?),
            OpKind::Sub => Some(of(0)? - of(1)?),
            OpKind::Mul => Some(of(0)? * of(1)?),
            OpKind::Div => Some(of(0)? / of(1)?),
            OpKind::Neg => Some(-of(0)?),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use fedround::prelude::*;

    use super::super::testing::{Closure, dp_own_head, linked};
    use super::*;

    #[test]
    fn noise_on_a_mean_is_left_to_its_reader() {
        let found = mechanisms(&linked(&Closure(dp_own_head)));
        // The mean lies between the clip and the noise of the server.
        assert!(found.is_empty(), "{found:?}");
    }

    #[test]
    fn noise_on_sums_of_clipped_gradients_is_a_mechanism_of_rows() {
        let found = mechanisms(&linked(&Closure(|m: &mut fedround::Definer| {
            m.round(|server, w| {
                let x_k = w.broadcast(&server.everyone()).map(|k, _| {
                    let b = k.batch(10);
                    (b.x.release("a"), b.y.release("b"))
                });
                let (x, y) = (x_k.0.gather().concat(), x_k.1.gather().concat());
                server.run(|s| dp_sgd(s, &s.get(&w), s.get(&x), s.get(&y)))
            });
        })));
        let [found] = found.as_slice() else {
            panic!("{found:?}")
        };
        assert_eq!((found.scale, found.bound), (3.0, 2.0));
        assert_eq!((found.unit, found.central), (Unit::Row, true));
        let (batch, passes) = (8, 5);
        assert_eq!(found.steps, Some(RowSteps { batch, passes }));
    }

    /// Five passes in batches of eight, with noise of 3 on the sums of gradients of norm 2.
    fn dp_sgd(s: &ServerSide, w: &Params, x: Released, y: Released<Labels>) -> Params {
        use fedround::__private::for_each;
        for_each(s.rows(5, 8, (x, y)), w.clone(), |(x, y), w: Params| {
            let each = s.rows(1, 1, (x, y));
            let sum = for_each(each, w.zeros_like(), |(x, y), sum: Params| {
                let g = grad(&w, |w| s.loss(w, &x, &y));
                sum + g.clip(2.0)
            });
            &w - 0.1 * sum.noise(3.0)
        })
    }

    #[test]
    fn noise_on_clipped_rows_is_a_mechanism_of_examples() {
        let found = mechanisms(&linked(&Closure(|m: &mut fedround::Definer| {
            m.round(|server, w| {
                let x_k = w.broadcast(&server.everyone()).map(|k, _| {
                    let x = k.batch(10).x;
                    let l1 = function("l1_rows", &x).clip_rows(1.0).laplace(2.0 / 5.0);
                    (x.clip_rows(3.0).noise(0.15).release("a"), l1.release("b"))
                });
                let (a, b) = (x_k.0.gather().concat(), x_k.1.gather().concat());
                server.run(|s| loss("both", (&*s.get(&a), &*s.get(&b))) * s.get(&w))
            });
        })));
        let numbers = |m: &Mechanism| (m.noise, m.scale, m.bound, m.l1, m.unit, m.central);
        let found: Vec<_> = found.iter().map(numbers).collect();
        let row = Unit::Row;
        assert_eq!(
            found,
            [
                (NoiseKind::Laplace, 0.4, 1.0, true, row, false),
                (NoiseKind::Gaussian, 0.15, 3.0, false, row, false),
            ]
        );
    }
}
