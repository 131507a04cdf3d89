//! Rounds that are one exchange of models, as in FedAvg: clients receive the model, train it, and send it back with
//! their weight. Clients and servers that do not run programs of fedround can take part in such rounds, because
//! requests and replies contain only models, weights and losses.

use fedround_exec::Program;
use fedround_ir::fed::Kind;
use fedround_passes::lowering::Frontend;
use fedround_passes::parties::{Output, Region, Source};
use fedround_store::TensorBytes;

use super::error::{ContentError, ExchangeError, NoExchange};
use super::host::PartyHost;
use super::message::{Attempt, ClientReport, Done, Entry, Reply, Request, Run, Task};
use super::payload::{Payload, TensorsByName};
use super::table::sent_leaves;

/// The values of all tensors of a model, in the model's order.
pub type ModelValues = Vec<Vec<f32>>;

/// A request to train.
#[derive(Clone, Debug)]
pub struct TrainingRequest {
    /// The round, from 1.
    pub round: usize,
    /// The numbers of the clients that are to train.
    pub clients: Vec<usize>,
    /// The model from which they start.
    pub model: ModelValues,
}

/// The result of a client's local training.
#[derive(Clone, Debug, PartialEq)]
pub struct TrainedModel {
    /// The trained model.
    pub model: ModelValues,
    /// Its weight in the mean: how many examples the client has.
    pub examples: f64,
    /// The loss of each local step.
    pub losses: Vec<f32>,
}

/// The names by which a program's messages contain the model and its weight.
#[derive(Clone, Debug)]
pub struct ModelExchange {
    /// The name of the model that clients receive.
    received: String,
    /// The name of the model that clients send.
    trained: String,
    /// The name of the weight that clients send.
    weight: String,
    /// Names and shapes of the model's tensors.
    leaves: Vec<(String, Vec<usize>)>,
}

impl ModelExchange {
    /// The exchange of a program's rounds.
    ///
    /// # Errors
    ///
    /// The rounds are not an exchange of models. The error says in what they differ.
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
        let whole =
            |kind, without| kind == Kind::Params && !sent_leaves(program, without).contains(&false);
        let [input] = &region.inputs[..] else {
            return Err(other("receive the model", "receive more, or nothing"));
        };
        if input.source != Source::Broadcast || !whole(input.kind, &input.without) {
            return Err(other("receive the whole model", "receive something else"));
        }
        let Some((trained, weight)) = model_and_weight(region) else {
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

    /// Reads a coordinator's request to train; `None` if the request only says which round was committed.
    ///
    /// # Errors
    ///
    /// The payload is not a request to train, or has other values.
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
            model: self.model(&self.received, &request.tensors_by_name())?,
        }))
    }

    /// The reply to a coordinator's request, with the results of its clients in the order of the request. Only the
    /// head of the request is read. If the request only says which round was committed, the reply acknowledges it.
    ///
    /// # Errors
    ///
    /// The payload is not such a request, or is for another number of clients.
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
            self.write_model(&mut reply, &entry.tensor(&self.trained), &trained.model)?;
            let weight = entry.tensor(&self.weight);
            reply.numbers.insert(weight, trained.examples.to_bits());
            let losses = TensorBytes::of_floats(&trained.losses, &[trained.losses.len()]);
            reply.add(entry.losses(), losses);
        }
        Ok(reply)
    }

    /// Lets all clients of a host train from a model, for a server that is not a coordinator of fedround. `number`
    /// must be larger than in every earlier call.
    ///
    /// # Errors
    ///
    /// The model has other tensors, or a client could not train.
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
        self.write_model(&mut request, &self.received, model)?;
        let reply = host.answer_payload(&request);
        match reply.read()? {
            Reply::Done(Some(_)) => {
                let tensors = reply.tensors_by_name();
                let trained = |entry: &Entry| self.trained(*entry, &reply, &tensors);
                entries.iter().map(trained).collect()
            }
            Reply::Done(None) | Reply::Evaluated(_) => Err(ExchangeError::Other),
            Reply::Failed(why) => Err(ExchangeError::Failed(why)),
        }
    }

    /// Reads a client's result from a reply.
    fn trained(
        &self,
        entry: Entry,
        reply: &Payload,
        tensors: &TensorsByName<'_>,
    ) -> Result<TrainedModel, ExchangeError> {
        let floats = |name: &str| tensors.get(name)?.floats();
        let weight = entry.tensor(&self.weight);
        let number = reply.numbers.get(&weight).map(|bits| f64::from_bits(*bits));
        let number = number.or_else(|| floats(&weight)?.first().map(|x| f64::from(*x)));
        Ok(TrainedModel {
            model: self.model(&entry.tensor(&self.trained), tensors)?,
            examples: number.ok_or(ContentError::Missing { name: weight })?,
            losses: floats(&entry.losses()).unwrap_or_default(),
        })
    }

    /// Reads the values of a model from a message.
    fn model(&self, name: &str, tensors: &TensorsByName<'_>) -> Result<ModelValues, ContentError> {
        let leaves = self.leaves.iter();
        let values = leaves.map(|(leaf, _)| {
            let name = format!("{name}.{leaf}");
            let values = tensors.get(name.as_str()).and_then(|found| found.floats());
            values.ok_or(ContentError::Missing { name })
        });
        values.collect()
    }

    /// Adds a model to a message.
    fn write_model(
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
            payload.add(name, TensorBytes::of_floats(values, shape));
        }
        Ok(())
    }
}

/// The model and the weight among the outputs of a region, if it sends these and nothing else.
fn model_and_weight(region: &Region) -> Option<(&Output, &Output)> {
    match &region.outputs[..] {
        [one, other] if one.send && other.send => match (one.kind, other.kind) {
            (Kind::Params, Kind::Scalar) => Some((one, other)),
            (Kind::Scalar, Kind::Params) => Some((other, one)),
            _ => None,
        },
        _ => None,
    }
}
