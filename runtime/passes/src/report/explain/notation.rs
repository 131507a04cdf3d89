//! Expressions of the algorithm box, with no more brackets than they need.

use std::collections::HashMap;

use fedround_ir::fed::{
    ArithOp, ExternalOp, FedOp, Math, OpKind, Pairwise, PrivacyOp, Reduce, Region, TreeOp, Value,
};

/// The client whose turn it is.
pub const TURN: &str = "client k";

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
    let product = |a: &Text, sign: &str, b: String| {
        Text::new(format!("{} {sign} {b}", a.in_product()), Level::Product)
    };
    match (kind, operands) {
        (OpKind::Fed(FedOp::Hyper(index)), _) => {
            Text::name(hypers.get(*index).cloned().unwrap_or_default())
        }
        (OpKind::Arith(ArithOp::Const(x)), _) => Text::name(literal(*x)),
        (OpKind::Arith(ArithOp::IndexConst(n)), _) => Text::name(n.to_string()),
        (OpKind::Arith(ArithOp::Real), [n]) => n.clone(),
        (OpKind::Fed(FedOp::NumExamples), _) => Text::name("n_k"),
        (OpKind::Fed(FedOp::Seconds), _) => Text::name("seconds_k"),
        (OpKind::Fed(FedOp::InitialParams(0)), _) => Text::name("w⁰"),
        (OpKind::Fed(FedOp::InitialParams(stream)), _) => {
            Text::call("initial", &[Text::name(stream.to_string())])
        }
        (OpKind::Fed(FedOp::Matrix(columns, entries)), _) => {
            let rows = entries.len() / columns.max(&1);
            Text::name(format!("matrix[{rows} × {columns}]"))
        }
        (OpKind::Fed(FedOp::NthLargest), [of, n]) => {
            Text::call("largest", &[of.clone(), n.clone()])
        }
        (OpKind::Fed(FedOp::ClientNumber), _) => Text::name("k"),
        (OpKind::Fed(FedOp::StartParams), _) => Text::name("wᵗ"),
        (OpKind::Fed(FedOp::RoundIndex), _) => Text::name("t"),
        (OpKind::Fed(FedOp::NumClients), _) => Text::name("K"),
        (OpKind::Arith(ArithOp::Add) | OpKind::Tree(TreeOp::Add), [a, b]) => {
            Text::sum(format!("{} + {}", a.plain(), b.plain()))
        }
        (OpKind::Arith(ArithOp::Sub) | OpKind::Tree(TreeOp::Sub), [a, b]) => {
            Text::sum(format!("{} − {}", a.plain(), b.in_product()))
        }
        (OpKind::Tree(TreeOp::Scale), [zero, _]) if zero.plain() == "0" => zero.clone(),
        (OpKind::Arith(ArithOp::Mul) | OpKind::Tree(TreeOp::Scale), [a, b]) => {
            product(a, "·", b.in_product())
        }
        (OpKind::Arith(ArithOp::Div), [a, b]) => product(a, "/", b.above(Level::Product)),
        (OpKind::Arith(ArithOp::Neg), [a]) => Text::sum(format!("−{}", a.in_product())),
        (OpKind::Arith(ArithOp::Pow), [a, b]) => Text::factor(format!(
            "{}^{}",
            a.above(Level::Factor),
            b.above(Level::Product)
        )),
        (OpKind::Arith(ArithOp::Math(math)) | OpKind::Tree(TreeOp::Math(math)), [x]) => {
            match math {
                Math::Sqrt => Text::factor(format!("√{}", x.above(Level::Factor))),
                Math::Floor => Text::factor(format!("⌊{}⌋", x.plain())),
                Math::Exp => Text::call("exp", operands),
                Math::Log => Text::call("ln", operands),
                Math::Cos => Text::call("cos", operands),
            }
        }
        (OpKind::Tree(TreeOp::LayerSum), all) => Text::call("Σ_layer", all),
        (
            OpKind::Arith(ArithOp::Select) | OpKind::Tree(TreeOp::Select | TreeOp::Choose),
            [c, a, b],
        ) => Text::factor(format!(
            "[{} if {} > 0 else {}]",
            a.plain(),
            c.plain(),
            b.plain()
        )),
        (OpKind::Tree(TreeOp::Mul), [a, b]) => product(a, "⊙", b.in_product()),
        (OpKind::Tree(TreeOp::Div), [a, b]) => product(a, "⊘", b.above(Level::Product)),
        (OpKind::Tree(TreeOp::AddScalar), [s, a]) => {
            Text::sum(format!("{} + {}", a.plain(), s.plain()))
        }
        (OpKind::Tree(TreeOp::Clamp), [min, max, a]) => {
            Text::call("clamp", &[a.clone(), min.clone(), max.clone()])
        }
        (OpKind::Tree(TreeOp::Dot), [a, b]) => {
            Text::factor(format!("⟨{}, {}⟩", a.plain(), b.plain()))
        }
        (OpKind::Tree(TreeOp::SqNorm), [a]) => Text::factor(format!("‖{}‖²", a.plain())),
        (OpKind::Tree(TreeOp::ReplaceParts(parts)), [a, b]) => Text::factor(format!(
            "{}[{} ← {}]",
            a.in_product(),
            parts.join(", "),
            b.plain()
        )),
        (OpKind::Privacy(PrivacyOp::ClipRows), operands) => Text::call("clip_rows", operands),
        (OpKind::Privacy(PrivacyOp::L1Rows), operands) => Text::call("l1_rows", operands),
        (OpKind::Privacy(PrivacyOp::Laplace), [x, b]) => {
            Text::sum(format!("{} + Laplace({})", x.plain(), b.plain()))
        }
        (OpKind::Privacy(PrivacyOp::Clip), operands) => Text::call("clip", operands),
        (OpKind::Privacy(PrivacyOp::Noise), [x, sigma]) => {
            let sigma = sigma.above(Level::Factor);
            Text::sum(format!("{} + N(0, {sigma}²)", x.plain()))
        }
        (OpKind::Privacy(PrivacyOp::TreeNoise), [x, sigma, _]) => {
            Text::sum(format!("{} + tree noise({})", x.plain(), sigma.plain()))
        }
        (OpKind::Privacy(PrivacyOp::Release(_)), [x]) => {
            Text::call("release", std::slice::from_ref(x))
        }
        (OpKind::External(ExternalOp::Column(name, _)), [b]) => {
            Text::name(format!("{}.{name}", b.plain()))
        }
        (OpKind::External(ExternalOp::Apply(name)), operands) if name == "forward" => {
            Text::call("model", operands)
        }
        (OpKind::Fed(FedOp::Concat), operands) => Text::call("concat", operands),
        (OpKind::Fed(FedOp::Pairwise(Pairwise::SqDistances)), [x]) => {
            Text::factor(format!("[‖{0} − {0}'‖²]", x.in_product()))
        }
        (OpKind::Fed(FedOp::Pairwise(Pairwise::Cosines)), [x]) => {
            Text::factor(format!("[cos({0}, {0}')]", x.plain()))
        }
        (OpKind::Fed(FedOp::Split(_)), [rows, _]) => {
            Text::factor(format!("{}[k]", rows.in_product()))
        }
        (OpKind::Fed(FedOp::Positions), operands) => Text::call("positions", operands),
        (OpKind::Fed(FedOp::ClientLabels), _) => Text::name("k"),
        (
            OpKind::External(
                ExternalOp::Apply(name) | ExternalOp::Loss(name) | ExternalOp::Function(name),
            ),
            operands,
        ) => Text::call(name, operands),
        (OpKind::Fed(FedOp::Encode(encoding)), operands) => Text::call(encoding.name(), operands),
        (OpKind::Fed(FedOp::EveryClass), _) => Text::name("classes"),
        (OpKind::Fed(FedOp::LocalClasses), _) => Text::name("classes_k"),
        (OpKind::Fed(FedOp::LabelCounts), _) => Text::name("counts_k"),
        (OpKind::Fed(FedOp::CohortSize), [cohort]) => Text::factor(format!("|{}|", cohort.plain())),
        (OpKind::Fed(FedOp::ZeroInputs), _) => Text::name("0"),
        (OpKind::Fed(FedOp::Public(column, _)), []) => Text::name(format!("public.{column}")),
        (OpKind::Fed(FedOp::Public(column, _)), [count, ..]) => {
            Text::name(format!("public({}).{column}", count.plain()))
        }
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
        (Reduce::Median, _) => return Text::call("median", operands),
        (Reduce::TrimmedMean, _) => return Text::call("trimmed_mean", operands),
        (Reduce::WeightedSum, Some(weight)) => format!("Σ {} · {x}", weight.in_product()),
        (Reduce::Sum | Reduce::WeightedMean | Reduce::WeightedSum, _) => format!("Σ {x}"),
    })
}

/// How often each value is read.
pub fn count_uses(region: &Region, uses: &mut HashMap<Value, usize>) {
    for value in region.reads() {
        *uses.entry(value).or_default() += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn brackets_only_where_needed() {
        let [a, b, c] = ["a", "b", "c"].map(Text::name);
        let difference = expression(&OpKind::Arith(ArithOp::Sub), &[a.clone(), b.clone()], &[]);
        let nested = expression(
            &OpKind::Arith(ArithOp::Sub),
            &[c.clone(), difference.clone()],
            &[],
        );
        assert_eq!(nested.plain(), "c − (a − b)");
        let product = expression(
            &OpKind::Arith(ArithOp::Mul),
            &[c.clone(), difference.clone()],
            &[],
        );
        assert_eq!(product.plain(), "c · (a − b)");
        let quotient = expression(&OpKind::Arith(ArithOp::Div), &[a, product.clone()], &[]);
        assert_eq!(quotient.plain(), "a / (c · (a − b))");
        let sum = expression(&OpKind::Arith(ArithOp::Add), &[product, b], &[]);
        assert_eq!(sum.plain(), "c · (a − b) + b");
        assert_eq!(
            expression(&OpKind::Tree(TreeOp::SqNorm), &[difference], &[]).plain(),
            "‖a − b‖²"
        );
    }
}
