//! Calls that name their caller, and the objects of messages: the same for a party and a
//! coordinator.

use std::time::Duration;

use prost::Message;

use crate::auth::NodeKey;
use crate::error::FlowerError;
use crate::http::{Backoff, CallError, Connection, Headers};
use crate::id::{NodeId, RunId};
use crate::object::{Encoded, ObjectError, ObjectId, ReceivedObjects, tree_ids};
use crate::wire::message::{
    ConfirmMessageReceivedRequest, ConfirmMessageReceivedResponse, ObjectTree, PullObjectRequest,
    PullObjectResponse, PushObjectRequest, PushObjectResponse,
};
use crate::wire::node::Node;

/// How often objects are announced anew, if the SuperLink drops them before all have arrived.
pub(crate) const PUSH_TRIES: usize = 4;

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

/// Whether the SuperLink has all objects of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pushed {
    All,
    /// The time to push them was over, or an answer was lost: announce the message again.
    Again,
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

    /// Pushes the objects that the SuperLink asks for.
    pub(crate) fn push_objects(
        &self,
        run: RunId,
        session: &str,
        wanted: &[String],
        sets: &[&Encoded],
    ) -> Result<Pushed, CallError> {
        for id in wanted {
            let content = sets.iter().find_map(|set| set.objects.get(id));
            let content = content.ok_or_else(|| CallError::Answer {
                method: format!("{}/push-messages", self.name),
                problem: format!("it asks for object {id}, which no message has"),
            })?;
            let request = PushObjectRequest {
                node: self.wire_node(),
                run_id: run.0,
                object_id: id.clone(),
                object_content: content.clone(),
                session_id: session.to_owned(),
            };
            let response: PushObjectResponse = self.call("push-object", &request)?;
            if !response.stored {
                return Ok(Pushed::Again);
            }
        }
        Ok(Pushed::All)
    }

    /// Pulls the objects of a tree, and waits for those that are still on their way to the
    /// SuperLink.
    pub(crate) fn pull_objects(
        &self,
        run: RunId,
        tree: &ObjectTree,
    ) -> Result<ReceivedObjects, FlowerError> {
        let settings = self.connection.settings();
        let mut objects = ReceivedObjects::new(settings.max_message);
        for id in tree_ids(tree)? {
            let (first, longest) = (Duration::from_millis(50), Duration::from_secs(2));
            let mut backoff = Backoff::new(first, longest, settings.patience);
            loop {
                let response = self.pull_object(run, id)?;
                if !response.object_found {
                    return Err(ObjectError::Missing { id }.into());
                }
                if response.object_available {
                    objects.insert(id, response.object_content)?;
                    break;
                }
                if !backoff.wait() {
                    return Err(ObjectError::Missing { id }.into());
                }
            }
        }
        Ok(objects)
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
