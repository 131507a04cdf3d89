//! The analysis: finds the regions of a schedule, and who has each of their values.

use std::collections::{BTreeSet, HashMap, HashSet};

use fedround_ir::fed::{FedOp, Kind, Module, Op, OpKind, Place, Value};

use super::reads::Reads;
use super::{Input, Output, Region, ServerStep, Source, Split, SplitError, Sum};
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
struct Crossed {
    source: Source,
    visits: bool,
    /// The loops of the server around it.
    loops: Vec<usize>,
}

struct Splitter<'a> {
    schedule: &'a Schedule,
    rows: HashMap<Value, Wire>,
    zeros: HashMap<Value, Leaves>,
    crossed: HashMap<Value, Crossed>,
    /// The region that gives a value.
    made: HashMap<Value, usize>,
    /// What the server takes from clients.
    sent: HashSet<Value>,
    /// The regions that are given a value.
    readers: HashMap<Value, BTreeSet<usize>>,
    /// Values of some clients of a cohort, and the values of all of it that they are.
    parts: HashMap<Value, Value>,
    names: HashMap<Value, String>,
    counts: HashMap<Kind, usize>,
    /// The loops of the server around the present op, by number.
    loops: Vec<usize>,
    loop_count: usize,
    regions: Vec<(Region, Vec<usize>)>,
}

impl Splitter<'_> {
    fn place(&self, v: Value) -> Place {
        self.schedule.module.type_of(v).place
    }

    /// A name for a value that the parties know.
    fn name(&mut self, v: Value) -> String {
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

    /// The value of all clients of a cohort that a value is of some of them.
    fn whole(&self, v: Value) -> Value {
        self.parts.get(&v).copied().unwrap_or(v)
    }

    fn upload(&mut self, op: &Op, steps: &mut Vec<ServerStep>) {
        let uploaded: Vec<Value> = self.schedule.module.uploaded(op).copied().collect();
        let uploaded = uploaded.into_iter().map(|v| self.whole(v));
        self.sent.extend(uploaded.collect::<Vec<_>>());
        steps.push(ServerStep::Op(self.known(op)));
    }

    fn region(&mut self, control: &Control, body: &Block) -> Result<(), SplitError> {
        let op = &control.op;
        let index = self.regions.len();
        let reads = Reads::of(self.schedule, body);
        if !reads.outside.is_empty() {
            return Err(SplitError::NotSent { loc: op.loc });
        }
        let mut inputs = vec![];
        for &v in &op.operands {
            let v = self.whole(v);
            let made = self.made.get(&v).copied().map(Source::Region);
            let crossed = self.crossed.get(&v).map(|crossed| crossed.source);
            let source = made.or(crossed);
            let source = source.ok_or(SplitError::NotSent { loc: op.loc })?;
            let earlier = self.readers.get(&v).and_then(BTreeSet::first).copied();
            self.readers.entry(v).or_default().insert(index);
            let row = self.rows.get(&v);
            inputs.push(Input {
                value: v,
                name: self.names.get(&v).cloned().unwrap_or_default(),
                kind: self.schedule.module.type_of(v).kind,
                source,
                earlier: earlier.filter(|_| made.is_none()),
                keep: false,
                without: row.map(not_sent).unwrap_or_default(),
                zero: self.zeros.get(&v).cloned().unwrap_or_default(),
                bytes: row.map(bytes).unwrap_or_default(),
            });
        }
        let outputs = op.results.iter().map(|&v| {
            self.made.insert(v, index);
            Output {
                value: v,
                name: self.name(v),
                kind: self.schedule.module.type_of(v).kind,
                send: false,
                keep: false,
                without: Leaves::default(),
                encoded: None,
                bytes: String::new(),
            }
        });
        let outputs = outputs.collect();
        let crossed = |v: &Value| self.crossed.get(v).is_some_and(|crossed| crossed.visits);
        let visits = op.operands.iter().any(crossed);
        self.regions.push((
            Region {
                client: body.args.first().copied().unwrap_or(Value(u32::MAX)),
                inputs,
                outputs,
                settings: reads.settings,
                reads: reads.states,
                sets: reads.sets,
                numbers: reads.numbers,
                sums: match visits {
                    true => vec![],
                    false => self.sums(control),
                },
                visits,
                loc: op.loc,
            },
            self.loops.clone(),
        ));
        Ok(())
    }

    /// The sums of parameters that a host can make. Reductions stand with a map if they alone read what it
    /// gives. What is encoded is no longer than a sum, and is sent of each client.
    fn sums(&self, control: &Control) -> Vec<Sum> {
        let place = |v: &Value| control.op.results.iter().position(|result| result == v);
        let sum = |(reduction, op): (usize, &Op)| {
            let value = op.operands.first()?;
            let weight = op.operands.get(1);
            let is_params = self.schedule.module.type_of(*value).kind == Kind::Params;
            let encoded = self
                .rows
                .get(value)
                .is_some_and(|row| row.encoded.is_some());
            Some(Sum {
                reduction,
                output: place(value).filter(|_| is_params && !encoded)?,
                weight: match weight {
                    Some(weight) => Some(place(weight)?),
                    None => None,
                },
            })
        };
        let reductions = control.reductions.iter().enumerate();
        reductions.filter_map(sum).collect()
    }

    /// The regions, with what is known after a walk over all of them.
    fn regions(&mut self) -> Vec<Region> {
        let readers = |v: &Value| self.readers.get(v).map_or(0, BTreeSet::len);
        let mut regions = std::mem::take(&mut self.regions);
        for (region, loops) in &mut regions {
            for input in &mut region.inputs {
                let crossed = self.crossed.get(&input.value);
                // Each repetition of a loop is given what was sent before the loop.
                let again = crossed.is_some_and(|crossed| crossed.loops != *loops);
                input.keep = crossed.is_some() && (again || readers(&input.value) > 1);
            }
            for output in &mut region.outputs {
                output.send = self.sent.contains(&output.value);
                output.keep = readers(&output.value) > 0;
                if let Some(row) = self.rows.get(&output.value).filter(|_| output.send) {
                    output.without = not_sent(row);
                    output.encoded.clone_from(&row.encoded);
                    output.bytes = bytes(row);
                }
            }
        }
        regions.into_iter().map(|(region, _)| region).collect()
    }
}

/// What a row of the wire table weighs.
fn bytes(row: &Wire) -> String {
    match row.initial {
        true => "0 bytes, the initial model".to_owned(),
        false => format!("{} bytes", row.formula()),
    }
}

/// The parameters that a row of the wire table leaves out.
fn not_sent(row: &Wire) -> Leaves {
    match row.initial {
        true => Leaves::all(),
        false => row.without.clone(),
    }
}
