//! One training step of a client, as a worker of a simulation runs it.

use std::collections::BTreeMap;

use burn::tensor::{Device, DispatchTensor, Int, Tensor, TensorData};
use burn_backend::ops::FloatTensorOps;
use burn_dispatch::Dispatch;
use fedround_algorithms::{FedAvg, FedFed};
use fedround_dsl::Algorithm;
use fedround_exec::executor::{Plan, Slots};
use fedround_exec::{Program, assemble_for};
use fedround_ir::fed::Value;
use fedround_ir::tensor::Graph;
use fedround_models::{
    AuxiliaryTask, CaptionConfig, DigitsConfig, Losses, Model, ResNetConfig, Stem, Task, find,
};
use fedround_passes::schedule::{Compute, LoopCarried, loop_carried};
use fedround_trace::TracedModel;

/// The number of words in the vocabulary of captions, and the length of a caption.
const VOCABULARY: usize = 1000;
const WORDS: usize = 16;

/// A task with small colour images, such as CIFAR-10.
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

/// A network, and the algorithm whose client trains it.
pub struct Setting {
    pub name: &'static str,
    pub algorithm: Box<dyn Algorithm>,
    pub model: Box<dyn Model>,
    pub task: Task,
    pub batch: usize,
}

/// The larger networks that the papers train: by SGD, and FedFed's generator by the loss and AdamW of its
/// distillation.
pub fn of_papers() -> [Setting; 4] {
    let device = Device::default();
    let task = |channels, side| Task {
        input: [channels, side, side],
        classes: 10,
    };
    let sgd = |name, model: Box<dyn Model>, task, batch| Setting {
        name,
        algorithm: Box::new(FedAvg::default()),
        model,
        task,
        batch,
    };
    let resnet50 = ResNetConfig {
        stem: Stem::ImageNet,
        ..ResNetConfig::resnet50()
    };
    let (digits, photos, captions) = (task(3, 28), task(3, 224), task(3, 128));
    let digits_cnn = Box::new(DigitsConfig::default().init(digits, &device));
    let resnet50 = Box::new(resnet50.init(photos, &device));
    let captioner = Box::new(CaptionConfig::new(VOCABULARY).init(&device));
    [
        sgd("digits-cnn", digits_cnn, digits, 32),
        sgd("resnet50, 224x224", resnet50, photos, 16),
        sgd("captioner, 128x128", captioner, captions, 16),
        Setting {
            name: "fedfed's generator, 32x32",
            algorithm: Box::new(FedFed::<FedAvg>::default()),
            model: built("lenet5", COLOUR),
            task: COLOUR,
            batch: 64,
        },
    ]
}

/// The step of a client's loop over its batches. It takes the loop-carried state and gives the next one.
pub struct Step {
    pub plan: Plan,
    device: Device,
    inputs: Vec<DispatchTensor>,
    /// For each input, the output that is its next value; `None` if the input stays the same, such as the received
    /// model.
    next: Vec<Option<usize>>,
    slots: Slots,
}

impl Step {
    /// Compiles a step, and gives it with its graph. The auxiliary networks of the algorithm are added to the model.
    pub fn new(
        algorithm: &dyn Algorithm,
        (model, task): (Box<dyn Model>, Task),
        batch: usize,
        exact: bool,
    ) -> (Self, Graph) {
        let device = Device::default();
        let around = AuxiliaryTask {
            task,
            clients: 10,
            variants: BTreeMap::new(),
        };
        let model = assemble_for(algorithm, model, &around, &device)
            .unwrap()
            .model;
        let columns = vec![("tokens".to_owned(), vec![WORDS])];
        let tracer =
            TracedModel::new("model", model, task, Losses::default()).with_columns(columns);
        let program = Program::compile(algorithm, tracer).unwrap();
        let (graph, carried) = loop_over_batches(&program, batch);
        let plan = Plan::new(&graph).with_exact_convolutions(exact);
        let step = Self {
            inputs: inputs(&plan, task, batch, &device),
            next: outputs_for(&plan, &carried),
            plan,
            device,
            slots: Slots::default(),
        };
        (step, graph)
    }

    /// Runs one step. `done` is called after each instruction of the plan.
    pub fn observed(&mut self, done: impl FnMut(usize)) {
        // The carried state is moved into the plan, so that the step may write it in place.
        let inputs = std::mem::take(&mut self.inputs);
        let stay = inputs.iter().zip(&self.next);
        let stay = stay.map(|(input, next)| next.is_none().then(|| input.clone()));
        let stay: Vec<Option<DispatchTensor>> = stay.collect();
        let (device, slots) = (self.device.as_dispatch(), &mut self.slots);
        let out = self.plan.run_observed(device, inputs, slots, done);
        let mut out: Vec<_> = out.unwrap().into_iter().map(Some).collect();
        let inputs = stay.into_iter().zip(&self.next);
        let inputs = inputs.map(|(stays, next)| stays.or_else(|| out[(*next)?].take()).unwrap());
        self.inputs = inputs.collect();
    }

    pub fn take(&mut self) {
        self.observed(|_| ());
    }
}

/// The graph of the first loop over batches of a program, in any of its phases, and the pairs of an input and
/// an output that are carried from step to step. An algorithm may compute something before the loop.
fn loop_over_batches(program: &Program, batch: usize) -> (Graph, Vec<(String, String)>) {
    let phases = program.phases().into_iter();
    let mut graphs = phases.flat_map(|(_, phase)| {
        let graphs = phase.graphs(batch).unwrap().into_iter().enumerate();
        graphs.map(move |(segment, graph)| (phase.schedule(), segment, graph))
    });
    let reads_batch = |graph: &Graph| graph.inputs.iter().any(|(name, _)| name == "x");
    let found = graphs.find(|(_, _, graph)| reads_batch(graph));
    let (schedule, segment, graph) = found.unwrap();
    let Compute { ins, outs, .. } = &schedule.segments[segment];
    let place = |values: &[Value], value| values.iter().position(|v| *v == value);
    let pairs = loop_carried(schedule, segment).into_iter();
    let pairs = pairs.filter_map(|LoopCarried { read, next, .. }| {
        let (read, next) = (place(ins, read)?, place(outs, next)?);
        Some((format!("in{read}"), format!("out{next}")))
    });
    (graph, pairs.collect())
}

/// For each input, the output that is its value in the next step. Parameter trees are carried leaf by leaf.
fn outputs_for(plan: &Plan, carried: &[(String, String)]) -> Vec<Option<usize>> {
    let names = plan.inputs.iter().map(|(name, ..)| {
        let (tree, leaf) = name.split_once('.').unwrap_or((name, ""));
        let (_, next) = carried.iter().find(|(read, _)| read == tree)?;
        let next = match leaf {
            "" => next.clone(),
            leaf => format!("{next}.{leaf}"),
        };
        plan.outputs.iter().position(|(name, _)| *name == next)
    });
    names.collect()
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
        // These are hyper-parameters.
        _ if ty.shape == [1] => Tensor::<1>::from_floats([0.05], device).into_dispatch(),
        _ => {
            // Parameters have both signs. An optimizer's state is not negative, because AdamW takes its square root.
            let is_parameter = name.starts_with("in0.");
            let value = |j| {
                let value = (((i + j) * 13 % 101) as f32 - 50.0) * 1e-3;
                if is_parameter { value } else { value.abs() }
            };
            let values: Vec<f32> = (0..ty.len()).map(value).collect();
            let data = TensorData::new(values, burn::tensor::Shape::from(ty.shape.clone()));
            Dispatch::float_from_data(data, device.as_dispatch())
        }
    });
    inputs.collect()
}
