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
        let outcomes = reports.map(|(&i, report)| outcome(asked, (i, summed), report, &mut taking));
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

fn outcome(
    asked: &Asked<'_>,
    (i, summed): (usize, bool),
    report: &ClientReport,
    taking: &mut Taking<'_>,
) -> Result<Outcome, ContentError> {
    let mut yields = Vec::with_capacity(asked.region.outputs.len());
    for (k, output) in asked.region.outputs.iter().enumerate() {
        let is_sent = output.send && !(summed && asked.region.is_summed(k));
        yields.push(match is_sent {
            true => sent(asked, i, (k, output), taking)?,
            false => RtVal::Held,
        });
    }
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

/// A value that a client sent. What it returned as it was is the server's own.
fn sent(
    asked: &Asked<'_>,
    i: usize,
    (k, output): (usize, &Output),
    taking: &mut Taking<'_>,
) -> Result<RtVal, ContentError> {
    let crossing = crossing(asked.job.cx.program, &output.without);
    let name = asked.entry(i).tensor(&output.name);
    if let Some(encoded) = &output.encoded {
        let onto = encoded.onto.and_then(|input| received(asked, i, input));
        return taking.encoded(&name, &encoded.codec, onto);
    }
    let own = |leaf| returned_leaf(asked, i, k, leaf);
    taking.value(&name, (output.kind, &crossing), own)
}
