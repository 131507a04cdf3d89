//! The algorithm box: the algorithm as a paper would print it, derived from the linked module.
//!
//! ```text
//! fedprox, round t
//!   S ← sample(fraction)
//!   for k ∈ S in parallel
//!     w ← wᵗ
//!     for b in batches(epochs, batch)
//!       w ← w − lr · ∇[cross_entropy(model(w, b.x), b.y) + 0.5 · mu · ‖w − wᵗ‖²]
//!     w_k ← w
//!   wᵗ⁺¹ ← Σ n_k · w_k / Σ n_k
//! ```

use std::collections::{HashMap, HashSet};

use fedround_ir::fed::{Hyper, Kind, Module, Op, Place, Region, Value};

pub mod notation;
mod ops;
mod regions;

use notation::{Text, count_uses};

/// Prints the algorithm box of a linked module. Hyper-parameters have the names of their fields.
pub fn explain(module: &Module) -> String {
    explain_with(module, |_| None)
}

/// As [`explain`], with a paper's letter for each hyper-parameter that `letter` has one for.
pub fn explain_with(module: &Module, letter: impl Fn(&Hyper) -> Option<String>) -> String {
    let name = |(index, hyper)| letter(hyper).unwrap_or_else(|| module.hyper_label(index));
    let mut printer = Printer {
        module,
        hypers: module.hypers.iter().enumerate().map(name).collect(),
        texts: HashMap::new(),
        cohorts: HashMap::new(),
        uses: HashMap::new(),
        taken: HashMap::new(),
        variables: HashSet::new(),
        personal: HashSet::new(),
        lines: vec![format!("{}, round t", module.name())],
        depth: 1,
    };
    for func in &module.funcs {
        count_uses(&func.body, &mut printer.uses);
        for arg in &func.body.args {
            printer.texts.insert(*arg, Text::name("wᵗ"));
        }
        printer.region(&func.body);
        if let Some(next) = func.body.yields.first() {
            let next = printer.text(*next);
            printer.line(&format!("wᵗ⁺¹ ← {}", next.plain()));
        }
    }
    printer.lines.join("\n") + "\n"
}

pub(super) struct Printer<'m> {
    module: &'m Module,
    hypers: Vec<String>,
    pub(super) texts: HashMap<Value, Text>,
    /// The cohort that a clients' value is over.
    pub(super) cohorts: HashMap<Value, String>,
    pub(super) uses: HashMap<Value, usize>,
    /// How often a name was given.
    taken: HashMap<String, usize>,
    /// Names that loops assign.
    pub(super) variables: HashSet<String>,
    /// States that hold personal parts.
    personal: HashSet<String>,
    pub(super) lines: Vec<String>,
    pub(super) depth: usize,
}

impl Printer<'_> {
    pub(super) fn line(&mut self, text: &str) {
        self.lines
            .push(format!("{:indent$}{text}", "", indent = 2 * self.depth));
    }

    /// A name of its own for each value: `S`, `S2`, ….
    pub(super) fn unique(&mut self, base: &str) -> String {
        let count = self.taken.entry(base.to_owned()).or_default();
        *count += 1;
        if *count == 1 {
            base.to_owned()
        } else {
            format!("{base}{count}")
        }
    }

    pub(super) fn text(&self, value: Value) -> Text {
        self.texts
            .get(&value)
            .cloned()
            .unwrap_or_else(|| Text::name("?"))
    }

    pub(super) fn texts(&self, values: &[Value]) -> Vec<Text> {
        values.iter().map(|value| self.text(*value)).collect()
    }

    /// What a result of a map is called on client `k`.
    pub(super) fn name_of_each(&self, value: Value) -> &'static str {
        match self.module.type_of(value).kind {
            Kind::Params => "w_k",
            Kind::Tensor => "z_k",
            Kind::Labels => "y_k",
            _ => "a_k",
        }
    }

    /// Where code over a cohort runs.
    pub(super) fn on_server(&self, op: &Op) -> bool {
        let place = |value: &Value| self.module.type_of(*value).place;
        op.operands.first().map(place) == Some(Place::Gathered)
    }

    pub(super) fn is_params(&self, value: Value) -> bool {
        self.module
            .types
            .get(value.0 as usize)
            .is_some_and(|ty| ty.kind == Kind::Params)
    }

    pub(super) fn read_again(&self, value: Value) -> bool {
        self.uses.get(&value).is_some_and(|count| *count > 1)
    }

    pub(super) fn region(&mut self, region: &Region) {
        for op in &region.ops {
            self.op(op);
        }
    }

    /// Gives a value a text, and a name by a line `name ← text`, unless the text is one.
    pub(super) fn name(&mut self, value: Value, text: Text, base: &str) {
        self.texts.insert(value, text);
        self.bind(value, base);
    }

    /// Gives a value a name by a line `name ← text`, unless it is one already.
    pub(super) fn bind(&mut self, value: Value, base: &str) {
        let text = self.text(value);
        if !text.is_name() {
            let name = self.unique(base);
            self.line(&format!("{name} ← {}", text.plain()));
            self.texts.insert(value, Text::name(name));
        }
    }
}

#[cfg(test)]
mod tests;
