//! Each operation: a name for its results, or a line.

use fedround_ir::fed::{Choice, FedOp, Op, OpKind, OptOp, PrivacyOp, Reduce, Topology, Value};

use super::Printer;
use super::notation::{Text, expression, reduction};

impl Printer<'_> {
    /// A state that has another value before it is first set, which goes by some name.
    fn state_or(&mut self, (state, name): (&str, &str), operands: &[Text], result: Value) {
        let first = operands.last().map(Text::plain).unwrap_or_default();
        let text = format!("state({}) or {first}", own(state));
        self.name(result, Text::sum(text), name);
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
        let name = op.kind.name();
        let function = own(&name);
        match (&op.kind, op.results.as_slice(), op.regions.as_slice()) {
            (
                OpKind::Fed(FedOp::Sample | FedOp::Rotating | FedOp::Reshuffled | FedOp::Arrivals),
                [cohort],
                _,
            ) => self.name(*cohort, Text::call(function, &operands), "S"),
            (OpKind::Fed(FedOp::AllClients), [cohort], _) => {
                self.texts.insert(*cohort, Text::name("all clients"));
            }
            (OpKind::Fed(FedOp::Choose(choice)), [cohort], _) => {
                let text = match (choice, operands.as_slice()) {
                    (Choice::Where, [number]) => {
                        Text::factor(format!("clients with {} > 0", number.plain()))
                    }
                    (Choice::Union, [a, b]) => {
                        Text::factor(format!("{} ∪ {}", a.plain(), b.plain()))
                    }
                    (Choice::Bernoulli | Choice::SampleBy | Choice::Top, all) => {
                        Text::call(function, all)
                    }
                    (Choice::Where | Choice::Union, all) => Text::call("clients", all),
                };
                self.name(*cohort, text, "S");
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
                let text = Text::call(function, &[Text::name(own(stream))]);
                self.name(*number, text, "u");
            }
            (OpKind::Fed(FedOp::Permutation(stream)), [order], _) => {
                let n = operands.first().cloned();
                let of: Vec<Text> = n.into_iter().chain([Text::name(own(stream))]).collect();
                self.name(*order, Text::call(function, &of), "π");
            }
            (OpKind::Fed(FedOp::Within | FedOp::Outside), [cohort], _) => {
                let name = match op.kind {
                    OpKind::Fed(FedOp::Within) => "clients",
                    _ => "all but clients",
                };
                let range = operands.iter().map(Text::plain).collect::<Vec<_>>();
                let text = Text::factor(format!("{name} [{}]", range.join(", +")));
                self.name(*cohort, text, "S");
            }
            (OpKind::Fed(FedOp::Staleness), [number], _) => {
                let cohort = operands.first().map(|c| c.plain().to_owned());
                self.texts.insert(*number, Text::name("staleness_k"));
                self.cohorts.insert(*number, cohort.unwrap_or_default());
            }
            (OpKind::Fed(FedOp::Broadcast | FedOp::Dispatch), [sent], _) => {
                if let [value, cohort] = op.operands.as_slice() {
                    self.bind(*value, "c");
                    let text = self.text(*value);
                    let text = match op.kind {
                        OpKind::Fed(FedOp::Dispatch) => {
                            Text::sum(format!("{} when k began", text.plain()))
                        }
                        _ => text,
                    };
                    self.texts.insert(*sent, text);
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
                    let cohort = self.cohorts.get(value).cloned().unwrap_or_default();
                    self.cohorts.insert(*result, cohort);
                    self.name(*result, text, self.name_of_each(*result));
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
                self.name(*result, Text::call(function, &[parts]), "v");
            }
            (OpKind::Opt(OptOp::OneBatch), [batch], _) => {
                let size = operands.last().cloned();
                let text = Text::call(function, &size.into_iter().collect::<Vec<_>>());
                self.name(*batch, text, "b");
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
                let text = Text::call("state", &[Text::name(own(name))]);
                self.name(*result, text, own(name));
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
            _ => self.line(&name),
        }
    }
}

/// A name without what is before its last dot: a state's without its layer, an op's without its dialect.
fn own(name: &str) -> &str {
    name.rsplit('.').next().unwrap_or(name)
}
