//! Executes one round of a compiled program.
//!
//! The server's interpreter executes the operations in order, runs client code on worker threads, and adds
//! the clients' results in a fixed order, which the cohort and the devices determine, so that sums do not
//! depend on timing.

mod arrivals;
mod choices;
mod cohorts;
mod communication;
mod gathered_values;
mod initial_params;
mod map;
mod mix;
mod mixing_weights;
mod non_finite_clients;
mod observer;
mod operands;
mod progress;
mod readback;
mod sequential_clients;
mod server;
mod server_states;
mod tree_noise;

use std::collections::BTreeMap;

use burn::tensor::DispatchTensor;

use crate::context::RoundContext;
use crate::error::RunError;
use crate::faults::Attendance;
use crate::regions::{ClientRunner, InProcessRunner};
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
    /// The mean squared distance of the clients' models from their mean; `None` unless clients mix models.
    pub consensus: Option<f64>,
    /// The scalars among the server's states that the round has set, by the state's name.
    pub server_numbers: BTreeMap<String, f64>,
    /// Clients that were left out because their updates are not finite, in ascending order.
    pub not_finite: Vec<usize>,
    /// Called clients that failed, in ascending order.
    pub failed: Vec<usize>,
    /// Called clients (stragglers) that would have arrived after the deadline, in ascending order.
    pub late: Vec<usize>,
    /// Clients that were over-selected and were not among the fastest, in ascending order.
    pub surplus: Vec<usize>,
    /// Virtual seconds that the server waited: until the last update that it waited for had arrived, or until
    /// the deadline. The server's own work takes no time. `None` without a clock.
    pub virtual_seconds: Option<f64>,
    /// Whether the round was skipped because too few clients took part, or the algorithm chose nobody: parameters and
    /// states are as before.
    pub skipped: bool,
}

/// Everything that one run of a round needs.
pub(crate) struct RoundInput<'a> {
    /// The contexts of the devices on which clients train. The first one is the main device, which also does the
    /// server's work.
    pub devices: &'a [RoundContext<'a>],
    pub workers: &'a Workers,
    /// Runs client code at parties; `None` if clients run in this process.
    pub parties: Option<&'a mut dyn ClientRunner>,
    /// The states of the server and of clients, which the round changes.
    pub state: &'a mut State,
    /// The parameters that the round starts from: one tensor for each leaf of the model.
    pub params: Vec<DispatchTensor>,
    /// Is shown the values of single clients that the server sees.
    pub observer: Option<Observer<'a>>,
    /// Collects the clients whose updates are not finite.
    pub non_finite: Option<&'a mut NonFiniteClients>,
    /// Records which of the called clients took part.
    pub attendance: &'a mut Attendance,
}

/// Runs one round, and returns the next parameters.
///
/// # Errors
///
/// See [`RunError`].
pub(crate) fn run_round(
    input: RoundInput<'_>,
) -> Result<(Vec<DispatchTensor>, RoundStats), RunError> {
    let RoundInput {
        devices,
        workers,
        parties,
        state,
        params,
        observer,
        non_finite,
        attendance,
    } = input;
    state.committed().check()?;
    let mut in_process = InProcessRunner { devices, workers };
    let clients: &mut dyn ClientRunner = match parties {
        Some(parties) => parties,
        None => &mut in_process,
    };
    let mut server = server::Server {
        cx: devices[0],
        clients,
        workers,
        state,
        // The cast shortens the observer's lifetime to that of this function's own values.
        observer: observer.map(|observer| observer as Observer<'_>),
        non_finite,
        attendance,
        arrived: vec![],
        uploads: Default::default(),
        readback: Default::default(),
        counters: Default::default(),
        stats: RoundStats::default(),
        slots: Default::default(),
    };
    let params = server.round(params)?;
    let stats = server.finish(&params)?;
    Ok((params, stats))
}
