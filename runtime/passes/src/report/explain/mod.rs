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

use fedround_ir::fed::{
    Choice, FedOp, Hyper, Kind, Module, Op, OpKind, OptOp, Place, PrivacyOp, Reduce, Region, Value,
};

pub mod notation;
mod regions;

use notation::{Text, count_uses, expression, reduction};

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

    /// Gives a value a name by a line `name ← text`, unless it is one already.
    pub(super) fn bind(&mut self, value: Value, base: &str) {
        let text = self.text(value);
        if !text.is_name() {
            let name = self.unique(base);
            self.line(&format!("{name} ← {}", text.plain()));
            self.texts.insert(value, Text::name(name));
        }
    }

    /// A state that has another value before it is first set, which goes by some name.
    fn state_or(&mut self, (state, name): (&str, &str), operands: &[Text], result: Value) {
        let first = operands.last().map(Text::plain).unwrap_or_default();
        let text = format!("state({}) or {first}", own(state));
        self.texts.insert(result, Text::sum(text));
        self.bind(result, name);
    }

    /// Rows of a tensor are over the cohort that they are split for.
    fn split_over(&mut self, op: &Op, result: Value) {
        if let (OpKind::Fed(FedOp::Split(_)), Some(whose)) = (&op.kind, op.operands.last()) {
            let cohort = self.cohorts.get(whose).cloned().unwrap_or_default();
            self.cohorts.insert(result, cohort);
        }
    }

    fn op(&mut self, op: &Op) {
        let operands = self.texts(&op.operands);
        match (&op.kind, op.results.as_slice(), op.regions.as_slice()) {
            (OpKind::Fed(FedOp::Sample), [cohort], _) => {
                self.texts.insert(*cohort, Text::call("sample", &operands));
                self.bind(*cohort, "S");
            }
            (OpKind::Fed(FedOp::AllClients), [cohort], _) => {
                self.texts.insert(*cohort, Text::name("all clients"));
            }
            (OpKind::Fed(FedOp::Rotating), [cohort], _) => {
                self.texts
                    .insert(*cohort, Text::call("rotating", &operands));
                self.bind(*cohort, "S");
            }
            (OpKind::Fed(FedOp::Choose(choice)), [cohort], _) => {
                let text = match (choice, operands.as_slice()) {
                    (Choice::Where, [number]) => {
                        Text::factor(format!("clients with {} > 0", number.plain()))
                    }
                    (Choice::Union, [a, b]) => {
                        Text::factor(format!("{} ∪ {}", a.plain(), b.plain()))
                    }
                    (Choice::Bernoulli, all) => Text::call("bernoulli", all),
                    (Choice::SampleBy, all) => Text::call("sample_by", all),
                    (Choice::Top, all) => Text::call("top", all),
                    (Choice::Where | Choice::Union, all) => Text::call("clients", all),
                };
                self.texts.insert(*cohort, text);
                self.bind(*cohort, "S");
            }
            (OpKind::Fed(FedOp::Members), [number], _) => {
                let cohort = operands.first().map(|c| c.plain().to_owned());
                self.texts.insert(*number, Text::name("k"));
                self.cohorts.insert(*number, cohort.unwrap_or_default());
            }
            (OpKind::Fed(FedOp::Restrict), [result], _) => {
                if let [value, cohort] = operands.as_slice() {
                    self.texts.insert(*result, value.clone());
                    self.cohorts.insert(*result, cohort.plain().to_owned());
                }
            }
            // Bound at once: each use draws anew.
            (OpKind::Fed(FedOp::Uniform(stream) | FedOp::Normal(stream)), [number], _) => {
                let function = match op.kind {
                    OpKind::Fed(FedOp::Normal(_)) => "normal",
                    _ => "uniform",
                };
                let text = Text::call(function, &[Text::name(own(stream))]);
                self.texts.insert(*number, text);
                self.bind(*number, "u");
            }
            (OpKind::Fed(FedOp::Permutation(stream)), [order], _) => {
                let n = operands.first().cloned();
                let of: Vec<Text> = n.into_iter().chain([Text::name(own(stream))]).collect();
                self.texts.insert(*order, Text::call("permutation", &of));
                self.bind(*order, "π");
            }
            (OpKind::Fed(FedOp::Within | FedOp::Outside), [cohort], _) => {
                let name = match op.kind {
                    OpKind::Fed(FedOp::Within) => "clients",
                    _ => "all but clients",
                };
                let range = operands.iter().map(Text::plain).collect::<Vec<_>>();
                let text = Text::factor(format!("{name} [{}]", range.join(", +")));
                self.texts.insert(*cohort, text);
                self.bind(*cohort, "S");
            }
            (OpKind::Fed(FedOp::Arrivals), [cohort], _) => {
                self.texts
                    .insert(*cohort, Text::call("arrivals", &operands));
                self.bind(*cohort, "S");
            }
            (OpKind::Fed(FedOp::Staleness), [number], _) => {
                self.texts.insert(*number, Text::name("staleness_k"));
                let of = op
                    .operands
                    .first()
                    .map(|v| self.text(*v).plain().to_owned());
                self.cohorts.insert(*number, of.unwrap_or_default());
            }
            (OpKind::Fed(FedOp::Dispatch), [sent], _) => {
                if let [value, cohort] = op.operands.as_slice() {
                    self.bind(*value, "c");
                    let began = format!("{} when k began", self.text(*value).plain());
                    self.texts.insert(*sent, Text::sum(began));
                    self.cohorts
                        .insert(*sent, self.text(*cohort).plain().to_owned());
                }
            }
            (OpKind::Fed(FedOp::Broadcast), [sent], _) => {
                if let [value, cohort] = op.operands.as_slice() {
                    self.bind(*value, "c");
                    self.texts.insert(*sent, self.text(*value));
                    self.cohorts
                        .insert(*sent, self.text(*cohort).plain().to_owned());
                }
            }
            (OpKind::Fed(FedOp::Gather | FedOp::Scatter), [result], _) => {
                if let [value, at @ ..] = op.operands.as_slice() {
                    let text = self.text(*value);
                    let cohort = match (&op.kind, at) {
                        (OpKind::Fed(FedOp::Scatter), [at]) => {
                            format!("{}, for each {}", self.text(*at).plain(), text.plain())
                        }
                        _ => {
                            let of = self.cohorts.get(at.first().unwrap_or(value));
                            of.cloned().unwrap_or_default()
                        }
                    };
                    self.texts.insert(*result, text);
                    self.cohorts.insert(*result, cohort);
                }
            }
            (OpKind::Fed(FedOp::Mix(topology)), results, _) => {
                for ((value, result), text) in op.operands.iter().zip(results).zip(&operands) {
                    let text = Text::call(
                        &format!("mix_{}", topology.name()),
                        std::slice::from_ref(text),
                    );
                    self.texts.insert(*result, text);
                    let cohort = self.cohorts.get(value).cloned().unwrap_or_default();
                    self.cohorts.insert(*result, cohort);
                    let name = self.name_of_each(*result);
                    self.bind(*result, name);
                }
            }
            (OpKind::Fed(FedOp::Consensus), [result], _) => {
                self.texts
                    .insert(*result, reduction(Reduce::Mean, &operands));
            }
            (OpKind::Fed(FedOp::Reduce(reduce)), [result], _) => {
                let text = reduction(*reduce, &operands);
                self.texts.insert(*result, text);
            }
            (OpKind::Fed(FedOp::SetServerState(name) | FedOp::SetClientState(name)), _, _) => {
                let value = operands.last().map(Text::plain).unwrap_or_default();
                let state = if self.personal.contains(name) {
                    "personal"
                } else {
                    "state"
                };
                self.line(&format!("{state}({}) ← {value}", own(name)));
            }
            (OpKind::Fed(FedOp::ServerStateOr(state)), [result], _) => {
                self.state_or((state, own(state)), &operands, *result);
            }
            (OpKind::Fed(FedOp::Personal(state, parts)), [result], _) if parts.is_empty() => {
                self.state_or((state, "v"), &operands, *result);
            }
            (OpKind::Fed(FedOp::Personal(state, parts)), [result], _) => {
                let parts = Text::name(parts.join(", "));
                self.personal.insert(state.clone());
                self.texts.insert(*result, Text::call("personal", &[parts]));
                self.bind(*result, "v");
            }
            (OpKind::Opt(OptOp::OneBatch), [batch], _) => {
                let size = operands.last().cloned();
                let text = Text::call("batch", &size.into_iter().collect::<Vec<_>>());
                self.texts.insert(*batch, text);
                self.bind(*batch, "b");
            }
            (OpKind::Privacy(PrivacyOp::Claim(dp)), _, _) => {
                self.line(&format!("claims {} differential privacy", dp.name()));
            }
            // Bound at once: a later line may set the state.
            (
                OpKind::Fed(FedOp::ServerState(name, _) | FedOp::ClientState(name, _)),
                [result],
                _,
            ) => {
                self.texts
                    .insert(*result, Text::call("state", &[Text::name(own(name))]));
                self.bind(*result, own(name));
            }
            (OpKind::Fed(FedOp::Map), results, [region]) => self.map(op, results, region),
            (
                OpKind::Opt(OptOp::ForBatches | OptOp::ForRows(_) | OptOp::Repeat)
                | OpKind::Fed(FedOp::InTurn),
                results,
                [region],
            ) => self.repeat(op, results, region),
            (OpKind::Opt(OptOp::Collect), results, [region]) => {
                self.collect(&operands, results, region)
            }
            (OpKind::Opt(OptOp::SampleRows | OptOp::SmallestRows), results, _) => {
                let names: Vec<String> = results.iter().map(|_| self.unique("r")).collect();
                let least = op.kind == OpKind::Opt(OptOp::SmallestRows);
                let text = Text::call(if least { "smallest" } else { "sample_rows" }, &operands);
                self.line(&format!("{} ← {}", names.join(", "), text.plain()));
                for (result, name) in results.iter().zip(names) {
                    self.texts.insert(*result, Text::name(name));
                }
            }
            (OpKind::Opt(OptOp::Grad), [gradient, value], [region]) => {
                self.grad(&operands, *gradient, *value, region)
            }
            (kind, [result], _) => {
                self.texts
                    .insert(*result, expression(kind, &operands, &self.hypers));
                self.split_over(op, *result);
                if self.read_again(*result) {
                    self.bind(*result, if self.is_params(*result) { "u" } else { "a" });
                }
            }
            _ => self.line(&op.kind.name()),
        }
    }
}

/// A state's name without its layer.
fn own(name: &str) -> &str {
    name.rsplit('.').next().unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fed::link;
    use crate::testing::{Closure, FedAvg, FedProx, control_variates, dp_own_head};

    #[test]
    fn fed_prox_reads_like_its_box() {
        let staged = fedround::stage(&FedProx {
            base: FedAvg::default(),
            mu: 0.1,
        })
        .unwrap();
        let module = link(staged).unwrap().module;
        assert_eq!(
            explain(&module),
            "\
fedprox, round t
  S ← sample(fraction)
  for k ∈ S in parallel
    w ← wᵗ
    for b in batches(epochs, batch)
      w ← w − lr · ∇[cross_entropy(model(w, b.x), b.y) + 0.5 · mu · ‖w − wᵗ‖²]
    w_k ← w
  wᵗ⁺¹ ← Σ n_k · w_k / Σ n_k
"
        );
        let letters = explain_with(&module, |hyper| {
            (hyper.field() == "lr").then(|| "η".to_owned())
        });
        assert!(letters.contains("w − η · ∇["), "{letters}");
    }

    #[test]
    fn states_and_shared_values_have_lines_of_their_own() {
        let staged = fedround::stage(&Closure(control_variates)).unwrap();
        let module = link(staged).unwrap().module;
        assert_eq!(
            explain(&module),
            "\
test, round t
  S ← sample(fraction)
  c ← state(c)
  for k ∈ S in parallel
    c_k ← state(c_k)
    w ← wᵗ
    for b in batches(1, 10)
      w ← w − lr · (∇[cross_entropy(model(w, b.x), b.y)] − c_k + c)
    u ← c_k − c + 0.5 · (wᵗ − w)
    state(c_k) ← u
    w_k ← w
    w_k2 ← u − c_k
  state(c) ← c + 1/m Σ w_k2
  wᵗ⁺¹ ← 1/m Σ w_k
"
        );
    }

    #[test]
    fn clip_noise_and_personal_parts_read_like_their_box() {
        let staged = fedround::stage(&Closure(dp_own_head)).unwrap();
        assert_eq!(
            explain(&link(staged).unwrap().module),
            "\
test, round t
  claims central differential privacy
  S ← sample(fraction)
  for k ∈ S in parallel
    v ← personal(head)
    w ← wᵗ[head ← v]
    for b in batches(1, 10)
      w ← w − 0.1 · ∇[cross_entropy(model(w, b.x), b.y)]
    personal(head) ← w
    w_k ← clip(w[head ← wᵗ] − wᵗ, clip)
  wᵗ⁺¹ ← wᵗ + 1/m Σ w_k + N(0, (z · clip)²)
"
        );
    }

    #[test]
    fn chosen_cohorts_and_draws_read_like_their_box() {
        let text = include_str!("../../../../ir/tests/texts/chosen.fed");
        assert_eq!(
            explain(&fedround_ir::fed::parse(text).unwrap()),
            "\
test, round t
  for k ∈ all clients on the server
    loss ← state(loss)
    u ← uniform(tie)
    a ← loss / seconds_k + u
    state(loss) ← a
    a_k ← a
  S ← sample_by(a_k, count)
  S2 ← top(a_k, count)
  S3 ← S ∪ S2
  S4 ← bernoulli(p)
  S5 ← bernoulli(a_k)
  second ← state(second) or initial(1)
  u2 ← uniform(mix)
  u3 ← normal(mix)
  c ← u3 · [wᵗ if u2 > 0 else second]
  for k ∈ S3 in parallel
    u4 ← normal(size)
    π ← permutation(n, order)
    w_k ← u4 · c
    a_k2 ← u4
  S6 ← clients with a_k2 > 0
  state(second) ← Σ a_k2 · w_k
  wᵗ⁺¹ ← 1/m Σ wᵗ
"
        );
    }
}
