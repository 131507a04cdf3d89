//! What a program brings to an experiment (a dataset, the examples of clients, a model) is checked before the
//! first round, and errors say what is wrong.

use burn::module::{Module, Param, ParamGroup};
use burn::nn::activation::{RRelu, RReluConfig};
use burn::nn::{
    BatchNorm, BatchNormConfig, Dropout, DropoutConfig, GaussianNoise, GaussianNoiseConfig, Linear,
    LinearConfig,
};
use burn::tensor::{Device, Tensor};
use fedround::algorithms::{FedAvg, FedAvgM, Median, Oort, Scaffold, SignFlip};
use fedround::data::partition::Split;
use fedround::data::{Column, Dataset, Examples, Partition};
use fedround::models::{Classifier, ForwardCx, Task};
use fedround::{Experiment, ModelSource};

use crate::common::{compile_model, dealt};

/// Rows of four numbers with these labels.
fn rows(labels: &[u16]) -> Examples {
    let number = |i: usize| (i * 37 % 101) as f32 / 100.0;
    let numbers = (0..4 * labels.len()).map(number).collect();
    let x = Column::floats("x", [4], numbers).unwrap();
    Examples::of_columns(vec![x], labels).unwrap()
}

fn data() -> Dataset {
    let labels: Vec<u16> = (0..60).map(|i| i % 3).collect();
    Dataset::new("rows", rows(&labels), rows(&labels[..30]), ["a", "b", "c"])
}

fn experiment(data: Dataset) -> Experiment {
    let all = FedAvg {
        fraction: 1.0,
        ..FedAvg::default()
    };
    let experiment = Experiment::new(all).model("logistic").data(data);
    experiment.clients(4).partition(Partition::Iid).threads(2)
}

fn error(experiment: Experiment) -> String {
    let prepared = experiment.prepare(1).err();
    prepared.unwrap().to_string()
}

/// A layer of `head`'s inputs, with layers of burn that ask the device whether this is training.
#[derive(Module, Debug)]
struct OfBurn {
    norm: Option<BatchNorm>,
    drop: Option<Dropout>,
    noise: Option<GaussianNoise>,
    activation: Option<RRelu>,
    head: Linear,
}

impl Classifier for OfBurn {
    fn features(&self, x: Tensor<4>, _: &ForwardCx) -> Tensor<2> {
        let x = match &self.norm {
            Some(norm) => norm.forward(x),
            None => x,
        };
        let x = x.flatten(1, 3);
        let x = match &self.drop {
            Some(drop) => drop.forward(x),
            None => x,
        };
        let x = match &self.noise {
            Some(noise) => noise.forward(x),
            None => x,
        };
        match &self.activation {
            Some(activation) => activation.forward(x),
            None => x,
        }
    }

    fn head(&self, h: Tensor<2>, _: &ForwardCx) -> Tensor<2> {
        self.head.forward(h)
    }
}

/// A linear model of so many outputs, to which the function may give other layers.
fn model(
    outputs: usize,
    change: impl Fn(&mut OfBurn, &Device) + Send + Sync + 'static,
) -> ModelSource {
    ModelSource::own("mine", move |task, device| {
        let mut model = OfBurn {
            norm: None,
            drop: None,
            noise: None,
            activation: None,
            head: LinearConfig::new(task.input.iter().product(), outputs).init(device),
        };
        change(&mut model, device);
        model
    })
}

#[test]
fn a_model_gives_a_number_for_each_class() {
    for outputs in [2, 5] {
        let text = error(experiment(data()).model(model(outputs, |_, _| {})));
        let found = format!("model `mine`: `forward` gives a tensor of shape [1, {outputs}]");
        assert!(text.starts_with(&found), "{text}");
        assert!(text.contains("expected [1, 3]"), "{text}");
    }
    let report = experiment(data()).model(model(3, |_, _| {})).run(1);
    assert_eq!(report.unwrap().rounds(), 1);
}

/// They would be traced as in inference: nothing would be dropped, and no noise added.
#[test]
fn layers_that_ask_the_device_whether_it_trains_are_refused() {
    let text_of =
        |change: fn(&mut OfBurn, &Device)| error(experiment(data()).model(model(3, change)));
    let text = text_of(|model, _| model.drop = Some(DropoutConfig::new(0.5).init()));
    assert!(text.contains("`drop` is a `Dropout`"), "{text}");
    let text = text_of(|model, _| model.noise = Some(GaussianNoiseConfig::new(0.5).init()));
    assert!(text.contains("`noise` is a `GaussianNoise`"), "{text}");
    let text = text_of(|model, _| {
        model.activation = Some(RReluConfig::new().init());
    });
    assert!(text.contains("`activation` is a `RRelu`"), "{text}");
}

/// Its running statistics would be trained, also where it is frozen.
#[test]
fn batch_normalisation_of_burn_is_refused() {
    for frozen in [false, true] {
        let text = error(experiment(data()).model(model(3, move |model, device| {
            let mut norm = BatchNormConfig::new(1).init(device);
            if frozen {
                norm.training = Param::from_bool(false);
            }
            model.norm = Some(norm);
        })));
        let expected = "`norm` is burn's own `BatchNorm`";
        assert!(text.contains(expected), "{text}");
        assert!(
            text.contains("use `fedround::models::layers::BatchNorm`"),
            "{text}"
        );
    }
}

/// Whoever says that they never train may have them.
#[test]
fn frozen_layers_are_traced_as_in_inference() {
    let trained = |change: fn(&mut OfBurn, &Device)| {
        let report = experiment(data()).model(model(3, change)).run(1).unwrap();
        report.parameters
    };
    let dropped = trained(|model, _| {
        let mut drop = DropoutConfig::new(0.5).init();
        drop.training = Param::from_bool(false);
        model.drop = Some(drop);
    });
    assert!(dropped == trained(|_, _| {}), "something was dropped");
    trained(|model, _| {
        model.activation = Some(RReluConfig::new().init());
        let training = ParamGroup::from_predicate("training");
        *model = model.clone().freeze_group(training);
    });
}

/// A simulation by itself, which has no dataset to check beforehand, counts nothing wrongly either.
#[test]
fn a_simulation_evaluates_numbers_for_each_class_and_labels_of_classes() {
    let task = Task {
        input: [1, 1, 4],
        classes: 3,
    };
    let evaluated = |outputs: usize, label: u16| {
        let head = LinearConfig::new(4, outputs).init(&Device::default());
        let model = OfBurn {
            norm: None,
            drop: None,
            noise: None,
            activation: None,
            head,
        };
        let program = compile_model(&FedAvg::default(), "mine", Box::new(model), task);
        let simulation = dealt(&rows(&[0, 1, 2]), vec![vec![0, 1, 2]], 1).simulation(program, 1);
        let evaluation = simulation.evaluate(&rows(&[0, label]));
        evaluation.map(|evaluation| evaluation.class_accuracy.len())
    };
    assert_eq!(evaluated(3, 2).unwrap(), 3);
    let text = evaluated(5, 2).unwrap_err().to_string();
    assert!(text.contains("gives 5 numbers"), "{text}");
    let text = evaluated(3, 3).unwrap_err().to_string();
    assert!(text.contains("the label 3"), "{text}");
}

#[test]
fn a_dataset_of_a_program_is_checked() {
    let names = ["a", "b", "c"];
    let text = error(experiment(Dataset::new(
        "rows",
        rows(&[0, 1, 2, 3, 0]),
        rows(&[0]),
        names,
    )));
    assert!(
        text.contains("training example 3 has the label 3"),
        "{text}"
    );
    let text = error(experiment(Dataset::new(
        "rows",
        rows(&[0; 9]),
        rows(&[7]),
        names,
    )));
    assert!(text.contains("test example 0 has the label 7"), "{text}");
    let narrow = Column::floats("x", [2], vec![0.0; 2]).unwrap();
    let narrow = Examples::of_columns(vec![narrow], [0_u16]).unwrap();
    let text = error(experiment(Dataset::new(
        "rows",
        rows(&[0; 9]),
        narrow,
        names,
    )));
    assert!(text.contains("found `x`, numbers of shape [2]"), "{text}");
}

#[test]
fn a_plug_in_whose_hooks_nobody_calls_is_refused() {
    let of = |algorithm: Box<dyn fedround::Algorithm>| {
        let experiment = Experiment::new(algorithm).model("logistic").data(data());
        experiment.clients(2).prepare(1).err()
    };
    // SCAFFOLD's clients train in its own round, and its server averages there.
    let text = of(Box::<SignFlip<Scaffold>>::default())
        .unwrap()
        .to_string();
    let expected =
        "`sign-flip` has no effect in this algorithm: no other layer calls its `client_update`";
    assert!(text.starts_with(expected), "{text}");
    let text = of(Box::<Median<SignFlip<Scaffold>>>::default())
        .unwrap()
        .to_string();
    assert_eq!(
        text,
        "`median` has no effect in this algorithm: no other layer calls its `aggregate`; leave it out, or combine it \
         with algorithms that do"
    );
    assert!(of(Box::<Median<SignFlip>>::default()).is_none());
}

/// FedAvgM's round calls that of its base, and Oort's is written anew.
#[test]
fn a_plug_in_that_another_one_replaces_is_refused_with_the_order_that_works() {
    let of = |algorithm: Box<dyn fedround::Algorithm>| {
        let experiment = Experiment::new(algorithm).model("logistic").data(data());
        let error = experiment.clients(2).prepare(1).err();
        error.map_or_else(String::new, |error| error.to_string())
    };
    assert_eq!(
        of(Box::<Oort<FedAvgM>>::default()),
        "`fedavgm` has no effect in this algorithm: no other layer calls its `round`, because `oort` is around it; leave \
         it out, or write it around `oort`, as in fedavgm(oort)"
    );
    let other_order = of(Box::<FedAvgM<Oort>>::default());
    assert!(!other_order.contains("has no effect"), "{other_order}");
}

#[test]
fn splits_are_of_the_dataset_and_say_how_many_clients_there_are() {
    let split = |train: std::ops::Range<usize>| Split {
        train: train.collect(),
        ..Split::default()
    };
    let of = |splits: Vec<Split>| experiment(data()).splits(splits);
    let text = error(of(vec![split(0..30), split(31..61)]));
    assert_eq!(
        text,
        "splits: `train` of client 1 has the index 60, and the dataset has 60 training examples, numbered from 0"
    );
    let tested = Split {
        test: vec![29, 30],
        ..split(0..30)
    };
    let text = error(of(vec![tested]));
    assert!(
        text.contains("`test` of client 0 has the index 30"),
        "{text}"
    );
    let text = error(of(vec![split(0..30), split(0..0)]));
    assert!(text.contains("client 1 has no examples"), "{text}");
    assert!(error(of(vec![])).contains("clients: expected at least 1"));

    let run = of(vec![split(0..30), split(30..60)]).prepare(1).unwrap();
    assert_eq!(run.settings().clients, 2);
}

/// A service prepares a run, trains it on a thread of its own, and sends on what came of it.
#[test]
fn runs_and_reports_move_between_threads() {
    fn moves<T: Send>() {}
    fn shared<T: Send + Sync>() {}
    moves::<fedround::experiment::Run>();
    shared::<ModelSource>();
    shared::<fedround::experiment::Report>();
    shared::<fedround::experiment::ExperimentError>();
}
