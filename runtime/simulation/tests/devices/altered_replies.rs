//! Parties of which the second host's replies are changed on their way.

use fedround_exec::Device;
use fedround_simulation::parties::{
    Host, HostId, Loopback, Parties, PartyError, PartyHost, Payload, Replies, Ticket, Unreachable,
};
use fedround_simulation::{CohortBatch, Simulation};

use crate::cases::{Case, SIZES};

/// A simulation of the case, with each client on its own.
pub fn alone(case: &Case) -> Simulation {
    let simulation = case.simulation(Device::Cpu);
    simulation.with_cohort_batch(CohortBatch::Off)
}

/// A coordinator with a host for each client, of which `change` makes each reply of the second one another.
pub fn coordinator(
    case: &Case,
    change: impl FnMut(Payload) -> Result<Payload, PartyError> + Send + 'static,
) -> Simulation {
    let host = |k| PartyHost::new(alone(case), vec![k]).unwrap();
    let parties = Altered {
        inner: Loopback::new((0..SIZES.len()).map(host).collect()),
        change,
        tickets: vec![],
    };
    alone(case).with_parties(Box::new(parties), 1).unwrap()
}

struct Altered<F> {
    inner: Loopback,
    change: F,
    tickets: Vec<Ticket>,
}

impl<F: FnMut(Payload) -> Result<Payload, PartyError> + Send> Parties for Altered<F> {
    fn online(&mut self) -> Result<Vec<Host>, Unreachable> {
        self.inner.online()
    }

    fn send(&mut self, to: HostId, request: &Payload) -> Result<Ticket, PartyError> {
        let ticket = self.inner.send(to, request)?;
        self.tickets.extend((to == HostId(1)).then_some(ticket));
        Ok(ticket)
    }

    fn poll(&mut self) -> Result<Replies, Unreachable> {
        let replies = self.inner.poll()?.into_iter();
        let replies = replies.map(|(ticket, reply)| match self.tickets.contains(&ticket) {
            true => (ticket, reply.and_then(&mut self.change)),
            false => (ticket, reply),
        });
        Ok(replies.collect())
    }
}
