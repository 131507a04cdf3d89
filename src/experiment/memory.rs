//! The memory that a run needs, estimated before its first round.

use std::collections::BTreeSet;
use std::fmt;

use fedround_exec::{CompileError, Program};
use fedround_ir::fed::{Kind, Module, Place};
use fedround_passes::report::number_format::bytes;
use fedround_passes::schedule::runs;
use fedround_passes::tensor::cost;
use fedround_simulation::Simulation;

/// Results of clients that wait for the aggregation, for each worker.
const WAITING: u64 = 3;

/// Bytes of host memory that a run needs at least, beside the examples that are loaded already. What
/// kernels and the allocator keep for themselves is not counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MemoryEstimate {
    /// The global model, the server's states, and the sum of the clients' models.
    pub server: u64,
    /// The largest local step, on each worker.
    pub steps: u64,
    /// Results of the cohort that wait to be added up.
    pub cohort: u64,
    /// States of all clients that are expected to train, or what may be in memory of them.
    pub states: u64,
}

impl MemoryEstimate {
    /// The estimate for a simulation's rounds, with clients on this number of workers.
    pub(super) fn of(
        simulation: &Simulation,
        rounds: usize,
        workers: usize,
    ) -> Result<Self, CompileError> {
        let clients = simulation.dataset().client_indices.len();
        let budget = simulation.client_memory().budget;
        let phases = simulation.program().phases();
        let mut all = Self::default();
        for (_, program) in phases {
            let estimate = Self::of_program(program, (clients, rounds, workers), budget)?;
            all.server = all.server.max(estimate.server);
            all.steps = all.steps.max(estimate.steps);
            all.cohort = all.cohort.max(estimate.cohort);
            all.states = all.states.max(estimate.states);
        }
        Ok(all)
    }

    fn of_program(
        program: &Program,
        (clients, rounds, workers): (usize, usize, usize),
        budget: Option<usize>,
    ) -> Result<Self, CompileError> {
        let model = 4 * program.parameter_count() as u64;
        let cohort = program.cohort_size(clients).unwrap_or(clients);
        let trained = cohort.saturating_mul(rounds).min(clients) as u64;
        let at_once = workers.min(cohort) as u64;
        let graphs = program.graphs(program.batch_size())?;
        let steps = graphs.iter().zip(runs(program.schedule()));
        let steps = steps.filter(|(_, runs)| runs.on_clients);
        let largest = steps.map(|(graph, _)| cost(graph).peak).max();
        let state = model.saturating_mul(large_states(program.linked(), Place::Client));
        // Beside the budget: states that a round reads, sets, and writes to the file.
        let touched = state.saturating_mul(3).saturating_mul(cohort as u64);
        let most = budget.map(|budget| touched.saturating_add(budget as u64));
        Ok(Self {
            // Sums are in 64 bits.
            server: model * (3 + large_states(program.linked(), Place::Server)),
            steps: at_once * largest.unwrap_or_default(),
            cohort: model * (WAITING * workers as u64).min(cohort as u64),
            states: state.saturating_mul(trained).min(most.unwrap_or(u64::MAX)),
        })
    }

    /// All of it.
    pub fn total(&self) -> u64 {
        let parts = [self.server, self.steps, self.cohort, self.states];
        parts.into_iter().fold(0, u64::saturating_add)
    }
}

impl fmt::Display for MemoryEstimate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts = [
            ("clients' states", self.states),
            ("local steps", self.steps),
            ("server's model and states", self.server),
            ("waiting results", self.cohort),
        ];
        let parts = parts.map(|(name, n)| format!("{name} {}", bytes(n)));
        write!(f, "{} ({})", bytes(self.total()), parts.join(", "))
    }
}

/// The number of states of a place that a round sets and that are as large as a model.
fn large_states(linked: &Module, place: Place) -> u64 {
    let names = linked.all_ops().filter_map(|op| {
        let (state, value) = op.state_and_value()?;
        let is_large = linked.type_of(value).kind == Kind::Params;
        (state.sets() && state.place == place && is_large).then_some(state.name)
    });
    names.collect::<BTreeSet<&str>>().len() as u64
}

/// Bytes of memory that this process may use: the machine's, or less where a control group limits it;
/// `None` where the system does not say.
pub(super) fn limit() -> Option<u64> {
    let mut system = sysinfo::System::new();
    system.refresh_memory();
    let group = system.cgroup_limits().map(|limits| limits.total_memory);
    let all = [Some(system.total_memory()), group].into_iter().flatten();
    all.filter(|bytes| *bytes > 0).min()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_has_memory() {
        let found = limit().unwrap();
        assert!(found > 1 << 26, "{found}");
    }

    #[test]
    fn parts_are_named() {
        let needed = MemoryEstimate {
            server: 1 << 20,
            steps: 2 << 20,
            cohort: 0,
            states: 5 << 20,
        };
        assert_eq!(needed.total(), 8 << 20);
        let text = needed.to_string();
        for part in ["clients' states 5", "local steps 2", "waiting results 0"] {
            assert!(text.contains(part), "{text}");
        }
    }
}
