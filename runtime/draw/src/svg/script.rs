//! Turns a fed module into the list of things to draw, in order: boxes, frames and crossings.

use std::collections::HashMap;

use fedround_ir::fed::{
    ArithOp, ExternalOp, FedOp, Func, Hook, Kind, Module, Op, OpKind, OptOp, Place, PrivacyOp,
    Region, Value,
};
use fedround_passes::report::notation::{Text, count_uses};
use fedround_passes::report::{Count, Wire, wire};

use super::scene::{Item, OpBox, Scene};

/// The scenes of a module, one for each function. Where the model's parameters are
/// counted, bytes are numbers too.
pub(super) fn scenes<'m>(module: &'m Module, parameters: Option<Count<'m>>) -> Vec<Scene> {
    let linked = module.is_linked();
    let mut script = Script {
        module,
        linked,
        parameters,
        hypers: (0..module.hypers.len())
            .map(|i| module.hyper_label(i))
            .collect(),
        texts: HashMap::new(),
        uses: HashMap::new(),
        taken: HashMap::new(),
        cohorts: HashMap::new(),
        wires: wire(module),
    };
    module.funcs.iter().map(|func| script.scene(func)).collect()
}

pub(super) struct Script<'m> {
    pub(super) module: &'m Module,
    pub(super) linked: bool,
    pub(super) parameters: Option<Count<'m>>,
    pub(super) hypers: Vec<String>,
    pub(super) texts: HashMap<Value, Text>,
    uses: HashMap<Value, usize>,
    /// How often a name was given.
    pub(super) taken: HashMap<String, usize>,
    /// The cohort that a clients' value is over.
    pub(super) cohorts: HashMap<Value, String>,
    /// What crosses; taken out when it is drawn.
    pub(super) wires: Vec<Wire>,
}

impl Script<'_> {
    fn scene(&mut self, func: &Func) -> Scene {
        // The names of hyper-parameters are no others'.
        let hypers = self.hypers.iter().map(|name| (name.clone(), 1));
        self.taken = hypers.collect();
        count_uses(&func.body, &mut self.uses);
        let round = func.hook == Hook::Round && self.linked;
        for (arg, name) in func.body.args.iter().zip(func.hook.arg_names()) {
            self.taken.insert((*name).to_owned(), usize::from(!round));
            let name = if round { "wᵗ" } else { name };
            self.texts.insert(*arg, Text::name(name));
        }
        let end = if round { "wᵗ⁺¹" } else { "" };
        let mut items = self.region(&func.body, &[end.to_owned()]);
        if round {
            self.rename(&func.body.yields, &[end.to_owned()], &mut items);
        } else {
            items.push(Item::Op(OpBox {
                text: format!("return {}", self.list(&func.body.yields)),
                op: "fed.yield".to_owned(),
            }));
        }
        let layer = self.module.layers.get(func.layer).map_or("?", |l| &l.name);
        let title = if round {
            format!("{}, round t", self.module.name())
        } else {
            let args = func.hook.arg_names().join(", ");
            format!("{layer}::{}({args})", func.hook.name())
        };
        Scene {
            title,
            place: func.hook.place(),
            start: if round {
                "wᵗ".to_owned()
            } else {
                String::new()
            },
            items,
            end: end.to_owned(),
        }
    }

    pub(super) fn text(&self, value: Value) -> Text {
        let known = self.texts.get(&value).cloned();
        known.unwrap_or_else(|| Text::name("?"))
    }

    /// Values go by these names from here on.
    pub(super) fn give_names(&mut self, values: &[Value], names: &[String]) {
        for (value, name) in values.iter().zip(names) {
            self.texts.insert(*value, Text::name(name.clone()));
        }
    }

    pub(super) fn list(&self, values: &[Value]) -> String {
        let texts = values.iter().map(|v| self.text(*v).plain().to_owned());
        texts.collect::<Vec<_>>().join(", ")
    }

    pub(super) fn kind(&self, value: Value) -> Kind {
        self.module.type_of(value).kind
    }

    pub(super) fn place(&self, value: Value) -> Place {
        self.module.type_of(value).place
    }

    /// The items of a region. Where its last op gives one of its yields, that value goes by the
    /// name in `finals`, if there is one.
    pub(super) fn region(&mut self, region: &Region, finals: &[String]) -> Vec<Item> {
        let mut items = vec![];
        for (index, op) in region.ops.iter().enumerate() {
            let is_last = index + 1 == region.ops.len();
            let wanted = match op.results.as_slice() {
                [result] if is_last => {
                    let yielded = region.yields.iter().position(|v| v == result);
                    yielded
                        .and_then(|i| finals.get(i))
                        .filter(|name| !name.is_empty())
                }
                _ => None,
            };
            self.op(op, wanted.cloned(), &mut items);
        }
        items
    }

    /// A line that gives values their final names, unless they have them.
    pub(super) fn rename(&mut self, values: &[Value], names: &[String], items: &mut Vec<Item>) {
        let renamed = values.iter().zip(names).filter_map(|(value, name)| {
            let text = self.text(*value);
            (text.plain() != name).then(|| (name.clone(), text.plain().to_owned()))
        });
        let (left, right): (Vec<String>, Vec<String>) = renamed.unzip();
        if !left.is_empty() {
            items.push(Item::Op(OpBox {
                text: format!("{} ← {}", left.join(", "), right.join(", ")),
                op: String::new(),
            }));
        }
        self.give_names(values, names);
    }

    fn op(&mut self, op: &Op, wanted: Option<String>, items: &mut Vec<Item>) {
        if let Some(cohort) = self.cohort_of(op) {
            let of = op.results.iter().map(|v| (*v, cohort.clone()));
            self.cohorts.extend(of);
        }
        match (&op.kind, op.results.as_slice(), op.regions.as_slice()) {
            (OpKind::Fed(FedOp::Broadcast | FedOp::Dispatch), [sent], _) => {
                self.broadcast(op, *sent, items)
            }
            (OpKind::Fed(FedOp::Mix(_)), results, _) => self.mix(op, results, items),
            (OpKind::Fed(FedOp::Gather | FedOp::Scatter), [result], _) => {
                self.hand_over(op, *result, items)
            }
            (OpKind::Fed(FedOp::Reduce(_)), [result], _) => self.reduce(op, *result, wanted, items),
            (OpKind::Fed(FedOp::AllClients), [cohort], _) => {
                self.texts.insert(*cohort, Text::name("all clients"));
            }
            (_, results, [region]) => {
                let frame = match op.kind {
                    OpKind::Fed(FedOp::Map) => self.map(op, results, region),
                    OpKind::Opt(OptOp::Grad) => self.grad(op, results, region),
                    OpKind::Opt(OptOp::Collect) => self.collect(op, results, region),
                    _ => self.repeat(op, results, region),
                };
                items.extend(frame.map(Item::Frame));
            }
            (kind, [result], _) => {
                let text = self.expression(op);
                let inline = match kind {
                    OpKind::External(ExternalOp::Column(..))
                    | OpKind::Fed(FedOp::NumExamples | FedOp::ClientNumber) => true,
                    OpKind::Arith(
                        ArithOp::Add
                        | ArithOp::Sub
                        | ArithOp::Mul
                        | ArithOp::Div
                        | ArithOp::Neg
                        | ArithOp::Pow
                        | ArithOp::Math(_),
                    )
                    | OpKind::Fed(FedOp::RoundIndex | FedOp::NumClients) => {
                        self.uses.get(result) == Some(&1) && wanted.is_none()
                    }
                    kind => kind.is_constant(),
                };
                if inline {
                    self.texts.insert(*result, text);
                    return;
                }
                let name = wanted.unwrap_or_else(|| self.name(*result, kind));
                items.push(Item::Op(OpBox {
                    text: format!("{name} ← {}", text.plain()),
                    op: kind.name(),
                }));
                self.texts.insert(*result, Text::name(name));
            }
            (OpKind::Privacy(PrivacyOp::Claim(dp)), _, _) => items.push(Item::Op(OpBox {
                text: format!("claim {} differential privacy", dp.name()),
                op: op.kind.name(),
            })),
            (OpKind::Fed(FedOp::SetServerState(name) | FedOp::SetClientState(name)), _, _) => {
                let value = op.operands.last().map(|v| self.text(*v));
                let value = value.as_ref().map(Text::plain).unwrap_or_default();
                items.push(Item::Op(OpBox {
                    text: format!("{} ← {value}", self.state(name)),
                    op: op.kind.name(),
                }));
            }
            (kind, results, _) => {
                let names: Vec<String> = results.iter().map(|v| self.name(*v, kind)).collect();
                let text = self.expression(op);
                self.give_names(results, &names);
                let arrow = if names.is_empty() { "" } else { " ← " };
                items.push(Item::Op(OpBox {
                    text: format!("{}{arrow}{}", names.join(", "), text.plain()),
                    op: kind.name(),
                }));
            }
        }
    }
}
