//! A CPU and a GPU share the clients of a round; two GPUs of a kind, too, where there are two.

use fedround_algorithms::{FedAvg, FedRep, Scaffold};
use fedround_dsl::Algorithm;
use fedround_exec::{Device, GraphCapture, Program};
use fedround_simulation::{CohortBatch, Simulation};

use super::{SEED, dataset, devices, fed_avg, tracer};

/// What four rounds give, and the parameters on which a GPU's rounding shows.
#[derive(Debug, PartialEq)]
struct Available {
    losses: Vec<f64>,
    params: Vec<f32>,
    /// The clients' own models.
    own: Vec<f32>,
    /// Replays of recorded steps, on all devices.
    replays: u64,
    test_loss: f64,
}

fn run(
    algorithm: &dyn Algorithm,
    devices: &[Device],
    batch: CohortBatch,
    graphs: GraphCapture,
) -> Available {
    let program = Program::compile_for(algorithm, tracer("2nn"), devices[0]).unwrap();
    let mut simulation = Simulation::new(program, dataset(), SEED, 2)
        .unwrap()
        .with_personal(algorithm)
        .unwrap()
        .with_cohort_batch(batch)
        .with_graph_capture(graphs)
        .unwrap()
        .with_devices(&devices[1..])
        .unwrap();
    let losses = (0..4).map(|_| simulation.run_round().unwrap().train_loss);
    let losses = losses.collect();
    let models = simulation.personal_models().unwrap();
    let own = models.iter().flat_map(|models| {
        let clients = 0..dataset().client_indices.len();
        clients.filter_map(|k| simulation.personal_parameters(models, k).unwrap())
    });
    let values = |leaves: Vec<(_, _, Vec<f32>)>| leaves.into_iter().flat_map(|(_, _, v)| v);
    Available {
        losses,
        replays: simulation.capture_stats().map_or(0, |stats| stats.replays),
        own: own.flat_map(values).collect(),
        params: values(simulation.parameters().unwrap()).collect(),
        test_loss: simulation.evaluate(&dataset().examples).unwrap().loss,
    }
}

fn close(name: &str, a: &Available, b: &Available) {
    let all = |of: &Available| -> Vec<f64> {
        let params = of.params.iter().chain(&of.own).map(|&x| f64::from(x));
        params
            .chain(of.losses.clone())
            .chain([of.test_loss])
            .collect()
    };
    let (a, b) = (all(a), all(b));
    assert_eq!(a.len(), b.len(), "{name}");
    for (i, (x, y)) in a.iter().zip(b).enumerate() {
        assert!((x - y).abs() < 1e-4, "{name}: element {i} is {x}, not {y}");
    }
}

/// With clients that take enough steps for a GPU to replay some.
fn share(algorithm: &dyn Algorithm) {
    let name = algorithm.name();
    let alone = run(
        algorithm,
        &[Device::Cpu],
        CohortBatch::Off,
        GraphCapture::Off,
    );
    let batch = CohortBatch::Clients(2);
    for gpu in devices().into_iter().skip(1) {
        let shared = |devices: &[Device]| run(algorithm, devices, batch, GraphCapture::On);
        let (first, last) = (shared(&[Device::Cpu, gpu]), shared(&[gpu, Device::Cpu]));
        close(&format!("{name}, cpu and {gpu}"), &first, &alone);
        close(&format!("{name}, {gpu} and cpu"), &last, &alone);
        for found in [&first, &last] {
            assert!(found.replays > 0, "{name}");
        }
        // Not a GPU's bits alone, nor a CPU's, and the same from run to run.
        assert_ne!(first, alone, "{name}");
        assert_eq!(first, shared(&[Device::Cpu, gpu]), "{name}");
        if let Some(other) = second(gpu) {
            let twins = shared(&[gpu, other]);
            close(&format!("{name}, {gpu} and {other}"), &twins, &alone);
            assert!(twins.replays > 0, "{name}");
            assert_eq!(twins, shared(&[gpu, other]), "{name}");
        }
    }
}

/// Another GPU of the kind, where there is one.
fn second(gpu: Device) -> Option<Device> {
    let reports = fedround_exec::device::devices().into_iter();
    let found = reports.flat_map(|report| report.found);
    let other = match gpu {
        Device::Wgpu(n) => Device::Wgpu(n + 1),
        Device::Cuda(n) => Device::Cuda(n + 1),
        Device::Cpu => return None,
    };
    found
        .map(|found| found.device)
        .find(|&device| device == other)
}

#[test]
fn clients_share_devices() {
    let fed_avg = FedAvg {
        epochs: 3,
        ..fed_avg()
    };
    share(&fed_avg);
}

#[test]
fn states_follow_clients_from_device_to_device() {
    let scaffold = Scaffold {
        // Two of three clients: who trains where differs from round to round.
        fraction: 0.67,
        // Enough for a GPU to record a step, which it does after eight.
        epochs: 3,
        batch: 4,
        ..Scaffold::default()
    };
    share(&scaffold);
}

#[test]
fn personal_parts_follow_clients_from_device_to_device() {
    let fed_rep = FedRep {
        head_epochs: 2,
        epochs: 3,
        fraction: 0.67,
        batch: 4,
        ..FedRep::default()
    };
    share(&fed_rep);
}
