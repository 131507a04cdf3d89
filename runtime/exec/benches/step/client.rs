//! One step of a client, as a simulation's worker takes it.

use burn::tensor::{Device, DispatchTensor, Int, Tensor, TensorData};
use burn_backend::ops::FloatTensorOps;
use burn_dispatch::Dispatch;
use fedround_dsl::Algorithm;
use fedround_exec::Program;
use fedround_exec::executor::{Plan, Slots};
use fedround_ir::tensor::Graph;
use fedround_models::{CaptionConfig, DigitsConfig, Losses, Model, ResNetConfig, Stem, Task, find};
use fedround_trace::TracedModel;

/// Words that captions are made of, and the length of a caption.
const VOCABULARY: usize = 1000;
const WORDS: usize = 16;

/// Small colour images, as of CIFAR-10.
pub const COLOUR: Task = Task {
    input: [3, 32, 32],
    classes: 10,
};

/// Pixels and labels of a batch.
pub fn data(pixels: usize, batch: usize) -> (Vec<f32>, Vec<i32>) {
    let x = (0..batch * pixels)
        .map(|i| ((i * 37 % 256) as f32) / 255.0)
        .collect();
    (x, (0..batch).map(|i| (i * 7 % 10) as i32).collect())
}

/// A bundled model.
pub fn built(name: &str, task: Task) -> Box<dyn Model> {
    let model = find(name).unwrap();
    model.build(task, &Device::default()).unwrap()
}

/// The larger networks that the papers train, with what they classify and their batches.
pub fn of_papers() -> [(&'static str, Box<dyn Model>, Task, usize); 3] {
    let device = Device::default();
    let task = |channels, side| Task {
        input: [channels, side, side],
        classes: 10,
    };
    let resnet50 = ResNetConfig {
        stem: Stem::ImageNet,
        ..ResNetConfig::resnet50()
    };
    let (digits, photos, captions) = (task(3, 28), task(3, 224), task(3, 128));
    let digits_cnn = DigitsConfig::default().init(digits, &device);
    let captioner = CaptionConfig::new(VOCABULARY).init(&device);
    [
        ("digits-cnn", Box::new(digits_cnn), digits, 32),
        (
            "resnet50, 224x224",
            Box::new(resnet50.init(photos, &device)),
            photos,
            16,
        ),
        ("captioner, 128x128", Box::new(captioner), captions, 16),
    ]
}

/// The step of an algorithm's client over its batches: state in, state out.
pub struct Step {
    pub plan: Plan,
    device: Device,
    state: Vec<DispatchTensor>,
    /// The inputs that stay, such as what a client received.
    rest: Vec<DispatchTensor>,
    slots: Slots,
}

impl Step {
    /// A step, and the graph that it computes.
    pub fn new(
        algorithm: &dyn Algorithm,
        (model, task): (Box<dyn Model>, Task),
        batch: usize,
        exact: bool,
    ) -> (Self, Graph) {
        let device = Device::default();
        let columns = vec![("tokens".to_owned(), vec![WORDS])];
        let tracer =
            TracedModel::new("model", model, task, Losses::default()).with_columns(columns);
        let program = Program::compile(algorithm, tracer).unwrap();
        // The loop over batches; an algorithm may compute something before it.
        let graphs = program.graphs(batch).unwrap();
        let reads_batch = |graph: &Graph| graph.inputs.iter().any(|(name, _)| name == "x");
        let graph = graphs.into_iter().find(reads_batch).unwrap();
        let plan = Plan::new(&graph).with_exact_convolutions(exact);
        let mut state = inputs(&plan, task, batch, &device);
        let rest = state.split_off(program.model().model().leaves().len());
        let step = Self {
            plan,
            device,
            state,
            rest,
            slots: Slots::default(),
        };
        (step, graph)
    }

    /// Takes a step; `done` is called after each of the plan's instructions.
    pub fn observed(&mut self, done: impl FnMut(usize)) {
        let leaves = self.state.len();
        let inputs = std::mem::take(&mut self.state).into_iter();
        let inputs = inputs.chain(self.rest.iter().cloned());
        let (device, slots) = (self.device.as_dispatch(), &mut self.slots);
        let out = self.plan.run_observed(device, inputs, slots, done);
        self.state = out.unwrap();
        self.state.truncate(leaves);
    }

    pub fn take(&mut self) {
        self.observed(|_| ());
    }
}

/// The inputs of a step: a batch, and small numbers for everything else.
fn inputs(plan: &Plan, task: Task, batch: usize, device: &Device) -> Vec<DispatchTensor> {
    let [channels, height, width] = task.input;
    let (x, y) = data(channels * height * width, batch);
    let x = TensorData::new(x, [batch, channels, height, width]);
    let x = Tensor::<4>::from_data(x, device).into_dispatch();
    let y = Tensor::<1, Int>::from_data(TensorData::new(y, [batch]), device).into_dispatch();
    let tokens = (0..batch * WORDS).map(|i| (i * 31 % VOCABULARY) as i32);
    let tokens = TensorData::new(tokens.collect(), [batch, WORDS]);
    let tokens = Tensor::<2, Int>::from_data(tokens, device).into_dispatch();
    let inputs = plan.inputs.iter().enumerate();
    let inputs = inputs.map(|(i, (name, ty, _))| match name.as_str() {
        "x" => x.clone(),
        "y" => y.clone(),
        "tokens" => tokens.clone(),
        // Hyper-parameters.
        _ if ty.shape == [1] => Tensor::<1>::from_floats([0.05], device).into_dispatch(),
        _ => {
            let value = |j| (((i + j) * 13 % 101) as f32 - 50.0) * 1e-3;
            let values: Vec<f32> = (0..ty.len()).map(value).collect();
            let data = TensorData::new(values, burn::tensor::Shape::from(ty.shape.clone()));
            Dispatch::float_from_data(data, device.as_dispatch())
        }
    });
    inputs.collect()
}
