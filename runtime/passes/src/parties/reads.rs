//! Collects the settings, states and numbers of the round that the code of a region reads besides its
//! arguments.

use std::collections::HashSet;

use fedround_ir::fed::{FedOp, OpKind, Value};

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
    /// Those of a map's code.
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
        match &control.op.kind {
            OpKind::Fed(FedOp::ClientState(name, _)) => note(&mut self.states, name.clone()),
            // Its first value is kept, too.
            OpKind::Fed(FedOp::Personal(name, _)) => {
                note(&mut self.states, name.clone());
                note(&mut self.sets, name.clone());
            }
            OpKind::Fed(FedOp::SetClientState(name)) => note(&mut self.sets, name.clone()),
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
                Some(Free::Hyper(name, _)) => note(&mut self.settings, name.clone()),
                Some(Free::Const(_) | Free::Index(_)) => {}
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
