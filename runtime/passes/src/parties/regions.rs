//! The regions of a split: what each takes and gives, and which of it is sent and kept.

use std::collections::BTreeSet;

use fedround_ir::fed::{Kind, Op, Value};

use super::reads::Reads;
use super::split::Splitter;
use super::{Input, Output, Region, Source, SplitError, Sum};
use crate::fed::Leaves;
use crate::report::Wire;
use crate::schedule::{Block, Control};

impl Splitter<'_> {
    /// Adds the region of a map that runs on clients.
    pub(super) fn region(&mut self, control: &Control, body: &Block) -> Result<(), SplitError> {
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
                earlier: earlier.filter(|region| made.is_none() && *region < index),
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
    pub(super) fn regions(&mut self) -> Vec<Region> {
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
