//! The operator's side: runs and registered parties (Flower's Control API).
//!
//! The SuperLink's open-source build does not ask who calls these methods. Whoever reaches them can
//! start runs and admit parties, so that only trusted machines may.

use prost::Message;

use crate::error::FlowerError;
use crate::fab::Fab;
use crate::http::{CallError, Connection};
use crate::id::{NodeId, RunId};
use crate::wire::control::{
    ListNodesRequest, ListNodesResponse, ListRunsRequest, ListRunsResponse, RegisterNodeRequest,
    RegisterNodeResponse, StartRunRequest, StartRunResponse, StopRunRequest, StopRunResponse,
    UnregisterNodeRequest, UnregisterNodeResponse,
};
use crate::wire::node::NodeInfo;
use crate::wire::run::Run;

/// Starts, lists and stops runs, and registers parties.
#[derive(Clone, Debug)]
pub struct Control {
    connection: Connection,
}

/// A run, as the SuperLink lists it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunInfo {
    /// Its number.
    pub id: RunId,
    /// `pending`, `starting`, `running` or `finished`.
    pub status: String,
    /// How a finished run ended: `completed`, `failed` or `stopped`.
    pub sub_status: String,
    /// Why it failed, if it did.
    pub details: String,
    /// When it was asked for, in ISO 8601.
    pub pending_at: String,
    /// The federation of its parties.
    pub federation: String,
}

/// A party, as the SuperLink lists it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// Its number.
    pub id: NodeId,
    /// `registered`, `online` or `offline`.
    pub status: String,
    /// Its public key, in PEM.
    pub public_key: String,
    /// The name that the operator gave it.
    pub name: Option<String>,
}

impl From<NodeInfo> for Node {
    fn from(info: NodeInfo) -> Self {
        Self {
            id: NodeId(info.node_id),
            status: info.status,
            public_key: String::from_utf8_lossy(&info.public_key).into_owned(),
            name: info.name,
        }
    }
}

impl From<Run> for RunInfo {
    fn from(run: Run) -> Self {
        let status = run.status.unwrap_or_default();
        Self {
            id: RunId(run.run_id),
            status: status.status,
            sub_status: status.sub_status,
            details: status.details,
            pending_at: run.pending_at,
            federation: run.federation,
        }
    }
}

impl Control {
    /// Calls go through this connection.
    pub fn new(connection: &Connection) -> Self {
        Self {
            connection: connection.clone(),
        }
    }

    /// Starts a run of a bundle, in a federation or, with an empty name, in the SuperLink's own.
    /// The run is pending until a coordinator takes its task.
    ///
    /// # Errors
    ///
    /// [`FlowerError::Call`], or [`FlowerError::NotStarted`] if the bundle is too large.
    pub fn start_run(&self, fab: &Fab, federation: &str) -> Result<RunId, FlowerError> {
        let request = StartRunRequest {
            fab: Some(fab.to_wire()),
            federation: federation.to_owned(),
        };
        let response: StartRunResponse = self.call("start-run", &request)?;
        response.run_id.map(RunId).ok_or(FlowerError::NotStarted)
    }

    /// The last runs, at most `limit`, the newest first.
    ///
    /// # Errors
    ///
    /// [`FlowerError::Call`].
    pub fn runs(&self, limit: u64) -> Result<Vec<RunInfo>, FlowerError> {
        let request = ListRunsRequest {
            run_id: None,
            limit: Some(limit),
        };
        let mut runs = self.list(&request)?;
        runs.sort_by(|a, b| (&b.pending_at, b.id).cmp(&(&a.pending_at, a.id)));
        Ok(runs)
    }

    /// One run, or nothing if the SuperLink does not know it.
    ///
    /// # Errors
    ///
    /// [`FlowerError::Call`].
    pub fn run(&self, run: RunId) -> Result<Option<RunInfo>, FlowerError> {
        let request = ListRunsRequest {
            run_id: Some(run.0),
            limit: None,
        };
        match self.list(&request) {
            Ok(runs) => Ok(runs.into_iter().next()),
            Err(error) if error.is(crate::Reason::UnknownRun) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    fn list(&self, request: &ListRunsRequest) -> Result<Vec<RunInfo>, CallError> {
        let response: ListRunsResponse = self.call("list-runs", request)?;
        let runs = response
            .run_dict
            .into_iter()
            .filter_map(|entry| entry.value);
        Ok(runs.map(RunInfo::from).collect())
    }

    /// Stops a run; `false` if it was not running.
    ///
    /// # Errors
    ///
    /// [`FlowerError::Call`], also for a run that is finished already.
    pub fn stop_run(&self, run: RunId) -> Result<bool, FlowerError> {
        let request = StopRunRequest { run_id: run.0 };
        let response: StopRunResponse = self.call("stop-run", &request)?;
        Ok(response.success)
    }

    /// Admits a party to a SuperLink with an allow-list (`--enable-supernode-auth`), by its public
    /// key in PEM.
    ///
    /// # Errors
    ///
    /// [`FlowerError::Call`], with [`crate::Reason::KeyInUse`] if it is registered already.
    pub fn register_node(
        &self,
        public_key: &str,
        name: Option<&str>,
    ) -> Result<Option<NodeId>, FlowerError> {
        let request = RegisterNodeRequest {
            public_key: public_key.as_bytes().to_vec(),
            name: name.map(str::to_owned),
        };
        let response: RegisterNodeResponse = self.call("register-node", &request)?;
        Ok(response.node_id.map(NodeId))
    }

    /// Takes a party from the list. It can't come back with the same key.
    ///
    /// # Errors
    ///
    /// [`FlowerError::Call`].
    pub fn unregister_node(&self, node: NodeId) -> Result<(), FlowerError> {
        let request = UnregisterNodeRequest { node_id: node.0 };
        let _: UnregisterNodeResponse = self.call("unregister-node", &request)?;
        Ok(())
    }

    /// The registered parties, by their numbers.
    ///
    /// # Errors
    ///
    /// [`FlowerError::Call`].
    pub fn nodes(&self) -> Result<Vec<Node>, FlowerError> {
        let response: ListNodesResponse = self.call("list-nodes", &ListNodesRequest {})?;
        let mut nodes: Vec<_> = response.nodes_info.into_iter().map(Node::from).collect();
        nodes.sort_by_key(|node| node.id);
        Ok(nodes)
    }

    fn call<A: Message + Default>(
        &self,
        method: &str,
        request: &impl Message,
    ) -> Result<A, CallError> {
        let method = format!("control/{method}");
        self.connection.call(&method, request, &|_| Ok(vec![]))
    }
}
