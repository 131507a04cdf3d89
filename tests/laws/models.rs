//! The compiled step of each bundled model against burn's own autodiff and SGD.

use burn::module::{ModuleMapper, ModuleVisitor, Param};
use burn::tensor::{Device, Gradients, Int, Tensor, TensorData};
use fedround::algorithms::FedAvg;
use fedround::data::synth::SynthDigits;
use fedround::models::{
    AnyTensor, Argument, Classifier, ForwardCx, LeNet5, Logistic, McMahanCnn, Model, NormKind,
    PflCnn, ResNet, ResNetConfig, Task, TwoNn, cross_entropy,
};

use crate::common::{COLOUR, GREY, assert_close, compile_model, dealt, leaves, run};

const LR: f32 = 0.1;
/// With some other numbers, an input of a ReLU of the narrow ResNet is so close to zero after a step that
/// rounding decides whether it passes.
const BATCH: usize = 10;
const STEPS: usize = 5;

/// New parameters, which burn tracks.
struct Replace<'a>(std::slice::Iter<'a, Vec<f32>>);

impl ModuleMapper for Replace<'_> {
    fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
        let old = param.val();
        let values = self.0.next().unwrap().clone();
        let data = TensorData::new(values, old.dims());
        let new = Tensor::from_data(data, &old.device());
        Param::initialized(param.id, new.require_grad())
    }
}

/// Gradients in the order of the module's fields.
struct Collect<'a> {
    gradients: &'a Gradients,
    values: Vec<Vec<f32>>,
}

impl ModuleVisitor for Collect<'_> {
    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        // None where the loss does not depend on it: buffers.
        let gradient = param.val().grad(self.gradients);
        let zeros = || vec![0.0; param.dims().iter().product()];
        let values = gradient.map(|g| g.into_data().try_to_vec().unwrap());
        self.values.push(values.unwrap_or_else(zeros));
    }
}

/// Steps on one batch, by the engine and by burn.
fn compare<M: Classifier>(name: &str, task: Task, new: fn(Task, &Device) -> M) {
    compare_steps(name, task, new, STEPS);
}

fn compare_steps<M: Classifier>(name: &str, task: Task, new: fn(Task, &Device) -> M, steps: usize) {
    let rgb = task == COLOUR;
    let synth = if rgb {
        SynthDigits::rgb()
    } else {
        SynthDigits::default()
    };
    let data = SynthDigits {
        train: BATCH,
        test: 1,
        ..synth
    }
    .generate()
    .train;
    let all: Vec<usize> = (0..BATCH).collect();
    let step = FedAvg {
        fraction: 1.0,
        epochs: 1,
        batch: BATCH,
        lr: LR,
        ..FedAvg::default()
    };
    let built = Box::new(new(task, &Device::default()));
    let program = compile_model(&step, name, built, task);
    let mut simulation = dealt(&data, vec![all.clone()], 1).simulation(program, 1);

    let device = Device::default().autodiff();
    let (mut x, mut y) = (vec![], vec![]);
    data.gather(&all, &mut x, &mut y).unwrap();
    let [c, h, w] = task.input;
    let x = Tensor::<4>::from_data(TensorData::new(x, [BATCH, c, h, w]), &device);
    let y = Tensor::<1, Int>::from_data(TensorData::new(y, [BATCH]), &device);
    let mut model = new(task, &device);
    let mut values = leaves(&simulation);
    for _ in 0..steps {
        model = model.map(&mut Replace(values.iter()));
        let (cx, inputs) = (ForwardCx::training(), [AnyTensor::from(x.clone())]);
        let output = Model::call(&model, "forward", &inputs, &cx).unwrap();
        let logits = Argument::take(output.value).unwrap();
        let loss = cross_entropy(logits, y.clone());
        let gradients = loss.backward();
        let mut collect = Collect {
            gradients: &gradients,
            values: vec![],
        };
        model.visit(&mut collect);
        for (values, gradient) in values.iter_mut().zip(&collect.values) {
            values
                .iter_mut()
                .zip(gradient)
                .for_each(|(w, g)| *w -= LR * g);
        }
        let buffers = model.leaves().into_iter().zip(&mut values);
        let buffers = buffers.filter(|(leaf, _)| leaf.buffer);
        for ((_, values), next) in buffers.zip(output.buffers) {
            let next = Tensor::<1>::from_dispatch(next).into_data();
            *values = next.try_to_vec().unwrap();
        }

        let stats = run(&mut simulation, 1);
        let loss = f64::from(loss.into_scalar::<f32>());
        assert!(
            (stats.train_loss - loss).abs() < 1e-5,
            "{} {loss}",
            stats.train_loss
        );
        for (found, expected) in leaves(&simulation).iter().zip(&values) {
            assert_close(found, expected, 1e-6);
        }
    }
}

#[test]
fn logistic() {
    compare("logistic", GREY, Logistic::new);
}

#[test]
fn two_nn() {
    compare("2nn", GREY, TwoNn::new);
}

#[test]
fn cnn() {
    compare("cnn", GREY, McMahanCnn::new);
}

#[test]
fn lenet5() {
    compare("lenet5", GREY, LeNet5::new);
    compare("lenet5", COLOUR, LeNet5::new);
}

#[test]
fn pfl_cnn() {
    compare("pfl-cnn", COLOUR, PflCnn::new);
}

fn narrow(norm: NormKind) -> ResNetConfig {
    ResNetConfig {
        width: 4,
        norm,
        ..ResNetConfig::resnet18()
    }
}

/// A narrow one: the same graph on smaller tensors. Steps on few images overshoot, and with them
/// differences in rounding grow tenfold a step: two are enough.
#[test]
fn resnet18() {
    let news: [fn(Task, &Device) -> ResNet; 2] = [
        |t, d| narrow(NormKind::Batch).init(t, d),
        |t, d| narrow(NormKind::Group(2)).init(t, d),
    ];
    for new in news {
        compare_steps("resnet18", COLOUR, new, 2);
    }
}
