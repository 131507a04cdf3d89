//! Reads a host's reply about its clients, and checks it against the region's table.

use std::collections::HashMap;

use burn_backend::TensorMetadata;
use fedround_passes::parties::Output;
use fedround_store::ElementType;

use super::super::error::ContentError;
use super::super::message::{ClientReport, Done, Reply};
use super::super::payload::Payload;
use super::super::table::sent_leaves;
use super::super::transport::PartyError;
use super::super::value_type::ValueType;
use super::super::values::PayloadReader;
use super::sums::add_sums;
use super::unchanged_leaves::{received, unchanged_leaf};
use super::{Coordinator, RegionCall};
use crate::client::ClientOutcome;
use crate::value::RuntimeValue;

impl Coordinator {
    /// Reads a host's reply: the outcomes of the clients at some positions of the cohort.
    pub(super) fn outcomes(
        &self,
        call: &RegionCall<'_>,
        positions: &[usize],
        payload: &Payload,
    ) -> Result<Vec<ClientOutcome>, PartyError> {
        let failed = |message: String| PartyError::Failed(message);
        let reply: Reply = payload.read().map_err(|error| failed(error.to_string()))?;
        let done = match reply {
            Reply::Done(Some(done)) => done,
            Reply::Done(None) | Reply::Evaluated(_) => {
                return Err(failed("the reply has no results".to_owned()));
            }
            Reply::Failed(message) => return Err(failed(message)),
        };
        let Done {
            attempt,
            region,
            map,
            clients,
        } = done;
        let entries = clients.iter().map(|report| report.entry);
        let expected = positions.iter().map(|&i| call.entry(i));
        if (attempt, region, map) != (self.attempt, call.index, call.job.map)
            || !entries.eq(expected)
        {
            return Err(failed("the reply is to another request".to_owned()));
        }
        let summed = self.sends_sums(call.region, positions.len());
        let mut reader = PayloadReader::new(payload, call.job.cx.program);
        let reports = positions.iter().zip(&clients);
        let types = self.types.of_region(self.phase, call.index);
        let outcomes =
            reports.map(|(&i, report)| outcome((call, types), (i, summed), report, &mut reader));
        let outcomes = outcomes.collect::<Result<_, ContentError>>();
        let mut outcomes: Vec<ClientOutcome> =
            outcomes.map_err(|error| failed(error.to_string()))?;
        if summed {
            add_sums(call, positions, &mut outcomes, &mut reader)?;
        }
        let finished = reader.finish();
        finished.map_err(|error| failed(error.to_string()))?;
        Ok(outcomes)
    }
}

/// The largest number of local steps that a client may report, so that sums over clients and rounds fit into 64 bits.
const MOST_STEPS: u64 = u32::MAX as u64;

/// Reads the outcome of the `i`-th client of the cohort. If the host sends sums, values that are summed stay there.
fn outcome(
    (call, types): (&RegionCall<'_>, &[ValueType]),
    (i, summed): (usize, bool),
    report: &ClientReport,
    reader: &mut PayloadReader<'_>,
) -> Result<ClientOutcome, ContentError> {
    if report.steps > MOST_STEPS {
        return Err(ContentError::Value {
            name: report.entry.tensor("steps"),
            expected: format!("at most {MOST_STEPS} local steps"),
            found: report.steps.to_string(),
        });
    }
    let mut yields = Vec::with_capacity(call.region.outputs.len());
    let any = ValueType::default();
    for (k, output) in call.region.outputs.iter().enumerate() {
        let is_sent = output.send && !(summed && call.region.is_summed(k));
        yields.push(match is_sent {
            true => sent_value(call, i, (k, output, types.get(k).unwrap_or(&any)), reader)?,
            false => RuntimeValue::AtParty,
        });
    }
    check_rows(call, types, report, &yields)?;
    let losses = reader.tensor(&report.entry.losses(), ElementType::F32, None)?;
    let any = losses.shape().num_elements() > 0;
    Ok(ClientOutcome {
        yields,
        encoded: HashMap::new(),
        sums: vec![],
        losses: any.then_some(losses).into_iter().collect(),
        steps: report.steps,
        state: HashMap::new(),
        finite: report.finite,
    })
}

/// Checks that values whose rows belong together, such as images and their labels, have equally many rows.
fn check_rows(
    call: &RegionCall<'_>,
    types: &[ValueType],
    report: &ClientReport,
    yields: &[RuntimeValue],
) -> Result<(), ContentError> {
    let rows = |k: usize| match yields.get(k)? {
        RuntimeValue::Tensor(t) => t.shape().as_slice().first().copied(),
        _ => None,
    };
    for (k, ty) in types.iter().enumerate() {
        let (found, expected) = (rows(k), ty.as_many_rows_as.and_then(rows));
        if let (Some(found), Some(expected), Some(output)) =
            (found, expected, call.region.outputs.get(k))
            && found != expected
        {
            return Err(ContentError::Shape {
                name: report.entry.tensor(&output.name),
                expected: format!("{expected} rows, as many as belong to them"),
                found: found.to_string(),
            });
        }
    }
    Ok(())
}

/// Reads a value that a client sent. Leaves that the client returned unchanged are not sent; the server has them.
fn sent_value(
    call: &RegionCall<'_>,
    i: usize,
    (k, output, ty): (usize, &Output, &ValueType),
    reader: &mut PayloadReader<'_>,
) -> Result<RuntimeValue, ContentError> {
    let sent_leaves = sent_leaves(call.job.cx.program, &output.without);
    let name = call.entry(i).tensor(&output.name);
    if let Some(encoded) = &output.encoded {
        let onto = encoded.onto.and_then(|input| received(call, i, input));
        return reader.encoded(&name, &encoded.codec, onto);
    }
    let unchanged = |leaf| unchanged_leaf(call, i, k, leaf);
    reader.value(&name, (output.kind, &sent_leaves, ty), unchanged)
}
