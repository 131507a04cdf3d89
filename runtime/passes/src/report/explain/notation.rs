//! Expressions of the algorithm box, with no more brackets than they need.

use std::collections::HashMap;

use fedround_ir::fed::{Math, OpKind, Reduce, Region, Value};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Level {
    Sum,
    Product,
    Factor,
    Name,
}

/// A printed expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Text {
    text: String,
    level: Level,
}

impl Text {
    fn new(text: String, level: Level) -> Self {
        Self { text, level }
    }

    /// A name or a number.
    pub fn name(text: impl Into<String>) -> Self {
        Self::new(text.into(), Level::Name)
    }

    /// Something that ends in brackets of its own.
    pub fn factor(text: impl Into<String>) -> Self {
        Self::new(text.into(), Level::Factor)
    }

    /// Something that needs brackets in a product.
    pub fn sum(text: impl Into<String>) -> Self {
        Self::new(text.into(), Level::Sum)
    }

    /// `function(arguments)`.
    pub fn call(function: &str, arguments: &[Self]) -> Self {
        let arguments: Vec<&str> = arguments.iter().map(Self::plain).collect();
        Self::factor(format!("{function}({})", arguments.join(", ")))
    }

    /// Whether it is a name or a number.
    pub fn is_name(&self) -> bool {
        self.level == Level::Name
    }

    /// The text without brackets around it.
    pub fn plain(&self) -> &str {
        &self.text
    }

    fn above(&self, level: Level) -> String {
        if self.level > level {
            self.text.clone()
        } else {
            format!("({})", self.text)
        }
    }

    /// The text as a factor of a product.
    pub fn in_product(&self) -> String {
        self.above(Level::Sum)
    }
}

/// The expression of an op without regions, over those of its operands.
pub fn expression(kind: &OpKind, operands: &[Text], hypers: &[String]) -> Text {
    let product = |a: &Text, b: &Text| {
        Text::new(
            format!("{} · {}", a.in_product(), b.in_product()),
            Level::Product,
        )
    };
    match (kind, operands) {
        (OpKind::Hyper(index), _) => Text::name(hypers.get(*index).cloned().unwrap_or_default()),
        (OpKind::Const(x), _) => Text::name(literal(*x)),
        (OpKind::IndexConst(n), _) => Text::name(n.to_string()),
        (OpKind::Real, [n]) => n.clone(),
        (OpKind::NumExamples, _) => Text::name("n_k"),
        (OpKind::RoundIndex, _) => Text::name("t"),
        (OpKind::NumClients, _) => Text::name("K"),
        (OpKind::Add | OpKind::TreeAdd, [a, b]) => {
            Text::sum(format!("{} + {}", a.plain(), b.plain()))
        }
        (OpKind::Sub | OpKind::TreeSub, [a, b]) => {
            Text::sum(format!("{} − {}", a.plain(), b.in_product()))
        }
        (OpKind::TreeScale, [zero, _]) if zero.plain() == "0" => zero.clone(),
        (OpKind::Mul | OpKind::TreeScale, [a, b]) => product(a, b),
        (OpKind::Div, [a, b]) => Text::new(
            format!("{} / {}", a.in_product(), b.above(Level::Product)),
            Level::Product,
        ),
        (OpKind::Neg, [a]) => Text::sum(format!("−{}", a.in_product())),
        (OpKind::Pow, [a, b]) => Text::factor(format!(
            "{}^{}",
            a.above(Level::Factor),
            b.above(Level::Product)
        )),
        (OpKind::Math(Math::Sqrt) | OpKind::TreeMath(Math::Sqrt), [x]) => {
            Text::factor(format!("√{}", x.above(Level::Factor)))
        }
        (OpKind::Math(Math::Floor) | OpKind::TreeMath(Math::Floor), [x]) => {
            Text::factor(format!("⌊{}⌋", x.plain()))
        }
        (OpKind::Math(Math::Exp) | OpKind::TreeMath(Math::Exp), all) => Text::call("exp", all),
        (OpKind::Math(Math::Log) | OpKind::TreeMath(Math::Log), all) => Text::call("ln", all),
        (OpKind::TreeLayerSum, all) => Text::call("Σ_layer", all),
        (OpKind::Math(Math::Cos) | OpKind::TreeMath(Math::Cos), all) => Text::call("cos", all),
        (OpKind::Select | OpKind::TreeSelect, [c, a, b]) => Text::factor(format!(
            "[{} if {} > 0 else {}]",
            a.plain(),
            c.plain(),
            b.plain()
        )),
        (OpKind::TreeMul, [a, b]) => Text::new(
            format!("{} ⊙ {}", a.in_product(), b.in_product()),
            Level::Product,
        ),
        (OpKind::TreeDiv, [a, b]) => Text::new(
            format!("{} ⊘ {}", a.in_product(), b.above(Level::Product)),
            Level::Product,
        ),
        (OpKind::TreeAddScalar, [s, a]) => Text::sum(format!("{} + {}", a.plain(), s.plain())),
        (OpKind::TreeClamp, [min, max, a]) => {
            Text::call("clamp", &[a.clone(), min.clone(), max.clone()])
        }
        (OpKind::TreeDot, [a, b]) => Text::factor(format!("⟨{}, {}⟩", a.plain(), b.plain())),
        (OpKind::TreeSqNorm, [a]) => Text::factor(format!("‖{}‖²", a.plain())),
        (OpKind::TreeReplaceParts(parts), [a, b]) => Text::factor(format!(
            "{}[{} ← {}]",
            a.in_product(),
            parts.join(", "),
            b.plain()
        )),
        (OpKind::ClipRows, operands) => Text::call("clip_rows", operands),
        (OpKind::Laplace, [x, b]) => Text::sum(format!("{} + Laplace({})", x.plain(), b.plain())),
        (OpKind::Clip, operands) => Text::call("clip", operands),
        (OpKind::Noise, [x, sigma]) => {
            let sigma = sigma.above(Level::Factor);
            Text::sum(format!("{} + N(0, {sigma}²)", x.plain()))
        }
        (OpKind::Release(_), [x]) => Text::call("release", std::slice::from_ref(x)),
        (OpKind::Column(name, _), [b]) => Text::name(format!("{}.{name}", b.plain())),
        (OpKind::Apply(name), operands) if name == "forward" => Text::call("model", operands),
        (OpKind::Apply(name), operands) => Text::call(name, operands),
        (OpKind::Concat, operands) => Text::call("concat", operands),
        (OpKind::Positions, operands) => Text::call("positions", operands),
        (OpKind::ClientLabels, _) => Text::name("k"),
        (OpKind::Loss(name) | OpKind::Function(name), operands) => Text::call(name, operands),
        (OpKind::EveryClass, _) => Text::name("classes"),
        (OpKind::LocalClasses, _) => Text::name("classes_k"),
        (OpKind::Blank, _) => Text::name("0"),
        (kind, operands) => Text::call(&kind.name(), operands),
    }
}

/// A constant with the digits that the graph computes with.
fn literal(x: f64) -> String {
    #[allow(clippy::cast_possible_truncation)]
    let x = x as f32;
    if x != 0.0 && x.abs() < 1e-3 {
        format!("{x:e}")
    } else {
        x.to_string()
    }
}

/// The expression of a reduction, over its value and weight on client `k`.
pub fn reduction(reduce: Reduce, operands: &[Text]) -> Text {
    let x = operands.first().map(Text::in_product).unwrap_or_default();
    Text::sum(match (reduce, operands.get(1)) {
        (Reduce::Mean, _) => format!("1/m Σ {x}"),
        (Reduce::WeightedMean, Some(weight)) => {
            let n = weight.in_product();
            format!("Σ {n} · {x} / Σ {n}")
        }
        (Reduce::Sum | Reduce::WeightedMean, _) => format!("Σ {x}"),
    })
}

/// How often each value is read.
pub fn count_uses(region: &Region, uses: &mut HashMap<Value, usize>) {
    for op in &region.ops {
        for value in &op.operands {
            *uses.entry(*value).or_default() += 1;
        }
        for inner in &op.regions {
            count_uses(inner, uses);
        }
    }
    for value in &region.yields {
        *uses.entry(*value).or_default() += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn brackets_only_where_needed() {
        let [a, b, c] = ["a", "b", "c"].map(Text::name);
        let difference = expression(&OpKind::Sub, &[a.clone(), b.clone()], &[]);
        let nested = expression(&OpKind::Sub, &[c.clone(), difference.clone()], &[]);
        assert_eq!(nested.plain(), "c − (a − b)");
        let product = expression(&OpKind::Mul, &[c.clone(), difference.clone()], &[]);
        assert_eq!(product.plain(), "c · (a − b)");
        let quotient = expression(&OpKind::Div, &[a, product.clone()], &[]);
        assert_eq!(quotient.plain(), "a / (c · (a − b))");
        let sum = expression(&OpKind::Add, &[product, b], &[]);
        assert_eq!(sum.plain(), "c · (a − b) + b");
        assert_eq!(
            expression(&OpKind::TreeSqNorm, &[difference], &[]).plain(),
            "‖a − b‖²"
        );
    }
}
