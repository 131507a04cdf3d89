//! Running statistics: what training makes of them, and where they go.

use burn::module::Module;
use burn::tensor::{Device, Tensor, TensorData};
use fedround::algorithms::{FedAvg, FedProx};
use fedround::data::Examples;
use fedround::exec::Program;
use fedround::models::layers::BatchNorm;
use fedround::models::{Argument, ForwardCx, Function, Model, Network, Task};
use fedround::prelude::*;
use fedround::simulation::sampling::client_order;
use fedround::simulation::{CohortBatch, Simulation};

use crate::common::{
    Deal, assert_close, compile_model, dealt, digits, hands_on, leaves, run, training_step, weights,
};

const TASK: Task = Task {
    input: [1, 28, 28],
    classes: 10,
};

/// The mean and variance of whole images: statistics that a test computes by hand. The logits are
/// the normalised image's sum, times `gamma`, in every class.
#[derive(Module, Debug)]
struct Normalised {
    norm: BatchNorm,
}

impl Normalised {
    fn forward(&self, x: Tensor<4>, cx: &ForwardCx) -> Tensor<2> {
        let y = self.norm.forward(x, cx);
        let [batch, ..] = y.dims();
        let flat: Tensor<2> = y.reshape([batch, 28 * 28]);
        flat.sum_dim(1).expand([batch, 10])
    }

    /// Other logits of the same normalised image.
    fn represent(&self, x: Tensor<4>, cx: &ForwardCx) -> Tensor<2> {
        self.forward(x, cx) * 0.5
    }

    /// The image as it is.
    fn plain(&self, x: Tensor<4>, _: &ForwardCx) -> Tensor<2> {
        let [batch, ..] = x.dims();
        let flat: Tensor<2> = x.reshape([batch, 28 * 28]);
        flat.sum_dim(1).expand([batch, 10])
    }
}

impl Network for Normalised {
    fn functions() -> Vec<Function<Self>> {
        vec![
            Function::new("forward", Self::forward),
            Function::new("represent", Self::represent),
            Function::new("plain", Self::plain),
        ]
    }
}

pub(crate) fn normalised() -> Box<dyn Model> {
    Box::new(Normalised {
        norm: BatchNorm::new(1, &Device::default()),
    })
}

// Places of the leaves of `Normalised`; gamma and beta come first.
pub(crate) const MEAN: usize = 2;
pub(crate) const VAR: usize = 3;

pub(crate) fn start(algorithm: &dyn Algorithm, federation: Deal) -> Simulation {
    let program = compile_model(algorithm, "normalised", normalised(), TASK);
    federation.simulation(program, 2)
}

fn step(batch: usize, lr: f32) -> FedAvg {
    FedAvg {
        fraction: 1.0,
        epochs: 1,
        batch,
        lr,
        ..FedAvg::default()
    }
}

/// Mean and unbiased variance of all pixels of some images, in `f64`.
pub(crate) fn moments(data: &Examples, indices: &[usize]) -> (f64, f64) {
    let (mut x, mut y) = (vec![], vec![]);
    data.gather(indices, &mut x, &mut y).unwrap();
    let n = x.len() as f64;
    let mean = x.iter().map(|&v| f64::from(v)).sum::<f64>() / n;
    let squares = x.iter().map(|&v| (f64::from(v) - mean).powi(2));
    (mean, squares.sum::<f64>() / (n - 1.0))
}

pub(crate) fn near(found: f32, expected: f64) {
    let error = (f64::from(found) - expected).abs();
    assert!(error < 1e-5, "{found}, expected {expected}");
}

#[test]
fn a_step_moves_the_running_estimates_as_in_pytorch() {
    let data = digits(12, 1).train;
    let all: Vec<usize> = (0..12).collect();
    let mut simulation = start(&step(12, 0.1), dealt(&data, vec![all.clone()], 3));
    let first = leaves(&simulation);
    assert_eq!(first, [[1.0], [0.0], [0.0], [1.0]]);

    let (mean, var) = moments(&data, &all);
    let (mut m, mut v) = (0.0, 1.0);
    for _ in 0..3 {
        (m, v) = (0.9 * m + 0.1 * mean, 0.9 * v + 0.1 * var);
        run(&mut simulation, 1);
        near(leaves(&simulation)[MEAN][0], m);
        near(leaves(&simulation)[VAR][0], v);
    }
}

/// Running estimates after one epoch of client 0 in round 1.
fn after_batches(federation: &Deal, size: usize) -> (f64, f64) {
    let order = client_order(
        federation.seed,
        1,
        0,
        &federation.dataset.client_indices[0],
        0,
    );
    order.chunks(size).fold((0.0, 1.0), |(m, v), batch| {
        let (mean, var) = moments(&federation.dataset.examples, batch);
        (0.9 * m + 0.1 * mean, 0.9 * v + 0.1 * var)
    })
}

#[test]
fn batches_follow_one_another() {
    let data = digits(10, 1).train;
    let federation = dealt(&data, vec![(0..10).collect()], 3);
    let (mean, var) = after_batches(&federation, 4);
    // Momentum has no part in them.
    for momentum in [0.0, 0.9] {
        let algorithm = FedAvg {
            momentum,
            ..step(4, 0.1)
        };
        let mut simulation = start(&algorithm, federation.clone());
        run(&mut simulation, 1);
        near(leaves(&simulation)[MEAN][0], mean);
        near(leaves(&simulation)[VAR][0], var);
    }
}

#[test]
fn clients_average_their_estimates() {
    let data = digits(9, 1).train;
    let parts: Vec<Vec<usize>> = vec![(0..6).collect(), (6..9).collect()];
    let mut simulation = start(&step(6, 0.1), dealt(&data, parts.clone(), 3));
    run(&mut simulation, 1);
    let of = |part: &Vec<usize>| {
        let (mean, var) = moments(&data, part);
        (0.1 * mean, 0.9 + 0.1 * var)
    };
    let ((m0, v0), (m1, v1)) = (of(&parts[0]), of(&parts[1]));
    near(leaves(&simulation)[MEAN][0], (6.0 * m0 + 3.0 * m1) / 9.0);
    near(leaves(&simulation)[VAR][0], (6.0 * v0 + 3.0 * v1) / 9.0);
}

#[test]
fn evaluation_uses_the_running_estimates() {
    let data = digits(4, 4);
    let federation = dealt(&data.train, vec![vec![0]], 3);
    let mut simulation = start(&step(1, 0.1), federation);
    // Every class has the same logit, so the loss is ln 10 whatever the estimates are.
    let loss = simulation.evaluate(&data.test).unwrap().loss;
    assert!((loss - 10f64.ln()).abs() < 1e-6);
    assert!(simulation.set_parameters(vec![vec![1.0], vec![0.0], vec![f32::NAN], vec![1.0]]));
    assert!(simulation.evaluate(&data.test).unwrap().loss.is_nan());
    // Training normalises with the batch's own.
    let loss = |mean: f32| {
        let mut simulation = start(&step(1, 0.1), dealt(&data.train, vec![vec![0]], 3));
        assert!(simulation.set_parameters(vec![vec![1.0], vec![0.0], vec![mean], vec![1.0]]));
        run_once(&mut simulation)
    };
    assert_eq!(loss(1e6).to_bits(), loss(0.0).to_bits());
}

fn run_once(simulation: &mut Simulation) -> f64 {
    simulation.run_round().unwrap().train_loss
}

/// Takes the gradient at what it received, several times, without moving: only the statistics
/// change. The gradient is taken in one segment and the parameters are returned in another.
#[derive(Hyper, Debug, Clone)]
pub struct Watch {
    /// Batch size.
    #[hyper(default = 4, range = 1..)]
    pub batch: usize,
}

#[federated]
impl Algorithm for Watch {
    fn round(&self, server: &ServerCx, w: Server<Params>) -> Server<Params> {
        let everyone = server.all_clients();
        let w_k = w.broadcast(&everyone).map(|k, w| self.client_update(k, w));
        self.aggregate(server, w_k)
    }

    fn client_update(&self, k: &ClientCx, w: Params) -> Params {
        let mut g = 0.0 * &w;
        for b in k.batches(1, self.batch) {
            g += grad(&w, |w| cross_entropy(k.forward(w, &b.x), &b.y));
        }
        k.set_state("g", &g);
        w
    }

    fn aggregate(&self, _: &ServerCx, w_k: Clients<Params>) -> Server<Params> {
        w_k.mean()
    }
}

#[test]
fn statistics_outlive_the_segment_that_made_them() {
    let data = digits(10, 1).train;
    let federation = dealt(&data, vec![(0..10).collect()], 3);
    let (mean, var) = after_batches(&federation, 4);
    let mut watch = start(&Watch { batch: 4 }, federation);
    run(&mut watch, 1);
    assert_eq!(leaves(&watch)[..MEAN], [[1.0], [0.0]]);
    near(leaves(&watch)[MEAN][0], mean);
    near(leaves(&watch)[VAR][0], var);
}

#[test]
fn groups_of_clients_keep_their_own_statistics() {
    let data = digits(30, 1).train;
    let parts = || vec![(0..5).collect(), (5..9).collect(), (9..30).collect()];
    let algorithms: [&dyn Algorithm; 2] = [&Watch { batch: 4 }, &step(4, 0.1)];
    for algorithm in algorithms {
        let federation = || dealt(&data, parts(), 3);
        let mut alone = start(algorithm, federation());
        let mut grouped = start(algorithm, federation()).with_cohort_batch(CohortBatch::Clients(3));
        run(&mut alone, 2);
        run(&mut grouped, 2);
        assert_close(&weights(&grouped), &weights(&alone), 1e-5);
    }
}

#[test]
fn buffers_are_no_part_of_a_norm() {
    // With a received tree of other statistics the regularizer is of gamma and beta alone: both start
    // where they were received, so the first step is the base's.
    let data = digits(8, 1).train;
    let federation = || dealt(&data, vec![(0..8).collect()], 3);
    let base = step(8, 0.1);
    let prox = FedProx {
        base: base.clone(),
        mu: 10.0,
    };
    let after = |algorithm: &dyn Algorithm| {
        let mut simulation = start(algorithm, federation());
        let loss = run(&mut simulation, 1).train_loss;
        (loss, weights(&simulation))
    };
    let ((plain_loss, plain), (prox_loss, prox)) = (after(&base), after(&prox));
    assert_eq!(plain_loss, prox_loss);
    assert_close(&prox, &plain, 0.0);
}

#[test]
fn the_momentum_of_running_statistics_is_handed_on() {
    let momentum = FedAvg {
        momentum: 0.9,
        ..step(4, 0.1)
    };
    let program = compile_model(&momentum, "normalised", normalised(), TASK);
    let step = training_step(&program, 4);
    let names = step.outputs.iter().map(|(name, _)| name.as_str());
    let handed_on: Vec<&str> = names.filter(|name| hands_on(&step, name)).collect();
    // Outputs are the momentum, the parameters and the loss.
    assert_eq!(
        handed_on,
        ["out0.norm.running_mean", "out0.norm.running_var"]
    );
}

#[test]
fn traces_differ_in_training_and_inference() {
    let program: Program = compile_model(&step(4, 0.1), "normalised", normalised(), TASK);
    let step = program.tensor_text(4).unwrap();
    // The running estimates are outputs, and no zeros times a step size reach them.
    assert!(step.contains("out0.norm.running_mean = %"), "{step}");
    let device = Device::default();
    let model = normalised();
    let x = || Tensor::<4>::from_data(TensorData::new(vec![2.0f32; 784], [1, 1, 28, 28]), &device);
    let logit = |cx: &ForwardCx| {
        let output = model.call("forward", &[x().into()], cx).unwrap();
        let logits: Tensor<2> = Argument::take(output.value).unwrap();
        logits.into_data().try_to_vec::<f32>().unwrap()[0]
    };
    // A constant image is its own mean; the untrained estimates are 0 and 1.
    assert_eq!(logit(&ForwardCx::training()), 0.0);
    near(
        logit(&ForwardCx::inference()) / 784.0,
        2.0 / (1.0f64 + 1e-5).sqrt(),
    );
}

/// Local SGD with weight decay.
#[derive(Hyper, Debug, Clone)]
pub struct Decayed {
    /// `λ`.
    #[hyper(default = 0.0, range = 0.0..)]
    pub decay: f32,
}

#[federated]
impl Algorithm for Decayed {
    fn round(&self, server: &ServerCx, w: Server<Params>) -> Server<Params> {
        let w_k = w.broadcast(&server.all_clients()).map(|k, w| {
            let mut w = w;
            let mut opt = optim::Sgd::new(0.1).weight_decay(self.decay).start(&w);
            for b in k.batches(1, 8) {
                let g = grad(&w, |w| cross_entropy(k.forward(w, &b.x), &b.y));
                opt.step(&mut w, g);
            }
            w
        });
        w_k.mean()
    }
}

#[test]
fn running_statistics_do_not_decay() {
    let data = digits(16, 1).train;
    let after = |decay: f32| {
        let program = compile_model(&Decayed { decay }, "normalised", normalised(), TASK);
        let federation = dealt(&data, vec![(0..16).collect()], 3);
        let mut simulation = federation.simulation(program, 1);
        run(&mut simulation, 3);
        let names = simulation
            .parameters()
            .unwrap()
            .into_iter()
            .map(|(name, ..)| name);
        names.zip(leaves(&simulation)).collect::<Vec<_>>()
    };
    let (with, without) = (after(0.5), after(0.0));
    for ((name, with), (_, without)) in with.iter().zip(&without) {
        if name.contains("running") {
            assert_eq!(with, without, "{name}");
        }
    }
    let gamma = |all: &[(String, Vec<f32>)]| all[0].1[0];
    assert!(gamma(&with) < 0.9 * gamma(&without));
}
