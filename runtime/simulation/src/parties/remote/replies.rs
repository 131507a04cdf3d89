//! Reads a host's reply about its clients, and checks it against the region's table.

use std::collections::HashMap;

use burn_backend::TensorMetadata;
use fedround_passes::parties::Output;
use fedround_store::ElementType;

use super::super::error::ContentError;
use super::super::message::{ClientReport, Done, LOSSES, Reply};
use super::super::payload::Payload;
use super::super::table::crossing;
use super::super::transport::PartyError;
use super::super::value_type::ValueType;
use super::super::values::Taking;
use super::returned::{received, returned_leaf};
use super::sums::add_sums;
use super::{Asked, Remote};
use crate::client::Outcome;
use crate::value::RtVal;

impl Remote {
    /// The outcomes of the clients at some places of the cohort.
    pub(super) fn outcomes(
        &self,
        asked: &Asked<'_>,
        places: &[usize],
        payload: &Payload,
    ) -> Result<Vec<Outcome>, PartyError> {
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
        let expected = places.iter().map(|&i| asked.entry(i));
        if (attempt, region, map) != (self.attempt, asked.index, asked.job.map)
            || !entries.eq(expected)
        {
            return Err(failed("the reply is to another request".to_owned()));
        }
        let summed = self.sums(asked.region, places.len());
        let mut taking = Taking::new(payload, asked.job.cx.program);
        let reports = places.iter().zip(&clients);
        let types = self.types.of_region(self.phase, asked.index);
        let outcomes =
            reports.map(|(&i, report)| outcome((asked, types), (i, summed), report, &mut taking));
        let outcomes = outcomes.collect::<Result<_, ContentError>>();
        let mut outcomes: Vec<Outcome> = outcomes.map_err(|error| failed(error.to_string()))?;
        if summed {
            add_sums(asked, places, &mut outcomes, &mut taking)?;
        }
        let finished = taking.finish();
        finished.map_err(|error| failed(error.to_string()))?;
        Ok(outcomes)
    }
}

/// More local steps than these are no client's: sums of them over clients and rounds are to fit into 64 bits.
const MOST_STEPS: u64 = u32::MAX as u64;

fn outcome(
    (asked, types): (&Asked<'_>, &[ValueType]),
    (i, summed): (usize, bool),
    report: &ClientReport,
    taking: &mut Taking<'_>,
) -> Result<Outcome, ContentError> {
    if report.steps > MOST_STEPS {
        return Err(ContentError::Value {
            name: report.entry.tensor("steps"),
            expected: format!("at most {MOST_STEPS} local steps"),
            found: report.steps.to_string(),
        });
    }
    let mut yields = Vec::with_capacity(asked.region.outputs.len());
    let any = ValueType::default();
    for (k, output) in asked.region.outputs.iter().enumerate() {
        let is_sent = output.send && !(summed && asked.region.is_summed(k));
        yields.push(match is_sent {
            true => sent(asked, i, (k, output, types.get(k).unwrap_or(&any)), taking)?,
            false => RtVal::Held,
        });
    }
    check_rows(asked, types, report, &yields)?;
    let losses = &LOSSES[1..];
    let losses = taking.tensor(&report.entry.tensor(losses), ElementType::F32, None)?;
    let any = losses.shape().num_elements() > 0;
    Ok(Outcome {
        yields,
        encoded: HashMap::new(),
        sums: vec![],
        losses: any.then_some(losses).into_iter().collect(),
        steps: report.steps,
        state: HashMap::new(),
        finite: report.finite,
    })
}

/// Checks that values have as many rows as each other whose rows belong together, such as images and their labels.
fn check_rows(
    asked: &Asked<'_>,
    types: &[ValueType],
    report: &ClientReport,
    yields: &[RtVal],
) -> Result<(), ContentError> {
    let rows = |k: usize| match yields.get(k)? {
        RtVal::Tensor(t) => t.shape().as_slice().first().copied(),
        _ => None,
    };
    for (k, ty) in types.iter().enumerate() {
        let (found, expected) = (rows(k), ty.as_many_rows_as.and_then(rows));
        if let (Some(found), Some(expected), Some(output)) =
            (found, expected, asked.region.outputs.get(k))
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

/// A value that a client sent. What it returned as it was is the server's own.
fn sent(
    asked: &Asked<'_>,
    i: usize,
    (k, output, ty): (usize, &Output, &ValueType),
    taking: &mut Taking<'_>,
) -> Result<RtVal, ContentError> {
    let crossing = crossing(asked.job.cx.program, &output.without);
    let name = asked.entry(i).tensor(&output.name);
    if let Some(encoded) = &output.encoded {
        let onto = encoded.onto.and_then(|input| received(asked, i, input));
        return taking.encoded(&name, &encoded.codec, onto);
    }
    let own = |leaf| returned_leaf(asked, i, k, leaf);
    taking.value(&name, (output.kind, &crossing, ty), own)
}
