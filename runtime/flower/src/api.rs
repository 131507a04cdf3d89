//! Calls that name their caller, and the objects of messages: the same for a party and a
//! coordinator.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use prost::Message;

use crate::auth::NodeKey;
use crate::error::FlowerError;
use crate::form::Form;
use crate::http::{Backoff, CallError, Connection, Headers};
use crate::id::{NodeId, RunId};
use crate::object::{
    ContentEncoder, Envelope, InlineRecords, ObjectError, ObjectId, ReceivedObjects, check_bytes,
    decode_message, id_of, ids_of_trees,
};
use crate::parallel;
use crate::wire::message::{
    self, ConfirmMessageReceivedRequest, ConfirmMessageReceivedResponse, ObjectTree,
    PullObjectRequest, PullObjectResponse, PushObjectRequest, PushObjectResponse,
};
use crate::wire::node::Node;

/// How often objects are announced anew, if the SuperLink drops them before all have arrived.
const PUSH_TRIES: usize = 4;

/// One of the SuperLink's APIs, as one caller sees it.
#[derive(Clone, Debug)]
pub(crate) struct Api {
    pub(crate) connection: Connection,
    /// `fleet` or `runtime`.
    pub(crate) name: &'static str,
    pub(crate) node: NodeId,
    pub(crate) credentials: Credentials,
}

/// How a caller proves who it is.
#[derive(Clone, Debug)]
pub(crate) enum Credentials {
    Key(NodeKey),
    Token(String),
}

/// What ends the pushes of a message's objects.
enum Stop {
    /// The time to push them was over, or an answer was lost: announce the message again.
    Again,
    Call(CallError),
}

/// The form of a message by its envelope.
pub(crate) fn form(sent: &message::Message) -> Form {
    match &sent.content {
        Some(records) if !records.items.is_empty() => Form::Inline,
        _ => Form::Objects,
    }
}

impl Api {
    pub(crate) fn call<A: Message + Default>(
        &self,
        method: &str,
        request: &impl Message,
    ) -> Result<A, CallError> {
        let method = format!("{}/{method}", self.name);
        self.connection.call(&method, request, &|_| self.headers())
    }

    fn headers(&self) -> Result<Headers, CallError> {
        match &self.credentials {
            Credentials::Key(key) => key.headers(),
            Credentials::Token(token) => Ok(vec![("flwr-task-token", token.clone())]),
        }
    }

    pub(crate) fn wire_node(&self) -> Option<Node> {
        Some(Node {
            node_id: self.node.0,
        })
    }

    /// Announces messages and pushes their objects. `wanted` gives the session of a response and the objects
    /// that the SuperLink asks for in it.
    pub(crate) fn push_messages<A: Message + Default>(
        &self,
        run: RunId,
        messages: &impl Message,
        encoder: &ContentEncoder<'_>,
        wanted: fn(&A) -> (&str, &[String]),
    ) -> Result<A, FlowerError> {
        for _ in 0..PUSH_TRIES {
            let response: A = self.call("push-messages", messages)?;
            let (session, wanted) = wanted(&response);
            match self.push_objects(run, session, wanted, encoder) {
                Ok(()) => return Ok(response),
                Err(Stop::Again) => {}
                Err(Stop::Call(error)) => return Err(error.into()),
            }
        }
        Err(FlowerError::NotStored { tries: PUSH_TRIES })
    }

    /// Pushes the objects that the SuperLink asks for, but those that nobody pulls.
    fn push_objects(
        &self,
        run: RunId,
        session: &str,
        wanted: &[String],
        encoder: &ContentEncoder<'_>,
    ) -> Result<(), Stop> {
        let read = wanted.iter().filter(|id| !encoder.is_unread(id));
        let read: Vec<&String> = read.collect();
        parallel::for_each(&read, |&id| {
            let content = encoder.objects().get(id).ok_or_else(|| {
                Stop::Call(CallError::Answer {
                    method: format!("{}/push-messages", self.name),
                    problem: format!("it asks for object {id}, which no message has"),
                })
            })?;
            let request = PushObjectRequest {
                node: self.wire_node(),
                run_id: run.0,
                object_id: id.clone(),
                object_content: content.clone(),
                session_id: session.to_owned(),
            };
            let response: Result<PushObjectResponse, _> = self.call("push-object", &request);
            match response {
                Ok(response) if response.stored => Ok(()),
                Ok(_) => Err(Stop::Again),
                Err(error) => Err(Stop::Call(error)),
            }
        })
    }

    /// Pulls what a message has beside the envelope that was handed out.
    pub(crate) fn pull_message(
        &self,
        run: RunId,
        sent: &message::Message,
        tree: &ObjectTree,
        time: Duration,
    ) -> Result<Envelope, FlowerError> {
        let id = id_of(tree)?;
        if form(sent) == Form::Objects {
            let mut objects = self.pull_objects(run, std::slice::from_ref(tree), time)?;
            return Ok(decode_message(&mut objects, id)?);
        }
        let records = sent.content.clone().unwrap_or_default();
        let bytes = records.encoded_len() as u64;
        let records = InlineRecords::of(id, records)?;
        let mut objects = self.pull_objects(run, &records.trees(tree)?, time)?;
        objects.receive(bytes)?;
        Ok(Envelope {
            metadata: sent.metadata.clone().unwrap_or_default(),
            content: Ok(records.payload(&mut objects)?),
        })
    }

    /// Pulls the objects of trees, in the order in which they are pushed, and waits for those that are
    /// still on their way to the SuperLink, but none longer than this time.
    pub(crate) fn pull_objects(
        &self,
        run: RunId,
        trees: &[ObjectTree],
        time: Duration,
    ) -> Result<ReceivedObjects, FlowerError> {
        let limit = self.connection.settings().max_message;
        let objects = Mutex::new(ReceivedObjects::new(limit));
        let ids: Vec<_> = ids_of_trees(trees)?.into_iter().collect();
        parallel::for_each(&ids, |id| {
            let content = self.pull_content(run, *id, time)?;
            check_bytes(*id, &content)?;
            // A thread that panicked ends this call, too.
            let mut objects = objects.lock().unwrap_or_else(PoisonError::into_inner);
            Ok::<_, FlowerError>(objects.insert(*id, content)?)
        })?;
        Ok(objects.into_inner().unwrap_or_else(PoisonError::into_inner))
    }

    fn pull_content(&self, run: RunId, id: ObjectId, time: Duration) -> Result<Bytes, FlowerError> {
        let (first, longest) = (Duration::from_millis(30), Duration::from_millis(300));
        let patience = self.connection.settings().patience;
        let mut backoff = Backoff::new(first, longest, patience.min(time));
        loop {
            let response = self.pull_object(run, id)?;
            if response.object_available {
                return Ok(response.object_content);
            }
            if !response.object_found || !backoff.wait() {
                return Err(ObjectError::Missing { id }.into());
            }
        }
    }

    pub(crate) fn pull_object(
        &self,
        run: RunId,
        id: ObjectId,
    ) -> Result<PullObjectResponse, CallError> {
        let request = PullObjectRequest {
            node: self.wire_node(),
            run_id: run.0,
            object_id: id.to_string(),
        };
        self.call("pull-object", &request)
    }

    /// Says that a message has arrived, so that the SuperLink deletes it.
    pub(crate) fn confirm(&self, run: RunId, message: &str) -> Result<(), CallError> {
        let request = ConfirmMessageReceivedRequest {
            node: self.wire_node(),
            run_id: run.0,
            message_object_id: message.to_owned(),
        };
        let _: ConfirmMessageReceivedResponse = self.call("confirm-message-received", &request)?;
        Ok(())
    }
}
