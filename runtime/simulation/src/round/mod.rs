//! Executes one round of a compiled program.
//!
//! The server's interpreter visits the operations in order, runs client code on worker threads, and
//! adds the clients' results in a fixed order, so that sums do not depend on timing.

mod arrivals;
mod choices;
mod cohorts;
mod communication;
mod gathered;
mod initial;
mod map;
mod mix;
mod mixing_weights;
mod non_finite_clients;
mod observer;
mod readback;
mod server;
mod states;
mod tree_noise;
mod turns;

use std::collections::{BTreeMap, HashMap, HashSet};

use burn::tensor::DispatchTensor;

use crate::context::RoundContext;
use crate::error::RunError;
use crate::faults::Attendance;
use crate::regions::{InProcess, RunRegion};
use crate::state::State;
use crate::workers::Workers;

pub(crate) use non_finite_clients::NonFiniteClients;
pub(crate) use observer::Observer;
pub use observer::{ObservedTensor, ServerObservation};
pub(crate) use tree_noise::nodes_names;

/// Counts and losses of one round.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RoundStats {
    /// Mean of the local steps' losses, in the loss's unit; NaN if no gradient was taken.
    pub train_loss: f64,
    /// Local steps, over all clients.
    pub client_steps: u64,
    /// Bytes from clients to the server.
    pub bytes_up: u64,
    /// Bytes from the server to clients.
    pub bytes_down: u64,
    /// Bytes from clients to other clients.
    pub bytes_across: u64,
    /// The mean squared distance of the clients' own models from their mean, where clients mix them.
    pub consensus: Option<f64>,
    /// The numbers among the server's states that the round has set, by the state's name.
    pub server_numbers: BTreeMap<String, f64>,
    /// Clients that are left out because their updates are not finite, in ascending order.
    pub not_finite: Vec<usize>,
    /// Clients that failed, in ascending order.
    pub failed: Vec<usize>,
    /// Clients that would have arrived after the deadline.
    pub late: Vec<usize>,
    /// Clients that were called in addition, and were not among the fastest.
    pub surplus: Vec<usize>,
    /// Virtual seconds until the server had all that it waited for, without its own work; `None`
    /// without a clock.
    pub virtual_seconds: Option<f64>,
    /// Whether too few clients were there: parameters and states are as before the round.
    pub skipped: bool,
}

/// Runs one round from `params`; gives the next parameters. The server's work is done at `cx`,
/// clients train there and on the devices `beside` it. What the server sees of single clients is
/// shown to the `observer`; `suspects` looks for clients whose updates are not finite, and `attendance`
/// takes in who came. Clients are at `parties`, or in this process.
///
/// # Errors
///
/// See [`RunError`].
pub(crate) fn run_round<'a>(
    cx: RoundContext<'a>,
    beside: &[RoundContext<'a>],
    (workers, parties): (&'a Workers, Option<&'a mut dyn RunRegion>),
    state: &'a mut State,
    params: Vec<DispatchTensor>,
    observer: Option<Observer<'a>>,
    (suspects, attendance): (Option<&'a mut NonFiniteClients>, &'a mut Attendance),
) -> Result<(Vec<DispatchTensor>, RoundStats), RunError> {
    state.of_clients().check()?;
    let devices: Vec<RoundContext<'a>> = std::iter::once(&cx).chain(beside).copied().collect();
    let mut here = InProcess {
        devices: &devices,
        workers,
    };
    let clients: &mut dyn RunRegion = match parties {
        Some(parties) => parties,
        None => &mut here,
    };
    let mut server = server::Server {
        cx,
        clients,
        workers,
        state,
        // Borrowed for as long as this function's own values.
        observer: observer.map(|look| look as Observer<'_>),
        suspects,
        attendance,
        gathered: vec![],
        slots: Default::default(),
        losses: vec![],
        own_losses: vec![],
        set_numbers: BTreeMap::new(),
        stats: RoundStats::default(),
        draws: 0,
        mixes: 0,
        maps: 0,
        arrived: vec![],
        dispatches: 0,
        visiting: vec![],
        has_taken: false,
        random_runs: 0,
        sent: HashSet::new(),
        named: HashMap::new(),
    };
    let params = server.round(params)?;
    let stats = server.finish(&params)?;
    Ok((params, stats))
}
