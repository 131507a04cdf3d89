//! The rounds of a measurement, timed.

use std::time::Instant;

use fedround_exec::tensor::device_reads;
use fedround_simulation::Simulation;

use super::{idle_share, process};
use crate::error::CliError;

/// The clock's readings, in seconds, and what is counted beside.
#[derive(Debug, Default)]
pub(super) struct Clock {
    pub first_round: f64,
    pub time_to_first_round: f64,
    pub wall: f64,
    /// The seconds of each timed round.
    pub rounds: Vec<f64>,
    /// The steps of all clients in the timed rounds.
    pub client_steps: u64,
    /// How often the timed rounds waited for what a GPU gives.
    pub reads: u64,
    /// Bytes that GPUs held after the first or the last round, whichever is more.
    pub device_memory: Option<u64>,
}

impl Clock {
    /// Runs a round.
    fn step(&mut self, simulation: &mut Simulation) -> Result<(), CliError> {
        let before = device_reads();
        self.client_steps += simulation.run_round()?.client_steps;
        self.reads += device_reads() - before;
        Ok(())
    }
}

/// Runs and times rounds: the first one warms up, unless it is the only one. What is done `after` each
/// counts.
pub(super) fn timed(
    simulation: &mut Simulation,
    rounds: usize,
    started: Instant,
    mut after: impl FnMut(&Simulation) -> Result<(), CliError>,
) -> Result<Clock, CliError> {
    let mut clock = Clock::default();
    let begin = Instant::now();
    if rounds == 1 {
        idle_share::mark();
    }
    clock.step(simulation)?;
    after(simulation)?;
    idle_share::mark();
    clock.first_round = begin.elapsed().as_secs_f64();
    let age = process::since_start();
    clock.time_to_first_round = age.unwrap_or_else(|| started.elapsed().as_secs_f64());
    clock.device_memory = simulation.device_memory();
    if rounds == 1 {
        clock.rounds = vec![clock.first_round];
        clock.wall = clock.first_round;
        return Ok(clock);
    }
    (clock.client_steps, clock.reads) = (0, 0);
    let warm = Instant::now();
    let mut before = 0.0;
    for _ in 1..rounds {
        clock.step(simulation)?;
        after(simulation)?;
        let now = warm.elapsed().as_secs_f64();
        clock.rounds.push(now - before);
        before = now;
    }
    clock.wall = before;
    idle_share::mark();
    clock.device_memory = clock.device_memory.max(simulation.device_memory());
    Ok(clock)
}
