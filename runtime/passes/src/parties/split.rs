//! The analysis: finds the regions of a schedule, and who has each of their values.

use std::collections::{BTreeSet, HashMap, HashSet};

use fedround_ir::fed::{FedOp, Kind, Module, Op, OpKind, Place, Value};

use super::{Region, ServerStep, Source, Split, SplitError};
use crate::fed::{Leaves, zeros};
use crate::report::{Wire, wire};
use crate::schedule::{Block, Control, Item, Schedule};

/// Splits the schedule of a linked module.
///
/// # Errors
///
/// [`SplitError`], if the round cannot run between a server and parties.
pub fn split(linked: &Module, schedule: &Schedule) -> Result<Split, SplitError> {
    let mut this = Splitter {
        schedule,
        rows: wire(linked)
            .into_iter()
            .map(|row| (row.value, row))
            .collect(),
        zeros: zeros(linked),
        crossed: HashMap::new(),
        made: HashMap::new(),
        sent: HashSet::new(),
        readers: HashMap::new(),
        parts: HashMap::new(),
        names: HashMap::new(),
        counts: HashMap::new(),
        loops: vec![],
        loop_count: 0,
        regions: vec![],
    };
    let server = this.block(&schedule.round)?;
    Ok(Split {
        name: linked.name().to_owned(),
        regions: this.regions(),
        server,
    })
}

/// A value that the server sends.
pub(super) struct Crossed {
    pub source: Source,
    pub visits: bool,
    /// The loops of the server around it.
    pub loops: Vec<usize>,
}

pub(super) struct Splitter<'a> {
    pub schedule: &'a Schedule,
    pub rows: HashMap<Value, Wire>,
    pub zeros: HashMap<Value, Leaves>,
    pub crossed: HashMap<Value, Crossed>,
    /// The region that gives a value.
    pub made: HashMap<Value, usize>,
    /// What the server takes from clients.
    pub sent: HashSet<Value>,
    /// The regions that are given a value.
    pub readers: HashMap<Value, BTreeSet<usize>>,
    /// For each result of `fed.restrict`, the value that it restricts.
    pub parts: HashMap<Value, Value>,
    pub names: HashMap<Value, String>,
    pub counts: HashMap<Kind, usize>,
    /// The loops of the server around the present op, by number.
    pub loops: Vec<usize>,
    pub loop_count: usize,
    pub regions: Vec<(Region, Vec<usize>)>,
}

impl Splitter<'_> {
    fn place(&self, v: Value) -> Place {
        self.schedule.module.type_of(v).place
    }

    /// A name for a value that the parties know.
    pub(super) fn name(&mut self, v: Value) -> String {
        let kind = self.schedule.module.type_of(v).kind;
        let count = self.counts.entry(kind).or_default();
        let name = self.names.entry(v).or_insert_with(|| {
            *count += 1;
            // `f321` would be read as a number.
            match kind {
                Kind::Scalar => format!("f32_{count}"),
                kind => format!("{kind}{count}"),
            }
        });
        name.clone()
    }

    fn known(&self, op: &Op) -> String {
        let names = op.operands.iter().chain(&op.results);
        let names: Vec<&str> = names
            .filter_map(|v| self.names.get(v).map(String::as_str))
            .collect();
        format!("{} {}", op.kind.name(), names.join(", "))
            .trim_end()
            .to_owned()
    }

    fn block(&mut self, block: &Block) -> Result<Vec<ServerStep>, SplitError> {
        let mut steps = vec![];
        for (item, _) in &block.items {
            match item {
                Item::Compute(i) => {
                    let ops = self.schedule.segments[*i].ops.len();
                    steps.push(ServerStep::Op(format!("compute {ops}")));
                }
                Item::Control(control) => self.control(control, &mut steps)?,
            }
        }
        Ok(steps)
    }

    fn control(
        &mut self,
        control: &Control,
        steps: &mut Vec<ServerStep>,
    ) -> Result<(), SplitError> {
        let op = &control.op;
        let first = op.operands.first().map(|v| self.place(*v));
        match (&op.kind, &control.body) {
            (OpKind::Fed(FedOp::Map), Some(body)) if first != Some(Place::Gathered) => {
                steps.push(ServerStep::Region(self.regions.len()));
                self.region(control, body)?;
                for reduction in &control.reductions {
                    self.upload(reduction, steps);
                }
            }
            (OpKind::Fed(FedOp::Map), Some(body)) => {
                let inner = self.block(body)?;
                steps.push(ServerStep::Loop("for each client".to_owned(), inner));
                for reduction in &control.reductions {
                    steps.push(ServerStep::Op(self.known(reduction)));
                }
            }
            (_, Some(body)) => {
                self.loop_count += 1;
                self.loops.push(self.loop_count);
                let inner = self.block(body)?;
                self.loops.pop();
                steps.push(ServerStep::Loop(op.kind.name(), inner));
            }
            (OpKind::Fed(FedOp::Arrivals), _) => {
                return Err(SplitError::Asynchronous { loc: op.loc });
            }
            (OpKind::Fed(FedOp::Broadcast | FedOp::Scatter), None) => {
                for &v in &op.results {
                    self.name(v);
                    let source = match op.kind {
                        OpKind::Fed(FedOp::Broadcast) => Source::Broadcast,
                        _ => Source::Scatter,
                    };
                    let (visits, loops) = (op.visits(), self.loops.clone());
                    let crossed = Crossed {
                        source,
                        visits,
                        loops,
                    };
                    self.crossed.insert(v, crossed);
                }
                steps.push(ServerStep::Op(self.known(op)));
            }
            (OpKind::Fed(FedOp::Mix(_) | FedOp::Consensus), _) => {
                return Err(SplitError::Peers { loc: op.loc });
            }
            (OpKind::Fed(FedOp::Reduce(_) | FedOp::Gather), None) => self.upload(op, steps),
            (OpKind::Fed(FedOp::Restrict), None) => {
                if let ([result], [of, ..]) = (op.results.as_slice(), op.operands.as_slice()) {
                    let of = self.whole(*of);
                    self.parts.insert(*result, of);
                }
                steps.push(ServerStep::Op(self.known(op)));
            }
            _ => steps.push(ServerStep::Op(self.known(op))),
        }
        Ok(())
    }

    /// The value of the whole cohort if `v` is that of a restricted one; otherwise `v`.
    pub(super) fn whole(&self, v: Value) -> Value {
        self.parts.get(&v).copied().unwrap_or(v)
    }

    fn upload(&mut self, op: &Op, steps: &mut Vec<ServerStep>) {
        let uploaded = self.schedule.module.uploaded(op);
        let uploaded: Vec<Value> = uploaded.map(|v| self.whole(*v)).collect();
        self.sent.extend(uploaded);
        steps.push(ServerStep::Op(self.known(op)));
    }
}
