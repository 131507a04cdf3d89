//! Every bundled algorithm runs between a coordinator and parties as in a simulation, bit for bit.

use std::sync::{Arc, Mutex};

use fedround_algorithms::Scaffold;
use fedround_data::synth::SynthDigits;
use fedround_exec::{Device, Program};
use fedround_ir::fed::{FedOp, OpKind};
use fedround_simulation::parties::{
    Host, HostId, Loopback, Parties, PartyError, PartyHost, Payload, Replies, Ticket, Traffic,
    Unreachable,
};
use fedround_simulation::{CohortBatch, FederatedDataset, RoundStats, Simulation};

use crate::cases::{CASES, Case, SIZES, at_parties};
use crate::{SEED, tracer};

/// Parties that a test can look at while a coordinator has them.
#[derive(Clone)]
pub struct Shared(pub Arc<Mutex<Loopback>>);

impl Parties for Shared {
    fn online(&mut self) -> Result<Vec<Host>, Unreachable> {
        self.0.lock().unwrap().online()
    }

    fn send(&mut self, to: HostId, request: &Payload) -> Result<Ticket, PartyError> {
        self.0.lock().unwrap().send(to, request)
    }

    fn poll(&mut self) -> Result<Replies, Unreachable> {
        self.0.lock().unwrap().poll()
    }
}

/// Clients alone in their graphs: who trains with whom would be other clients at each host.
fn alone(case: &Case) -> Simulation {
    let simulation = case.simulation(Device::Cpu);
    simulation.with_cohort_batch(CohortBatch::Off)
}

fn hosts(case: &Case, n: usize) -> Vec<PartyHost> {
    let of = |host: usize| (0..SIZES.len()).filter(move |k| k % n == host);
    let host = |i| PartyHost::new(alone(case), of(i).collect()).unwrap();
    (0..n).map(host).collect()
}

fn federation(case: &Case, n: usize) -> (Simulation, Shared) {
    let parties = Shared(Arc::new(Mutex::new(Loopback::new(hosts(case, n)))));
    let coordinator = alone(case).with_parties(Box::new(parties.clone()), 1);
    (coordinator.unwrap(), parties)
}

/// A round's numbers, to their last bit.
pub fn text(stats: &RoundStats) -> String {
    let bits = stats.train_loss.to_bits();
    let (up, down) = (stats.bytes_up, stats.bytes_down);
    format!("{bits:x} {} {up} {down}", stats.client_steps)
}

fn bits(values: Option<Vec<Vec<f32>>>) -> Option<Vec<Vec<u32>>> {
    let bits = |leaf: Vec<f32>| leaf.into_iter().map(f32::to_bits).collect();
    values.map(|leaves| leaves.into_iter().map(bits).collect())
}

pub fn parameters(simulation: &Simulation) -> Vec<Vec<u32>> {
    let leaves = simulation.parameters().unwrap().into_iter();
    bits(Some(leaves.map(|(_, _, values)| values).collect())).unwrap()
}

/// The names of states of all phases.
fn states(simulation: &Simulation) -> Vec<String> {
    let phases = simulation.program().phases().into_iter();
    let ops = phases.flat_map(|(_, phase)| phase.linked().all_ops());
    let names = ops.filter_map(|op| match &op.kind {
        OpKind::Fed(
            FedOp::SetServerState(name) | FedOp::SetClientState(name) | FedOp::Personal(name, _),
        ) => Some(name.clone()),
        _ => None,
    });
    names.collect()
}

/// Where the parties have other states than the clients of a simulation, or the coordinator than its server.
fn other_states(
    simulation: &Simulation,
    coordinator: &Simulation,
    hosts: &[PartyHost],
) -> Vec<String> {
    let mut wrong = vec![];
    for name in states(simulation) {
        let server = |of: &Simulation| bits(of.server_state(&name).unwrap());
        if server(simulation) != server(coordinator) {
            wrong.push(format!("state {name} of the server"));
        }
        for k in 0..SIZES.len() {
            let host = hosts
                .iter()
                .find(|host| host.clients().contains(&k))
                .unwrap();
            let own = |of: &Simulation| bits(of.client_state(k, &name).unwrap());
            if own(simulation) != own(host.simulation()) {
                wrong.push(format!("state {name} of client {k}"));
            }
            let kept = |of: &Simulation| bits(of.server_state_for(k, &name).unwrap());
            if kept(simulation) != kept(coordinator) {
                wrong.push(format!("state {name} for client {k}"));
            }
        }
    }
    wrong
}

/// Where rounds between parties differ from those of a simulation, which ran these.
fn differences(
    case: &Case,
    n: usize,
    (simulation, rounds): (&Simulation, &[RoundStats]),
) -> Vec<String> {
    let (mut coordinator, parties) = federation(case, n);
    let mut wrong = vec![];
    for (expected, round) in rounds.iter().zip(1..) {
        let before = parties.0.lock().unwrap().traffic();
        let found = match coordinator.run_round() {
            Ok(found) => found,
            Err(error) => {
                wrong.push(format!("round {round}: {error}"));
                break;
            }
        };
        if text(expected) != text(&found) {
            let (expected, found) = (text(expected), text(&found));
            wrong.push(format!("round {round}: {found}, not {expected}"));
        }
        if !found.failed.is_empty() {
            wrong.push(format!("round {round}: {:?}", coordinator.party_failures()));
        }
        let after = parties.0.lock().unwrap().traffic();
        wrong.extend(other_bytes(&found, (before, after), n));
    }
    if parameters(simulation) != parameters(&coordinator) {
        wrong.push("parameters".to_owned());
    }
    coordinator.settle_parties().unwrap();
    let parties = parties.0.lock().unwrap();
    wrong.extend(other_states(simulation, &coordinator, parties.hosts()));
    let named = |wrong| format!("{} {:?}, {n} hosts: {wrong}", case.0, case.1);
    wrong.into_iter().map(named).collect()
}

/// Where more or fewer bytes cross than the wire table says. A host of several clients is sent a broadcast once.
fn other_bytes(stats: &RoundStats, (before, after): (Traffic, Traffic), n: usize) -> Vec<String> {
    let rows = [
        (
            "down",
            after.down - before.down,
            stats.bytes_down,
            n >= SIZES.len(),
        ),
        ("up", after.up - before.up, stats.bytes_up, true),
    ];
    let far = |found: usize, expected: u64, same: bool| {
        let (found, expected) = (found as f64, expected as f64);
        found > 1.02 * expected || (same && found < 0.98 * expected)
    };
    let rows = rows.into_iter().filter(|row| far(row.1, row.2, row.3));
    rows.map(|(way, found, expected, _)| format!("{found} bytes {way}, not {expected}"))
        .collect()
}

/// Ten clients of which five train in each round, at ten hosts.
#[test]
fn ten_hosts_train_as_one_simulation() {
    let scaffold = Scaffold {
        fraction: 0.5,
        batch: 2,
        ..Scaffold::default()
    };
    let data = SynthDigits {
        train: 30,
        test: 1,
        ..SynthDigits::default()
    };
    let examples = data.generate().train;
    let simulation = || {
        let program = Program::compile(&scaffold, tracer("logistic")).unwrap();
        let dataset = FederatedDataset {
            examples: examples.clone(),
            client_indices: (0..10).map(|k| (3 * k..3 * k + 3).collect()).collect(),
        };
        let simulation = Simulation::new(program, dataset, SEED, 1).unwrap();
        simulation.with_cohort_batch(CohortBatch::Off)
    };
    let mut alone = simulation();
    let hosts = (0..10).map(|k| PartyHost::new(simulation(), vec![k]).unwrap());
    let parties = Box::new(Loopback::new(hosts.collect()));
    let mut coordinator = simulation().with_parties(parties, 1).unwrap();
    for _ in 0..4 {
        let (expected, found) = (alone.run_round().unwrap(), coordinator.run_round().unwrap());
        assert_eq!(text(&expected), text(&found));
    }
    assert_eq!(parameters(&alone), parameters(&coordinator));
}

/// All hosts start anew after each round, which they were not yet told to keep.
#[test]
fn hosts_go_on_from_their_checkpoints() {
    for name in ["scaffold", "fedrep"] {
        let case = CASES.iter().find(|case| case.0 == name).unwrap();
        let mut simulation = alone(case);
        (0..3).for_each(|_| _ = simulation.run_round().unwrap());
        let run = |saved: bool| {
            let (mut coordinator, parties) = federation(case, 2);
            for round in 0..3 {
                // Without their clients' states hosts do not take part.
                let failed = coordinator.run_round().unwrap().failed;
                assert_eq!(failed.is_empty(), saved || round == 0, "{name}");
                let anew = hosts(case, 2).into_iter();
                let mut loopback = parties.0.lock().unwrap();
                let anew = anew.zip(loopback.hosts()).map(|(mut host, before)| {
                    if saved {
                        host.restore(&before.save().unwrap()).unwrap();
                    }
                    host
                });
                let anew: Vec<PartyHost> = anew.collect();
                *loopback = Loopback::new(anew);
            }
            coordinator.settle_parties().unwrap();
            let hosts = parties.0.lock().unwrap();
            let other = other_states(&simulation, &coordinator, hosts.hosts());
            (parameters(&coordinator), other)
        };
        assert_eq!(run(true), (parameters(&simulation), vec![]), "{name}");
        assert_ne!(run(false).0, parameters(&simulation), "{name}");
    }
}

/// Another coordinator goes on from a checkpoint, after one that ended in the middle of a round that it had not
/// saved, or right after the checkpoint.
#[test]
fn a_coordinator_goes_on_from_a_checkpoint() {
    for name in ["scaffold", "shared-head"] {
        let case = CASES.iter().find(|case| case.0 == name).unwrap();
        let mut simulation = alone(case);
        (0..4).for_each(|_| _ = simulation.run_round().unwrap());
        for unsaved in 0..2 {
            let (mut first, parties) = federation(case, 2);
            (0..2).for_each(|_| _ = first.run_round().unwrap());
            let saved = first.save().unwrap();
            (0..unsaved).for_each(|_| _ = first.run_round().unwrap());
            drop(first);
            let second = alone(case).with_parties(Box::new(parties.clone()), 2);
            let mut second = second.unwrap();
            second.restore(&saved).unwrap();
            (2..4).for_each(|_| assert!(second.run_round().unwrap().failed.is_empty()));
            assert_eq!(
                parameters(&simulation),
                parameters(&second),
                "{name}, {unsaved}"
            );
            second.settle_parties().unwrap();
            let hosts = parties.0.lock().unwrap();
            let other = other_states(&simulation, &second, hosts.hosts());
            assert!(other.is_empty(), "{name}, {unsaved}: {other:?}");
        }
    }
}

/// Nobody is told of states where clients have none, or before a round was kept.
#[test]
fn only_states_are_settled() {
    let messages = |name: &str, rounds: usize| {
        let case = CASES.iter().find(|case| case.0 == name).unwrap();
        let (mut coordinator, parties) = federation(case, 2);
        (0..rounds).for_each(|_| _ = coordinator.run_round().unwrap());
        let sent = || parties.0.lock().unwrap().traffic().messages;
        let before = sent();
        coordinator.settle_parties().unwrap();
        sent() - before
    };
    assert_eq!(messages("fedavg", 1), 0);
    assert_eq!(messages("scaffold", 0), 0);
    assert!(messages("scaffold", 1) > 0);
}

#[test]
fn every_algorithm_runs_between_parties_with_the_same_bits() {
    let of_case = |case: &Case| {
        let mut simulation = alone(case);
        // One round more than its phases take, so that states of the last one are read.
        let rounds = (0..=case.2).map(|_| simulation.run_round().unwrap());
        let rounds: Vec<RoundStats> = rounds.collect();
        let hosts = [1, 2, SIZES.len()].into_iter();
        let wrong = hosts.flat_map(|n| differences(case, n, (&simulation, &rounds)));
        wrong.collect::<Vec<_>>()
    };
    let wrong: Vec<String> = at_parties().flat_map(of_case).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
