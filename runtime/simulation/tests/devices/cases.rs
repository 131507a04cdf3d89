//! Every bundled algorithm on a model and data of few numbers.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock};

use burn::module::Module;
use burn::nn::{Linear, LinearConfig};
use burn::tensor::activation::relu;
use burn::tensor::{Device as BurnDevice, Tensor};
use fedround_algorithms::registry;
use fedround_data::{Column, Examples};
use fedround_dsl::{Algorithm, BoxedAlgorithm, all_fields, set};
use fedround_exec::{CaptureStats, Device, Program, assemble_for};
use fedround_models::layers::BatchNorm;
use fedround_models::{
    Assembly, AuxiliaryTask, Encoder, ForwardCx, Headed, Losses, Model, Part, Task, VaeConfig, find,
};
use fedround_random::StreamKey;
use fedround_simulation::{FederatedDataset, RunError, Simulation};
use fedround_trace::TracedModel;

const TASK: Task = Task {
    input: [1, 8, 8],
    classes: 3,
};

/// A layer with batch normalisation: what most algorithms say of parts and norms applies to it.
#[derive(Module, Debug)]
struct Tiny {
    layer: Linear,
    norm: BatchNorm,
}

impl Encoder for Tiny {
    fn features(&self, x: Tensor<4>, cx: &ForwardCx) -> Tensor<2> {
        let h = self.layer.forward(x.flatten::<2>(1, 3));
        relu(self.norm.forward(h, cx))
    }
}

fn tiny() -> Box<dyn Model> {
    let device = BurnDevice::flex();
    let features = Tiny {
        layer: LinearConfig::new(64, 8).init(&device),
        norm: BatchNorm::new(8, &device),
    };
    Box::new(Headed::on(features, 8, TASK, &device))
}

/// The same with the networks of FedFed, narrow ones.
fn with_generator() -> Box<dyn Model> {
    let network = |name, functions: &[(&'static str, &'static str)], model| Part {
        name,
        functions: functions.to_vec(),
        model,
    };
    let vae = VaeConfig {
        input: TASK.input,
        width: 4,
        latent: 8,
    };
    let classes = ["forward", "features", "head"].map(|f| (f, f));
    let images = [("generate", "reconstruct"), ("code", "encode")];
    let vae = Box::new(vae.init(&BurnDevice::flex()));
    Box::new(Assembly::new(vec![
        network("", &classes, tiny()),
        network("generator", &images, vae),
        network("judge", &[("judge", "forward")], tiny()),
    ]))
}

/// How a bundled algorithm is tested: its text, what is set besides [`SMALL`], and the rounds that
/// its phases take.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Case(
    pub &'static str,
    pub &'static [(&'static str, &'static str)],
    pub usize,
);

pub const CASES: [Case; 51] = [
    Case("fedavg", &[("weight_decay", "0.01")], 2),
    Case("fedavgm", &[], 2),
    Case("fedopt", &[], 2),
    Case("fedprox", &[], 2),
    Case("scaffold", &[], 2),
    Case("fednova", &[("mu", "0.1")], 2),
    Case("fedbn", &[], 2),
    Case("moon", &[], 2),
    Case("partialfed", &[], 2),
    Case("partialfed", &[("adaptive", "true")], 2),
    Case("disentangled", &[], 2),
    Case("fada", &[], 2),
    Case("per-fedavg", &[], 2),
    Case("per-fedavg", &[("variant", "exact")], 2),
    Case("fedrep", &[], 2),
    Case("solo", &[], 2),
    Case("centralized", &[], 2),
    Case("fedaa", &[], 2),
    Case("fedfed", &[("momentum", "0.9")], 3),
    Case("fedasync", &[("in_flight", "2")], 3),
    Case("fedmd", &[("examples", "4")], 3),
    Case("adfl", &[], 2),
    Case("label-overlap", &[], 2),
    Case("validated", &[], 2),
    Case("mimelite", &[], 2),
    Case("adaptive-clip", &[("participation", "0.9")], 2),
    Case("dp-ftrl", &[("clients", "3")], 2),
    Case("hypcluster", &[], 2),
    Case("oort", &[], 2),
    Case("lg-fedavg", &[], 2),
    Case("lg-fedavg", &[("task", "jigsaw")], 2),
    Case("gradient-weights", &[], 2),
    Case("frozen", &[], 2),
    Case("decayed", &[], 2),
    Case("fair", &[], 2),
    Case("agnostic", &[], 2),
    Case("krum", &[("selected", "2")], 2),
    Case("median", &[], 2),
    Case("trimmed-mean", &[("beta", "0.4")], 2),
    Case("label-flip", &[("malicious", "0.4")], 2),
    Case("sign-flip", &[("malicious", "0.4")], 2),
    Case("adcol", &[], 2),
    Case("older", &[], 3),
    Case("shared-head", &[], 2),
    Case("ef21", &[], 2),
    Case("compressed", &[], 2),
    Case("push-sum", &[], 2),
    Case("cyclic", &[], 2),
    Case("split-learning", &[("steps", "2")], 2),
    Case("dp-sgd", &[("sigma", "0.01")], 2),
    Case("fixed-parties", &[("parties", "2"), ("dropped", "1")], 2),
];

/// Those that run between a coordinator and parties: all but those whose updates arrive one by one, and
/// those whose clients send to each other.
pub fn at_parties() -> impl Iterator<Item = &'static Case> {
    let alone = ["fedasync", "push-sum"];
    CASES.iter().filter(move |case| !alone.contains(&case.0))
}

/// The programs that tests have compiled, each of a case, a device and a number of clients.
type Programs = HashMap<(Case, String, usize), Arc<OnceLock<Arc<Program>>>>;

static PROGRAMS: Mutex<Option<Programs>> = Mutex::new(None);

/// What came of a run.
pub struct Trained {
    /// Of each round.
    pub losses: Vec<f64>,
    /// Parameters by name.
    pub leaves: Vec<(String, Vec<f32>)>,
    pub graphs: Option<CaptureStats>,
}

/// Of losses and parameters of a size of 1: devices add in other orders.
const TOLERANCE: f64 = 1e-4;

/// Two steps of Adam of size 0.001 each way.
const OF_CHANCE: f64 = 4e-3;

/// Few clients, examples and steps, for every algorithm that has the hyper-parameter.
const SMALL: [(&str, &str); 21] = [
    ("fraction", "1"),
    ("share", "1"),
    ("epochs", "1"),
    ("batch", "4"),
    ("lr", "0.1"),
    ("momentum", "0.9"),
    ("rows", "4"),
    ("second_batch", "4"),
    ("iterations", "2"),
    ("fine_tune", "2"),
    ("identifier_steps", "2"),
    ("steps", "2"),
    ("distill", "1"),
    ("distill_share", "1"),
    ("distill_batch", "4"),
    ("shared_batch", "4"),
    ("validators", "1"),
    ("head_epochs", "1"),
    ("gate_batch", "4"),
    ("d_lr", "0.1"),
    ("eta", "0.1"),
];

impl Case {
    fn algorithm(&self) -> BoxedAlgorithm {
        let mut algorithm = registry().parse(self.0).unwrap();
        let own = self.1.iter().map(|setting| (setting, true));
        let small = SMALL.iter().map(|setting| (setting, false));
        for ((name, text), needed) in small.chain(own) {
            let fields = all_fields(&*algorithm).into_iter();
            let Some(known) = fields.into_iter().find(|f| f.field.name == *name) else {
                assert!(!needed, "{} has no `{name}`", self.0);
                continue;
            };
            set(&mut *algorithm, name, known.field.parse(text).unwrap()).unwrap();
        }
        algorithm
    }

    fn program(&self, algorithm: &dyn Algorithm, device: Device, clients: usize) -> Program {
        let base = match self.0 {
            "fedfed" => with_generator(),
            _ => tiny(),
        };
        self.program_with((base, TASK), algorithm, device, clients)
    }

    fn program_with(
        &self,
        (base, task): (Box<dyn Model>, Task),
        algorithm: &dyn Algorithm,
        device: Device,
        clients: usize,
    ) -> Program {
        let around = AuxiliaryTask {
            task,
            clients,
            variants: Default::default(),
        };
        let built = assemble_for(algorithm, base, &around, &BurnDevice::flex());
        let built = built.unwrap_or_else(|error| panic!("{}: {error}", self.0));
        let columns = vec![("protected".to_owned(), vec![2])];
        let tracer = TracedModel::new("tiny", built.model, task, Losses::default());
        Program::compile_for(algorithm, tracer.with_columns(columns), device)
            .unwrap_or_else(|error| panic!("{} on {device}: {error}", self.0))
    }

    /// The program, which all simulations of the case share: many of them are made, of parties above all.
    fn shared_program(&self, device: Device, clients: usize) -> Arc<Program> {
        let key = (*self, device.to_string(), clients);
        let mut programs = PROGRAMS.lock().unwrap_or_else(|e| e.into_inner());
        let known = programs.get_or_insert_default().entry(key).or_default();
        let known = Arc::clone(known);
        drop(programs);
        let compile = || Arc::new(self.program(&*self.algorithm(), device, clients));
        Arc::clone(known.get_or_init(compile))
    }

    /// The case on three clients, of which one has more steps than the others.
    pub fn simulation(&self, device: Device) -> Simulation {
        self.simulation_of(device, &SIZES)
    }

    /// The case on clients that have so many examples.
    pub fn simulation_of(&self, device: Device, sizes: &[usize]) -> Simulation {
        let program = self.shared_program(device, sizes.len());
        let simulation = Simulation::new(program, dataset(sizes), 3, 2).unwrap();
        simulation.with_public(dataset(&[6]).examples)
    }

    /// The kernels of a step with a model, of all regions that read a batch.
    pub fn kernels(&self, model: &str, task: Task, device: Device) -> usize {
        let algorithm = self.algorithm();
        let built = find(model).unwrap().build(task, &BurnDevice::flex());
        let base = (built.unwrap(), task);
        let program = self.program_with(base, &*algorithm, device, SIZES.len());
        program.step_kernels(1).unwrap().unwrap()
    }

    /// The same, with the clients' own models.
    pub fn with_own_models(&self) -> Simulation {
        let simulation = self.simulation(Device::Cpu);
        simulation.with_personal(&*self.algorithm()).unwrap()
    }

    /// Biases before batch normalisation have gradients of zero but for rounding. FedFed's Adam divides
    /// those by their own size: biases, and the means that follow them, go where rounding says.
    fn tolerance(&self, leaf: &str) -> f64 {
        let by_chance = leaf.ends_with(".bias") || leaf.ends_with(".running_mean");
        match self.0 {
            "fedfed" if by_chance => OF_CHANCE,
            _ => TOLERANCE,
        }
    }

    /// Where a run differs from another by more than the tolerance.
    pub fn differences(&self, found: &Trained, expected: &Trained) -> Vec<String> {
        let far = |x: f64, y: f64, tolerance: f64| {
            (x - y).abs() > tolerance * y.abs().max(1.0) || x.is_nan() != y.is_nan()
        };
        let mut wrong = vec![];
        for (round, (x, y)) in found.losses.iter().zip(&expected.losses).enumerate() {
            if far(*x, *y, TOLERANCE) {
                wrong.push(format!("loss of round {}: {x}, not {y}", round + 1));
            }
        }
        for ((name, found), (_, expected)) in found.leaves.iter().zip(&expected.leaves) {
            assert_eq!(found.len(), expected.len(), "{name}");
            let pairs = found.iter().zip(expected);
            let tolerance = self.tolerance(name);
            let differ = |(_, (x, y)): &(usize, (&f32, &f32))| {
                far(f64::from(**x), f64::from(**y), tolerance)
            };
            let apart = pairs.enumerate().find(differ);
            if let Some((i, (x, y))) = apart {
                wrong.push(format!("{name}, element {i}: {x}, not {y}"));
            }
        }
        wrong
    }
}

impl Trained {
    /// Runs `rounds` of a simulation.
    pub fn of(mut simulation: Simulation, rounds: usize) -> Result<Self, RunError> {
        let step = |_| simulation.run_round().map(|stats| stats.train_loss);
        let losses: Result<_, _> = (0..rounds).map(step).collect();
        let leaves = simulation.parameters().unwrap().into_iter();
        let leaves = leaves.map(|(name, _, values)| (name, values)).collect();
        Ok(Self {
            losses: losses?,
            leaves,
            graphs: simulation.capture_stats(),
        })
    }
}

/// Examples of the clients.
pub const SIZES: [usize; 3] = [8, 4, 4];

fn dataset(sizes: &[usize]) -> FederatedDataset {
    let mut words = StreamKey::root(5).stream();
    let n: usize = sizes.iter().sum();
    let x: Vec<f32> = (0..n * 64).map(|_| words.unit() as f32).collect();
    let protected: Vec<f32> = (0..n * 2).map(|_| words.below(2) as f32).collect();
    let labels: Vec<u16> = (0..n).map(|i| (i % TASK.classes) as u16).collect();
    let columns = vec![
        Column::floats("x", TASK.input, x).unwrap(),
        Column::floats("protected", [2], protected).unwrap(),
    ];
    let mut first = 0;
    let client_indices = sizes.iter().map(|size| {
        first += size;
        (first - size..first).collect()
    });
    FederatedDataset {
        examples: Examples::of_columns(columns, labels).unwrap(),
        client_indices: client_indices.collect(),
    }
}
