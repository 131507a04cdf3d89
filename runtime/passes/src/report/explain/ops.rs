//! Each operation: a name for its results, or a line.

use fedround_ir::fed::{Choice, FedOp, Op, OpKind, OptOp, PrivacyOp, Reduce, Topology, Value};

use super::Printer;
use super::notation::{Text, expression, reduction};

impl Printer<'_> {
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

    pub(super) fn op(&mut self, op: &Op) {
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
            (OpKind::Fed(FedOp::Reshuffled), [cohort], _) => {
                self.texts
                    .insert(*cohort, Text::call("reshuffled", &operands));
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
                let name = match topology {
                    Topology::Regular(degree) => format!("mix_regular_{degree}"),
                    topology => format!("mix_{}", topology.name()),
                };
                let weights = operands.get(results.len()..).unwrap_or_default();
                for ((value, result), text) in op.operands.iter().zip(results).zip(&operands) {
                    let text = Text::call(&name, &[std::slice::from_ref(text), weights].concat());
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
