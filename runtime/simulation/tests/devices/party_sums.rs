//! Hosts that send sums over their clients: results are those of a simulation, but for the last place of single
//! numbers.

use std::sync::{Arc, Mutex};

use fedround_algorithms::FedAvg;
use fedround_data::{Column, Examples};
use fedround_exec::{Device, Program};
use fedround_random::StreamKey;
use fedround_simulation::parties::{
    Host, HostId, Loopback, Parties, PartyError, PartyHost, Payload, Replies, Ticket, Unreachable,
};
use fedround_simulation::{CohortBatch, FederatedDataset, Simulation};
use fedround_store::{ElementType, TensorBytes};

use crate::cases::{Case, at_parties};
use crate::parties::{Shared, parameters, text};
use crate::{SEED, tracer};

const CLIENTS: usize = 8;

fn alone(case: &Case) -> Simulation {
    let simulation = case.simulation_of(Device::Cpu, &[4; CLIENTS]);
    simulation.with_cohort_batch(CohortBatch::Off)
}

/// Clients of one host are not beside each other.
fn federation(simulation: &dyn Fn() -> Simulation, hosts: usize) -> (Simulation, Shared) {
    let clients = simulation().dataset().client_indices.len();
    let of = |host: usize| (0..clients).filter(move |k| k % hosts == host);
    let hosts = (0..hosts).map(|i| PartyHost::new(simulation(), of(i).collect()).unwrap());
    let parties = Shared(Arc::new(Mutex::new(Loopback::new(hosts.collect()))));
    let coordinator = simulation().with_parties(Box::new(parties.clone()), 1);
    (coordinator.unwrap().with_partial_sums(true), parties)
}

/// How many floats lie between two, at most, over all parameters.
fn apart(a: &[Vec<u32>], b: &[Vec<u32>]) -> i64 {
    let place = |bits: u32| match i64::from(bits) {
        // Those below zero go the other way.
        bits if bits >= 1 << 31 => (1 << 31) - bits,
        bits => bits,
    };
    let pairs = a.iter().flatten().zip(b.iter().flatten());
    let apart = pairs.map(|(a, b)| (place(*a) - place(*b)).abs());
    apart.max().unwrap_or_default()
}

#[test]
fn sums_of_hosts_give_what_a_simulation_gives() {
    let (mut summed, mut smaller, mut equal) = (0, 0, 0);
    for case in at_parties() {
        let mut simulation = alone(case);
        let phases = simulation.program().phases().into_iter();
        let mut splits = phases.map(|(_, phase)| phase.parties().unwrap());
        let first = splits.next().unwrap();
        if first.regions.iter().all(|region| region.sums.is_empty()) {
            continue;
        }
        let expected = simulation.run_round().unwrap();
        for n in [1, 2, 4] {
            let what = format!("{} {:?}, {n} hosts", case.0, case.1);
            let (mut coordinator, parties) = federation(&|| alone(case), n);
            let found = coordinator.run_round().unwrap();
            assert!(found.failed.is_empty(), "{what}");
            let loss = (found.train_loss.to_bits(), found.client_steps);
            let loss_alone = (expected.train_loss.to_bits(), expected.client_steps);
            assert_eq!(loss, loss_alone, "{what}");
            // Those of two clients are as large as their values.
            assert!(found.bytes_up <= expected.bytes_up, "{what}");
            smaller += usize::from(found.bytes_up < expected.bytes_up);
            assert_eq!(
                parties.0.lock().unwrap().traffic().up as u64,
                found.bytes_up
            );
            let apart = apart(&parameters(&coordinator), &parameters(&simulation));
            assert!(apart <= 1, "{what}: {apart} floats apart");
            summed += 1;
            equal += usize::from(apart == 0);
        }
    }
    eprintln!("{equal} of {summed} federations have the simulation's bits");
    assert!(summed > 45 && smaller > 30, "{summed}, {smaller}");
}

/// Without the switch, and with it: what the hosts of a number of clients send in a round of FedAvg.
fn sent(clients: usize, sums: bool) -> usize {
    let simulation = || fed_avg(clients, None);
    let (coordinator, parties) = federation(&simulation, 1);
    coordinator.with_partial_sums(sums).run_round().unwrap();
    parties.0.lock().unwrap().traffic().up
}

fn fed_avg(clients: usize, spoilt: Option<usize>) -> Simulation {
    let algorithm = FedAvg {
        fraction: 1.0,
        batch: 2,
        ..FedAvg::default()
    };
    let program = Program::compile(&algorithm, tracer("logistic")).unwrap();
    let mut words = StreamKey::root(5).stream();
    let mut x: Vec<f32> = (0..2 * clients * 784)
        .map(|_| words.unit() as f32)
        .collect();
    if let Some(client) = spoilt {
        x[2 * client * 784] = f32::NAN;
    }
    let x = Column::floats("x", [1, 28, 28], x).unwrap();
    let labels: Vec<u16> = (0..2 * clients).map(|i| (i % 10) as u16).collect();
    let dataset = FederatedDataset {
        examples: Examples::of_columns(vec![x], labels).unwrap(),
        client_indices: (0..clients).map(|k| vec![2 * k, 2 * k + 1]).collect(),
    };
    let simulation = Simulation::new(program, dataset, SEED, 1).unwrap();
    simulation.with_cohort_batch(CohortBatch::Off)
}

#[test]
fn what_a_host_sends_does_not_grow_with_its_clients() {
    // The number of examples of each client, in four bytes.
    let numbers = |clients: usize| 4 * clients;
    let parameters = 7850;
    for clients in [2, 6, 12] {
        assert_eq!(sent(clients, true), 8 * parameters + numbers(clients));
        let each = 4 * parameters * clients;
        assert_eq!(sent(clients, false), each + numbers(clients));
    }
    // A sum of one client would be larger than its value.
    assert_eq!(sent(1, true), sent(1, false));
}

#[test]
fn clients_that_are_not_finite_are_found_at_their_host() {
    let simulation = || fed_avg(6, Some(3));
    let mut alone = simulation();
    let (mut coordinator, _) = federation(&simulation, 2);
    for _ in 0..2 {
        let (expected, found) = (alone.run_round().unwrap(), coordinator.run_round().unwrap());
        assert_eq!(expected.not_finite, [3]);
        assert_eq!((found.not_finite, found.failed), (vec![3], vec![]));
    }
    assert!(apart(&parameters(&coordinator), &parameters(&alone)) <= 2);
}

/// The second host's sums are not finite, and it says nothing of it.
struct Spoilt(Loopback, Vec<Ticket>);

impl Parties for Spoilt {
    fn online(&mut self) -> Result<Vec<Host>, Unreachable> {
        self.0.online()
    }

    fn send(&mut self, to: HostId, request: &Payload) -> Result<Ticket, PartyError> {
        let ticket = self.0.send(to, request)?;
        self.1.extend((to == HostId(1)).then_some(ticket));
        Ok(ticket)
    }

    fn poll(&mut self) -> Result<Replies, Unreachable> {
        let mut replies = self.0.poll()?;
        for (ticket, reply) in &mut replies {
            let Ok(reply) = reply else { continue };
            for (_, tensor) in reply.tensors.iter_mut() {
                if self.1.contains(ticket) && tensor.element == ElementType::F64 {
                    let values = vec![f64::NAN; tensor.doubles().unwrap().len()];
                    *tensor = Arc::new(TensorBytes::of_doubles(&values, &tensor.shape));
                }
            }
        }
        Ok(replies)
    }
}

#[test]
fn a_host_whose_sum_is_not_finite_fails() {
    let host = |clients| PartyHost::new(fed_avg(6, None), clients).unwrap();
    let hosts = vec![host(vec![0, 2, 4]), host(vec![1, 3, 5])];
    let parties = Box::new(Spoilt(Loopback::new(hosts), vec![]));
    let coordinator = fed_avg(6, None).with_parties(parties, 1).unwrap();
    let mut coordinator = coordinator.with_partial_sums(true);
    let stats = coordinator.run_round().unwrap();
    assert_eq!(stats.failed, [1, 3, 5], "{}", text(&stats));
    let [(_, why)] = coordinator.party_failures() else {
        panic!("{:?}", coordinator.party_failures());
    };
    assert!(why.to_string().contains("is not finite"), "{why}");
}
