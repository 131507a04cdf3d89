//! Rounds that are one exchange of models: clients receive the model, train it, and send it back with
//! their weight, as in FedAvg. Requests and replies of such a round can be told in terms of models alone,
//! for clients and servers that know no programs of fedround.

use std::sync::Arc;

use fedround_exec::Program;
use fedround_ir::fed::Kind;
use fedround_passes::lowering::Frontend;
use fedround_passes::parties::{Output, Region, Source};
use fedround_store::TensorBytes;

use super::error::{ContentError, ExchangeError, NoExchange};
use super::host::PartyHost;
use super::message::{Attempt, ClientReport, Done, Entry, LOSSES, Reply, Request, Run, Task};
use super::payload::Payload;
use super::table::crossing;

/// Values of all tensors of a model, in the model's order.
pub type ModelValues = Vec<Vec<f32>>;

/// What a request to train asks.
#[derive(Clone, Debug)]
pub struct TrainingRequest {
    /// The round, from 1.
    pub round: usize,
    /// The clients that are to train.
    pub clients: Vec<usize>,
    /// The model that they start from.
    pub model: ModelValues,
}

/// What a client trained.
#[derive(Clone, Debug, PartialEq)]
pub struct TrainedModel {
    /// The model.
    pub model: ModelValues,
    /// Its weight in the mean: how many examples the client has.
    pub examples: f64,
    /// The loss of each local step.
    pub losses: Vec<f32>,
}

/// The names of what crosses in a program's rounds.
#[derive(Clone, Debug)]
pub struct ModelExchange {
    received: String,
    trained: String,
    weight: String,
    /// The model's tensors: names and shapes.
    leaves: Vec<(String, Vec<usize>)>,
}

impl ModelExchange {
    /// Those of a program.
    ///
    /// # Errors
    ///
    /// Its rounds are no exchange of models; the error says what they are.
    pub fn of(program: &Program) -> Result<Self, NoExchange> {
        let other = |expected, found| NoExchange::Other { expected, found };
        if program.phases().len() > 1 {
            let found = "do something else in the first rounds";
            return Err(other("do the same in all rounds", found));
        }
        let split = program.parties()?;
        let [region] = &split.regions[..] else {
            let found = "exchange several messages";
            return Err(other("train once", found));
        };
        let stateless = region.reads.is_empty() && region.sets.is_empty();
        if !stateless || region.visits || !region.numbers.is_empty() {
            let found = "keep states or read numbers of the round";
            return Err(other("start from what they receive alone", found));
        }
        let whole = |kind, without| {
            let all = || {
                crossing(program, without)
                    .into_iter()
                    .all(|crosses| crosses)
            };
            kind == Kind::Params && all()
        };
        let [input] = &region.inputs[..] else {
            return Err(other("receive the model", "receive more, or nothing"));
        };
        if input.source != Source::Broadcast || !whole(input.kind, &input.without) {
            return Err(other("receive the whole model", "receive something else"));
        }
        let Some((trained, weight)) = sent(region) else {
            return Err(other("send a model and its weight", "send something else"));
        };
        if trained.encoded.is_some() {
            return Err(other("send the whole model", "send it encoded"));
        }
        if !whole(trained.kind, &trained.without) {
            return Err(other("send the whole model", "send a part of it"));
        }
        let leaves = program.model().parameters().iter();
        Ok(Self {
            received: input.name.clone(),
            trained: trained.name.clone(),
            weight: weight.name.clone(),
            leaves: leaves
                .map(|(name, ty)| (name.clone(), ty.shape.clone()))
                .collect(),
        })
    }

    /// What a coordinator's request asks; `None` if it only tells which round was kept.
    ///
    /// # Errors
    ///
    /// It is no request, or has other values.
    pub fn asked(&self, request: &Payload) -> Result<Option<TrainingRequest>, ExchangeError> {
        let head: Request = request.read()?;
        let run = match head.task {
            Task::Settle => return Ok(None),
            Task::Run(run) => run,
            Task::Evaluate(..) => return Err(ExchangeError::Other),
        };
        Ok(Some(TrainingRequest {
            round: run.attempt.round,
            clients: run.entries.iter().map(|entry| entry.client).collect(),
            model: self.model(&self.received, request)?,
        }))
    }

    /// The reply to a coordinator's request with what its clients trained, in the order of the request;
    /// of the request only the head is read. Without clients, it acknowledges which round was kept.
    ///
    /// # Errors
    ///
    /// It is no request, or one for another number of clients.
    pub fn reply(
        &self,
        request: &Payload,
        trained: &[TrainedModel],
    ) -> Result<Payload, ExchangeError> {
        let head: Request = request.read()?;
        let run = match head.task {
            Task::Settle => return Ok(Payload::new(&Reply::Done(None))?),
            Task::Run(run) => run,
            Task::Evaluate(..) => return Err(ExchangeError::Other),
        };
        if run.entries.len() != trained.len() {
            return Err(ExchangeError::Other);
        }
        let clients = run.entries.iter().zip(trained);
        let clients = clients.map(|(&entry, trained)| ClientReport {
            entry,
            steps: trained.losses.len() as u64,
            finite: true,
        });
        let mut reply = Payload::new(&Reply::Done(Some(Done {
            attempt: run.attempt,
            region: run.region,
            map: run.map,
            clients: clients.collect(),
        })))?;
        for (entry, trained) in run.entries.iter().zip(trained) {
            self.put(&mut reply, &entry.tensor(&self.trained), &trained.model)?;
            let weight = entry.tensor(&self.weight);
            reply.numbers.insert(weight, trained.examples.to_bits());
            let losses = TensorBytes::of_floats(&trained.losses, &[trained.losses.len()]);
            let name = entry.tensor(&LOSSES[1..]);
            reply.tensors.push((name, Arc::new(losses)));
        }
        Ok(reply)
    }

    /// Lets all clients of a host train from a model, for a server that is no coordinator of fedround.
    /// `number` is larger than that of every earlier call.
    ///
    /// # Errors
    ///
    /// The model is another one, or a client could not train.
    pub fn train(
        &self,
        host: &mut PartyHost,
        (number, round): (u64, usize),
        model: &[Vec<f32>],
    ) -> Result<Vec<TrainedModel>, ExchangeError> {
        let entries = host.clients().iter();
        let entries: Vec<Entry> = entries.map(|&client| Entry { client, turn: 0 }).collect();
        let attempt = Attempt {
            session: 0,
            number,
            round,
        };
        let mut request = Payload::new(&Request {
            graph: host.graph_hash().to_owned(),
            seed: host.simulation().seed(),
            committed: None,
            task: Task::Run(Run {
                attempt,
                scheduled: round,
                clients: host.simulation().clients(),
                most: 1,
                region: 0,
                map: 0,
                entries: entries.clone(),
                sent: vec![true],
                sums: false,
            }),
        })?;
        self.put(&mut request, &self.received, model)?;
        let reply = host.answer_payload(&request);
        match reply.read()? {
            Reply::Done(Some(_)) => entries.iter().map(|e| self.trained(*e, &reply)).collect(),
            Reply::Done(None) | Reply::Evaluated(_) => Err(ExchangeError::Other),
            Reply::Failed(why) => Err(ExchangeError::Failed(why)),
        }
    }

    fn trained(&self, entry: Entry, reply: &Payload) -> Result<TrainedModel, ExchangeError> {
        let floats = |name: &str| reply.tensor(name).and_then(TensorBytes::floats);
        let weight = entry.tensor(&self.weight);
        let number = reply.numbers.get(&weight).map(|bits| f64::from_bits(*bits));
        let number = number.or_else(|| floats(&weight)?.first().map(|x| f64::from(*x)));
        Ok(TrainedModel {
            model: self.model(&entry.tensor(&self.trained), reply)?,
            examples: number.ok_or(ContentError::Missing { name: weight })?,
            losses: floats(&entry.tensor(&LOSSES[1..])).unwrap_or_default(),
        })
    }

    /// The values of a model in a message.
    fn model(&self, name: &str, payload: &Payload) -> Result<ModelValues, ContentError> {
        let leaves = self.leaves.iter();
        let values = leaves.map(|(leaf, _)| {
            let name = format!("{name}.{leaf}");
            let values = payload.tensor(&name).and_then(TensorBytes::floats);
            values.ok_or(ContentError::Missing { name })
        });
        values.collect()
    }

    /// Appends a model to a message.
    fn put(
        &self,
        payload: &mut Payload,
        name: &str,
        model: &[Vec<f32>],
    ) -> Result<(), ContentError> {
        for (i, (leaf, shape)) in self.leaves.iter().enumerate() {
            let name = format!("{name}.{leaf}");
            let Some(values) = model.get(i) else {
                return Err(ContentError::Missing { name });
            };
            if values.len() != shape.iter().product::<usize>() {
                return Err(ContentError::Shape {
                    name,
                    expected: format!("{shape:?}"),
                    found: format!("{} numbers", values.len()),
                });
            }
            let tensor = Arc::new(TensorBytes::of_floats(values, shape));
            payload.tensors.push((name, tensor));
        }
        Ok(())
    }
}

/// The model and the weight among what a region sends, if it sends both and nothing else.
fn sent(region: &Region) -> Option<(&Output, &Output)> {
    match &region.outputs[..] {
        [one, other] if one.send && other.send => match (one.kind, other.kind) {
            (Kind::Params, Kind::Scalar) => Some((one, other)),
            (Kind::Scalar, Kind::Params) => Some((other, one)),
            _ => None,
        },
        _ => None,
    }
}
