//! Collects the settings, states and numbers of the round that the code of a region reads besides its
//! arguments.

use std::collections::HashSet;

use fedround_ir::fed::{Access, FedOp, OpKind, Place, Value};

use crate::schedule::{Block, Control, Free, Item, Schedule};

/// Settings, states and numbers, each in the order of first use.
#[derive(Default)]
pub(super) struct Reads {
    pub settings: Vec<String>,
    pub states: Vec<String>,
    pub sets: Vec<String>,
    pub numbers: Vec<&'static str>,
    /// Values that the code reads and does not define.
    pub outside: Vec<Value>,
    defined: HashSet<Value>,
}

impl Reads {
    /// What the code of a map reads.
    pub fn of(schedule: &Schedule, body: &Block) -> Self {
        let mut this = Self::default();
        this.block(schedule, body);
        let defined = std::mem::take(&mut this.defined);
        this.outside.retain(|v| !defined.contains(v));
        this
    }

    fn block(&mut self, schedule: &Schedule, block: &Block) {
        self.defined.extend(&block.args);
        for (item, _) in &block.items {
            match item {
                Item::Compute(i) => {
                    let segment = &schedule.segments[*i];
                    self.read(schedule, &segment.free);
                    self.read(schedule, &segment.ins);
                    self.defined.extend(&segment.outs);
                }
                Item::Control(control) => self.control(schedule, control),
            }
        }
        self.read(schedule, &block.yields);
    }

    fn control(&mut self, schedule: &Schedule, control: &Control) {
        self.read(schedule, &control.op.operands);
        let state = control.op.kind.state();
        if let Some(state) = state.filter(|state| state.place == Place::Client) {
            if !state.sets() {
                note(&mut self.states, state.name.to_owned());
            }
            // The first value of a state is kept, too.
            if state.access != Access::Read {
                note(&mut self.sets, state.name.to_owned());
            }
        }
        match &control.op.kind {
            OpKind::Fed(FedOp::Public(..)) => note(&mut self.numbers, "public examples"),
            OpKind::Fed(FedOp::RoundIndex) => note(&mut self.numbers, "round"),
            OpKind::Fed(FedOp::NumClients) => note(&mut self.numbers, "number of clients"),
            _ => {}
        }
        if let Some(body) = &control.body {
            self.block(schedule, body);
        }
        self.defined.extend(&control.op.results);
    }

    fn read(&mut self, schedule: &Schedule, values: &[Value]) {
        for v in values {
            match schedule.free.get(v) {
                Some(Free { hyper, .. }) => {
                    if let Some(name) = hyper {
                        note(&mut self.settings, name.clone());
                    }
                }
                None => self.outside.push(*v),
            }
        }
    }
}

fn note<T: PartialEq>(list: &mut Vec<T>, entry: T) {
    if !list.contains(&entry) {
        list.push(entry);
    }
}
