//! The lines of maps, loops and gradients in the algorithm box.

use fedround_ir::fed::{FedOp, Op, OpKind, OptOp, Region, Value};

use super::Printer;
use super::notation::{TURN, Text};

impl Printer<'_> {
    /// `for k ∈ S in parallel`; nothing for a map that only names values, such as `n_k`.
    pub(super) fn map(&mut self, op: &Op, results: &[Value], region: &Region) {
        for (arg, operand) in region.args.iter().skip(1).zip(&op.operands) {
            self.texts.insert(*arg, self.text(*operand));
        }
        let cohort = op
            .operands
            .iter()
            .find_map(|operand| self.cohorts.get(operand).cloned())
            .unwrap_or_default();
        let outer = std::mem::take(&mut self.lines);
        self.depth += 1;
        self.region(region);
        for (result, yielded) in results.iter().zip(&region.yields) {
            let text = self.text(*yielded);
            if self.lines.is_empty() && text.is_name() {
                self.texts.insert(*result, text);
            } else {
                let name = self.unique(self.name_of_each(*result));
                self.line(&format!("{name} ← {}", text.plain()));
                self.texts.insert(*result, Text::name(name));
            }
            self.cohorts.insert(*result, cohort.clone());
        }
        self.depth -= 1;
        let inner = std::mem::replace(&mut self.lines, outer);
        if !inner.is_empty() {
            let line = match cohort.as_str() {
                TURN => format!("on {TURN}"),
                _ if self.on_server(op) => format!("for k ∈ {cohort} on the server"),
                _ => format!("for k ∈ {cohort} in parallel"),
            };
            self.line(&line);
            self.lines.extend(inner);
        }
    }

    pub(super) fn repeat(&mut self, op: &Op, results: &[Value], region: &Region) {
        let (fixed, _) = op.kind.carried_from().unwrap_or_default();
        let mut names = Vec::new();
        for first in op.operands.iter().skip(fixed) {
            let text = self.text(*first);
            // A variable that only this loop reads goes on under its name.
            if self.variables.contains(text.plain()) && !self.read_again(*first) {
                names.push(text.plain().to_owned());
                continue;
            }
            let name = self.unique(if self.is_params(*first) { "w" } else { "s" });
            self.line(&format!("{name} ← {}", text.plain()));
            self.variables.insert(name.clone());
            names.push(name);
        }
        let control = self.texts(&op.operands);
        let control: Vec<&str> = control.iter().map(Text::plain).collect();
        // The line, and what the arguments before the carried ones are called.
        let (line, own) = match (&op.kind, control.as_slice()) {
            (OpKind::Opt(OptOp::ForBatches), [_, epochs, size, ..]) => {
                let batch = self.unique("b");
                let line = format!("for {batch} in batches({epochs}, {size})");
                (line, vec![batch])
            }
            (OpKind::Opt(OptOp::ForRows(n)), [epochs, size, of @ ..]) => {
                let rows: Vec<String> = (0..*n).map(|_| self.unique("r")).collect();
                let names = rows.join(", ");
                let of = of.iter().copied().take(*n).collect::<Vec<_>>().join(", ");
                let line = format!("for {names} in rows of {of}, batches({epochs}, {size})");
                (line, rows)
            }
            (OpKind::Fed(FedOp::InTurn), [cohort, ..]) => {
                (format!("for k ∈ {cohort} in turn"), vec![TURN.to_owned()])
            }
            (_, control) => {
                let times = control.first().copied().unwrap_or_default();
                (format!("{times} times"), vec![])
            }
        };
        self.line(&line);
        for (arg, name) in region.args.iter().zip(own.iter().chain(&names)) {
            self.texts.insert(*arg, Text::name(name));
        }
        self.depth += 1;
        self.region(region);
        let values = self.texts(&region.yields);
        let assigned = names.iter().map(String::as_str);
        let assigned = assigned.zip(values.iter().map(Text::plain));
        // At once, as all read the values before the step.
        let changed = assigned.filter(|(name, value)| name != value);
        let (left, right): (Vec<&str>, Vec<&str>) = changed.unzip();
        if !left.is_empty() {
            self.line(&format!("{} ← {}", left.join(", "), right.join(", ")));
        }
        self.depth -= 1;
        for (result, name) in results.iter().zip(names) {
            self.texts.insert(*result, Text::name(name));
        }
    }

    /// `z ← [.. for b in batches(1, size)]`.
    pub(super) fn collect(&mut self, operands: &[Text], results: &[Value], region: &Region) {
        let batch = self.unique("b");
        if let Some(arg) = region.args.first() {
            self.texts.insert(*arg, Text::name(batch.clone()));
        }
        self.region(region);
        let size = operands.get(1).map(Text::plain).unwrap_or_default();
        for (result, yielded) in results.iter().zip(&region.yields) {
            let each = self.text(*yielded);
            let name = self.unique("z");
            self.line(&format!(
                "{name} ← [{} for {batch} in batches(1, {size})]",
                each.plain()
            ));
            self.texts.insert(*result, Text::name(name));
        }
    }

    pub(super) fn grad(
        &mut self,
        operands: &[Text],
        gradient: Value,
        value: Value,
        region: &Region,
    ) {
        let at = operands.first().cloned().unwrap_or_else(|| Text::name("?"));
        // A function of an expression needs a variable for it.
        let variable = if at.is_name() {
            at.plain().to_owned()
        } else {
            self.unique("v")
        };
        if let Some(arg) = region.args.first() {
            self.texts.insert(*arg, Text::name(variable.clone()));
        }
        self.region(region);
        let body = region
            .yields
            .first()
            .map(|value| self.text(*value))
            .unwrap_or_else(|| Text::name("?"));
        let text = if at.is_name() {
            format!("∇[{}]", body.plain())
        } else {
            format!(
                "∇_{variable}[{}]({variable} = {})",
                body.plain(),
                at.plain()
            )
        };
        self.texts.insert(gradient, Text::factor(text));
        if self.read_again(gradient) {
            self.bind(gradient, "g");
        }
        self.texts.insert(value, body);
        if self.uses.contains_key(&value) {
            self.bind(value, "a");
        }
    }
}
