//! A fed module as what is drawn: boxes, frames and crossings, in order.

use std::collections::HashMap;

use fedround_ir::fed::{Func, Kind, Module, Op, OpKind, Place, Region, Slot, Value};
use fedround_passes::fed::notation::{Text, count_uses, expression, reduction};
use fedround_passes::fed::{Direction, Protection, Wire, wire};
use fedround_passes::units;

/// One thing on a lane.
#[derive(Clone, Debug)]
pub(super) enum Item {
    /// An op, or the values that a region gives.
    Step(Step),
    /// A region.
    Frame(Frame),
    /// Values that cross between the lanes.
    Crossing(Crossing),
}

#[derive(Clone, Debug)]
pub(super) struct Step {
    pub text: String,
    /// The op's name; empty for a line that names a value anew.
    pub op: String,
}

#[derive(Clone, Debug)]
pub(super) struct Frame {
    pub title: String,
    /// What its variables start from.
    pub note: String,
    pub op: String,
    pub is_grad: bool,
    pub items: Vec<Item>,
}

#[derive(Clone, Debug)]
pub(super) struct Crossing {
    pub direction: Direction,
    /// What the server does.
    pub server: Step,
    /// What crosses.
    pub sent: Vec<Sent>,
}

#[derive(Clone, Debug)]
pub(super) struct Sent {
    pub name: String,
    pub derived: String,
    pub bytes: String,
}

/// A function's items, with its title and where it runs.
#[derive(Clone, Debug)]
pub(super) struct Scene {
    pub title: String,
    pub place: Place,
    /// The parameters that a round starts from; empty for what is no round.
    pub start: String,
    pub items: Vec<Item>,
    /// Those that it ends with.
    pub end: String,
}

/// The scenes of a module, one for each function. With the number of the model's parameters,
/// bytes are numbers too.
pub(super) fn scenes(module: &Module, parameters: Option<usize>) -> Vec<Scene> {
    let linked = module.is_linked();
    let wires = wire(module).into_iter().map(|row| (row.value, row));
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
        wires: wires.collect(),
    };
    module.funcs.iter().map(|func| script.scene(func)).collect()
}

struct Script<'m> {
    module: &'m Module,
    linked: bool,
    parameters: Option<usize>,
    hypers: Vec<String>,
    texts: HashMap<Value, Text>,
    uses: HashMap<Value, usize>,
    /// How often a name was given.
    taken: HashMap<String, usize>,
    /// The cohort that a clients' value is over.
    cohorts: HashMap<Value, String>,
    /// What crosses by which value; taken out when it is drawn.
    wires: HashMap<Value, Wire>,
}

impl Script<'_> {
    fn scene(&mut self, func: &Func) -> Scene {
        self.taken.clear();
        count_uses(&func.body, &mut self.uses);
        let round = func.slot == Slot::Round && self.linked;
        for (arg, name) in func.body.args.iter().zip(func.slot.arg_names()) {
            self.taken.insert((*name).to_owned(), usize::from(!round));
            let name = if round { "wᵗ" } else { name };
            self.texts.insert(*arg, Text::name(name));
        }
        let end = if round { "wᵗ⁺¹" } else { "" };
        let mut items = self.region(&func.body, &[end.to_owned()]);
        if round {
            self.rename(&func.body.yields, &[end.to_owned()], &mut items);
        } else {
            items.push(Item::Step(Step {
                text: format!("return {}", self.list(&func.body.yields)),
                op: "fed.yield".to_owned(),
            }));
        }
        let layer = self.module.layers.get(func.layer).map_or("?", |l| &l.name);
        let title = if round {
            format!("{}, round t", self.module.name())
        } else {
            let args = func.slot.arg_names().join(", ");
            format!("{layer}::{}({args})", func.slot.name())
        };
        Scene {
            title,
            place: func.slot.place(),
            start: if round {
                "wᵗ".to_owned()
            } else {
                String::new()
            },
            items,
            end: end.to_owned(),
        }
    }

    fn text(&self, value: Value) -> Text {
        let known = self.texts.get(&value).cloned();
        known.unwrap_or_else(|| Text::name("?"))
    }

    fn list(&self, values: &[Value]) -> String {
        let texts = values.iter().map(|v| self.text(*v).plain().to_owned());
        texts.collect::<Vec<_>>().join(", ")
    }

    fn kind(&self, value: Value) -> Kind {
        self.module.type_of(value).kind
    }

    /// A name of its own for each value: `u`, `u2`, ….
    fn unique(&mut self, base: &str) -> String {
        let count = self.taken.entry(base.to_owned()).or_default();
        *count += 1;
        match *count {
            1 => base.to_owned(),
            n => format!("{base}{n}"),
        }
    }

    fn name(&mut self, value: Value, op: &OpKind) -> String {
        let base = match (op, self.kind(value)) {
            (OpKind::Sample, _) => "S",
            (OpKind::ServerState(name) | OpKind::ClientState(name), _) => own(name),
            (OpKind::Predict, _) => "z",
            (OpKind::Loss(_), _) => "ℓ",
            (_, Kind::Params) => "u",
            (_, Kind::Tensor) => "h",
            _ => "a",
        };
        self.unique(base)
    }

    /// The items of a region. Where its last op gives one of its yields, that value goes by the
    /// name in `finals`, if there is one.
    fn region(&mut self, region: &Region, finals: &[String]) -> Vec<Item> {
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
    fn rename(&mut self, values: &[Value], names: &[String], items: &mut Vec<Item>) {
        let renamed = values.iter().zip(names).filter_map(|(value, name)| {
            let text = self.text(*value);
            (text.plain() != name).then(|| (name.clone(), text.plain().to_owned()))
        });
        let (left, right): (Vec<String>, Vec<String>) = renamed.unzip();
        if !left.is_empty() {
            items.push(Item::Step(Step {
                text: format!("{} ← {}", left.join(", "), right.join(", ")),
                op: String::new(),
            }));
        }
        for (value, name) in values.iter().zip(names) {
            self.texts.insert(*value, Text::name(name.clone()));
        }
    }

    fn op(&mut self, op: &Op, wanted: Option<String>, items: &mut Vec<Item>) {
        match (&op.kind, op.results.as_slice(), op.regions.as_slice()) {
            (OpKind::Broadcast, [sent], _) => self.broadcast(op, *sent, items),
            (OpKind::Reduce(_), [result], _) => self.reduce(op, *result, wanted, items),
            (OpKind::Everyone, [cohort], _) => {
                self.texts.insert(*cohort, Text::name("all clients"));
            }
            (_, results, [region]) => {
                let frame = match op.kind {
                    OpKind::Map => self.map(op, results, region),
                    OpKind::Grad => self.grad(op, results, region),
                    _ => self.repeat(op, results, region),
                };
                items.extend(frame.map(Item::Frame));
            }
            (kind, [result], _) => {
                let text = self.expression(op);
                let inline = match kind {
                    OpKind::BatchX | OpKind::BatchY | OpKind::NumExamples => true,
                    OpKind::Add | OpKind::Sub | OpKind::Mul | OpKind::Div | OpKind::Neg => {
                        self.uses.get(result) == Some(&1) && wanted.is_none()
                    }
                    kind => kind.is_constant(),
                };
                if inline {
                    self.texts.insert(*result, text);
                    return;
                }
                let name = wanted.unwrap_or_else(|| self.name(*result, kind));
                items.push(Item::Step(Step {
                    text: format!("{name} ← {}", text.plain()),
                    op: kind.name(),
                }));
                self.texts.insert(*result, Text::name(name));
            }
            (OpKind::SetServerState(name) | OpKind::SetClientState(name), _, _) => {
                let value = op.operands.last().map(|v| self.text(*v));
                let value = value.as_ref().map(Text::plain).unwrap_or_default();
                items.push(Item::Step(Step {
                    text: format!("state({}) ← {value}", own(name)),
                    op: op.kind.name(),
                }));
            }
            (kind, results, _) => {
                let names: Vec<String> = results.iter().map(|v| self.name(*v, kind)).collect();
                let text = self.expression(op);
                for (result, name) in results.iter().zip(&names) {
                    self.texts.insert(*result, Text::name(name.clone()));
                }
                let arrow = if names.is_empty() { "" } else { " ← " };
                items.push(Item::Step(Step {
                    text: format!("{}{arrow}{}", names.join(", "), text.plain()),
                    op: kind.name(),
                }));
            }
        }
    }

    fn expression(&self, op: &Op) -> Text {
        let operands: Vec<Text> = op.operands.iter().map(|v| self.text(*v)).collect();
        match &op.kind {
            OpKind::Call(slot) => Text::call(slot.name(), &operands),
            OpKind::Super(slot) => Text::call(&format!("base.{}", slot.name()), &operands),
            OpKind::Received => Text::call("received", &operands),
            OpKind::ServerState(name) | OpKind::ClientState(name) => {
                Text::call("state", &[Text::name(own(name))])
            }
            kind => {
                let text = expression(kind, &operands, &self.hypers);
                // An op without a notation of its own goes by its name, without the dialect.
                match kind.name().split_once('.') {
                    Some((_, name)) if text.plain().starts_with(&kind.name()) => {
                        Text::call(name, &operands)
                    }
                    _ => text,
                }
            }
        }
    }

    fn broadcast(&mut self, op: &Op, result: Value, items: &mut Vec<Item>) {
        let [value, cohort] = op.operands.as_slice() else {
            return;
        };
        let text = self.text(*value);
        if !text.is_name() {
            let name = self.unique("c");
            let names = [name];
            self.rename(&[*value], &names, items);
        }
        let text = self.text(*value);
        let cohort = self.text(*cohort).plain().to_owned();
        let server = Step {
            text: format!("broadcast {} to {cohort}", text.plain()),
            op: op.kind.name(),
        };
        self.texts.insert(result, text);
        self.cohorts.insert(result, cohort);
        self.cross(Direction::Down, server, &[result], items);
    }

    fn reduce(&mut self, op: &Op, result: Value, wanted: Option<String>, items: &mut Vec<Item>) {
        let OpKind::Reduce(reduce) = op.kind else {
            return;
        };
        let operands: Vec<Text> = op.operands.iter().map(|v| self.text(*v)).collect();
        let name = wanted.unwrap_or_else(|| self.name(result, &op.kind));
        let server = Step {
            text: format!("{name} ← {}", reduction(reduce, &operands).plain()),
            op: op.kind.name(),
        };
        self.texts.insert(result, Text::name(name));
        self.cross(Direction::Up, server, &op.operands, items);
    }

    /// What crosses; a plain step on the server where all of it has crossed before.
    fn cross(
        &mut self,
        direction: Direction,
        server: Step,
        values: &[Value],
        items: &mut Vec<Item>,
    ) {
        let mut sent = vec![];
        for value in values {
            let Some(row) = self.wires.remove(value) else {
                continue;
            };
            let formula = row.formula();
            sent.push(Sent {
                name: self.text(*value).plain().to_owned(),
                derived: match row.protection {
                    // What a function's arguments are derived from shows once it is linked.
                    Protection::None if self.linked => row.derived.clone(),
                    Protection::None => row.kind.to_string(),
                },
                bytes: match self.parameters {
                    Some(p) if row.kind == Kind::Params => {
                        format!("{formula} = {}", units::bytes(row.bytes(p) as u64))
                    }
                    Some(p) => units::bytes(row.bytes(p) as u64),
                    None => format!("{formula} bytes"),
                },
            });
        }
        items.push(if sent.is_empty() {
            Item::Step(server)
        } else {
            Item::Crossing(Crossing {
                direction,
                server,
                sent,
            })
        });
    }

    /// Nothing for a map that only names values, such as `n_k`.
    fn map(&mut self, op: &Op, results: &[Value], region: &Region) -> Option<Frame> {
        if let Some(client) = region.args.first() {
            self.texts.insert(*client, Text::name("k"));
        }
        for (arg, operand) in region.args.iter().skip(1).zip(&op.operands) {
            let text = self.text(*operand);
            self.texts.insert(*arg, text);
        }
        let cohort = op
            .operands
            .iter()
            .find_map(|v| self.cohorts.get(v).cloned());
        let cohort = cohort.unwrap_or_else(|| "cohort".to_owned());
        let mut items = self.region(region, &[]);
        let plain = items.is_empty() && region.yields.iter().all(|v| self.text(*v).is_name());
        if plain {
            for (result, yielded) in results.iter().zip(&region.yields) {
                let text = self.text(*yielded);
                self.texts.insert(*result, text);
                self.cohorts.insert(*result, cohort.clone());
            }
            return None;
        }
        let names = results.iter().map(|result| {
            let base = if self.kind(*result) == Kind::Params {
                "w_k"
            } else {
                "a_k"
            };
            self.unique(base)
        });
        let names: Vec<String> = names.collect();
        self.rename(&region.yields, &names, &mut items);
        for (result, name) in results.iter().zip(names) {
            self.texts.insert(*result, Text::name(name));
            self.cohorts.insert(*result, cohort.clone());
        }
        Some(Frame {
            title: format!("for each client k ∈ {cohort}, in parallel"),
            note: String::new(),
            op: op.kind.name(),
            is_grad: false,
            items,
        })
    }

    fn repeat(&mut self, op: &Op, results: &[Value], region: &Region) -> Option<Frame> {
        let fixed = op.operands.len().saturating_sub(results.len());
        let (control, first) = op.operands.split_at(fixed);
        let own = region.args.len().saturating_sub(first.len());
        let title = match (&op.kind, control) {
            (OpKind::ForBatches, [_, epochs, size]) => {
                let b = self.unique("b");
                if let Some(arg) = region.args.first() {
                    self.texts.insert(*arg, Text::name(b.clone()));
                }
                let (epochs, size) = (self.text(*epochs), self.text(*size));
                format!("for {b} in batches({}, {})", epochs.plain(), size.plain())
            }
            _ => format!("{} times", self.list(control)),
        };
        let mut notes = vec![];
        let mut names = vec![];
        for (arg, start) in region.args.iter().skip(own).zip(first) {
            let base = if self.kind(*arg) == Kind::Params {
                "w"
            } else {
                "s"
            };
            let name = self.unique(base);
            notes.push(format!("{name} = {}", self.text(*start).plain()));
            self.texts.insert(*arg, Text::name(name.clone()));
            names.push(name);
        }
        let mut items = self.region(region, &names);
        self.rename(&region.yields, &names, &mut items);
        for (result, name) in results.iter().zip(names) {
            self.texts.insert(*result, Text::name(name));
        }
        Some(Frame {
            title,
            note: format!("starting from {}", notes.join(", ")),
            op: op.kind.name(),
            is_grad: false,
            items,
        })
    }

    fn grad(&mut self, op: &Op, results: &[Value], region: &Region) -> Option<Frame> {
        let at = op.operands.first().map(|v| self.text(*v))?;
        let variable = if at.is_name() {
            at.plain().to_owned()
        } else {
            self.unique("v")
        };
        if let Some(arg) = region.args.first() {
            self.texts.insert(*arg, Text::name(variable.clone()));
        }
        let f = self.unique("f");
        let mut items = self.region(region, std::slice::from_ref(&f));
        self.rename(&region.yields, std::slice::from_ref(&f), &mut items);
        let g = self.unique("g");
        let names = [g.clone(), f.clone()];
        for (result, name) in results.iter().zip(names) {
            self.texts.insert(*result, Text::name(name));
        }
        let note = if at.is_name() {
            String::new()
        } else {
            format!("at {variable} = {}", at.plain())
        };
        Some(Frame {
            title: format!("{g} ← ∇{f}({variable})"),
            note,
            op: op.kind.name(),
            is_grad: true,
            items,
        })
    }
}

/// A state's name without its layer.
fn own(name: &str) -> &str {
    name.rsplit('.').next().unwrap_or(name)
}
