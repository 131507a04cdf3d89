//! Turns operations that communicate into crossings between the lanes.

use fedround_ir::fed::{FedOp, Kind, Op, OpKind, Topology, Value};
use fedround_passes::report::notation::{Text, reduction};
use fedround_passes::report::number_format;
use fedround_passes::report::{Direction, Protection, Wire};

use super::scene::{Crossing, Item, OpBox, Sent};
use super::script::Script;

impl Script<'_> {
    /// One value, to each client; of a dispatch, as it was when the client began.
    pub(super) fn broadcast(&mut self, op: &Op, result: Value, items: &mut Vec<Item>) {
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
        let (verb, received) = match op.kind {
            OpKind::Fed(FedOp::Dispatch) => {
                let began = format!("{} when k began", text.plain());
                ("dispatch", Text::sum(began))
            }
            _ => ("broadcast", text.clone()),
        };
        let server = OpBox {
            text: format!("{verb} {} to {cohort}", text.plain()),
            op: op.kind.name(),
        };
        self.texts.insert(result, received);
        self.cohorts.insert(result, cohort);
        self.cross(Direction::Down, server, &[result], items);
    }

    /// Every client's own value, to the other side.
    pub(super) fn hand_over(&mut self, op: &Op, result: Value, items: &mut Vec<Item>) {
        let [value, at @ ..] = op.operands.as_slice() else {
            return;
        };
        let text = self.text(*value);
        let of = |value: &Value| self.cohorts.get(value).cloned().unwrap_or_default();
        let (verb, direction, crosses) = match op.kind {
            OpKind::Fed(FedOp::Gather) => ("gather", Direction::Up, *value),
            _ => ("scatter", Direction::Down, result),
        };
        let server = OpBox {
            text: format!("{verb} {}, k ∈ {}", text.plain(), of(value)),
            op: op.kind.name(),
        };
        let cohort = match (&op.kind, at) {
            (OpKind::Fed(FedOp::Scatter), [at]) => {
                format!("{}, for each {}", self.text(*at).plain(), text.plain())
            }
            _ => of(at.first().unwrap_or(value)),
        };
        self.texts.insert(result, text);
        self.cohorts.insert(result, cohort);
        self.cross(direction, server, &[crosses], items);
    }

    pub(super) fn reduce(
        &mut self,
        op: &Op,
        result: Value,
        wanted: Option<String>,
        items: &mut Vec<Item>,
    ) {
        let OpKind::Fed(FedOp::Reduce(reduce)) = op.kind else {
            return;
        };
        let operands: Vec<Text> = op.operands.iter().map(|v| self.text(*v)).collect();
        let name = wanted.unwrap_or_else(|| self.name(result, &op.kind));
        let server = OpBox {
            text: format!("{name} ← {}", reduction(reduce, &operands).plain()),
            op: op.kind.name(),
        };
        self.texts.insert(result, Text::name(name));
        self.cross(Direction::Up, server, &op.operands, items);
    }

    /// From clients to clients.
    pub(super) fn mix(&mut self, op: &Op, results: &[Value], items: &mut Vec<Item>) {
        let OpKind::Fed(FedOp::Mix(topology)) = op.kind else {
            return;
        };
        let verb = match topology {
            Topology::Regular(degree) => format!("mix_regular_{degree}"),
            topology => format!("mix_{}", topology.name()),
        };
        let names: Vec<String> = results.iter().map(|v| self.name(*v, &op.kind)).collect();
        let left = names.join(", ");
        let clients = OpBox {
            text: format!("{left} ← {verb}({})", self.list(&op.operands)),
            op: op.kind.name(),
        };
        // The weights of a matrix, behind the values, are no message.
        let values = op.operands.get(..results.len()).unwrap_or_default();
        self.cross(Direction::Across, clients, values, items);
        self.give_names(results, &names);
    }

    /// What crosses; a plain step on the server where all of it has crossed before.
    fn cross(
        &mut self,
        direction: Direction,
        step: OpBox,
        values: &[Value],
        items: &mut Vec<Item>,
    ) {
        let mut sent = vec![];
        for value in values {
            // A value may go to the server and to other clients.
            let is_it = |row: &Wire| row.value == *value && row.direction == direction;
            let Some(at) = self.wires.iter().position(is_it) else {
                continue;
            };
            let row = self.wires.remove(at);
            let formula = row.formula();
            sent.push(Sent {
                name: self.text(*value).plain().to_owned(),
                // What a function's arguments are derived from shows once it is linked.
                derived: if !self.linked {
                    row.kind.to_string()
                } else if row.protection == Protection::default() {
                    row.derived.to_string()
                } else {
                    format!("{}; {}", row.derived, row.protection)
                },
                bytes: match self.parameters.and_then(|p| row.bytes(p)) {
                    Some(number) if row.kind == Kind::Params => {
                        format!("{formula} = {}", number_format::bytes(number as u64))
                    }
                    Some(number) => number_format::bytes(number as u64),
                    None => format!("{formula} bytes"),
                },
            });
        }
        items.push(if sent.is_empty() {
            Item::Op(step)
        } else {
            Item::Crossing(Crossing {
                direction,
                step,
                sent,
            })
        });
    }
}
