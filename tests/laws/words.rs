//! Models of captions and questions, trained as any other.

use burn::tensor::Device;
use fedround::algorithms::{FedAa, FedAaModality, FedAvg};
use fedround::data::{Column, Dataset, Examples, Partition, Scale};
use fedround::exec::{Program, assemble_for};
use fedround::models::{AuxiliaryTask, CaptionConfig, Losses, Model, Task, VqaConfig};
use fedround::prelude::*;
use fedround::simulation::{Evaluation, Search, Simulation};
use fedround::trace::TracedModel;
use fedround::{Experiment, ModelSource};

use crate::common::{Deal, assert_close, bits, dealt, run, weights};

const TASK: Task = Task {
    input: [3, 32, 32],
    classes: 3,
};

/// Pictures of one colour each, with rows of ids.
fn examples(pictures: &[usize], tokens: &[[i32; 6]], labels: &[u16]) -> Examples {
    let colour = |c: usize| (0..3).flat_map(move |k| [if k == c { 220 } else { 20 }; 1024]);
    let bytes = pictures.iter().flat_map(|&c| colour(c)).collect();
    let x = Column::bytes("x", [3, 32, 32], bytes, Scale::Centred).unwrap();
    let tokens = Column::ids("tokens", [6], tokens.concat()).unwrap();
    Examples::of_columns(vec![x, tokens], labels).unwrap()
}

/// Pictures and a caption of each, of up to four words between start (1) and end (2).
fn captioned() -> Examples {
    let captions = [[1, 4, 5, 6, 2, 0], [1, 7, 4, 2, 0, 0], [1, 8, 6, 5, 4, 2]];
    examples(&[0, 1, 2], &captions, &[0, 1, 2])
}

/// Two questions about each of two pictures; neither tells the answer alone.
fn asked() -> Examples {
    let [what, whether] = [[4, 5, 6, 0, 0, 0], [7, 5, 0, 0, 0, 0]];
    let questions = [what, whether, what, whether];
    examples(&[0, 0, 1, 1], &questions, &[0, 2, 1, 0])
}

fn simulation(model: Box<dyn Model>, data: &Examples, threads: usize) -> Simulation {
    let algorithm = FedAvg {
        fraction: 1.0,
        epochs: 10,
        batch: 4,
        lr: 0.1,
        momentum: 0.9,
        ..FedAvg::default()
    };
    let everyone = vec![(0..data.len()).collect()];
    of(&algorithm, model, dealt(data, everyone, 1), threads)
}

/// The same under any algorithm, one example a client.
fn each_alone(algorithm: &dyn Algorithm, data: &Examples) -> Simulation {
    let clients = (0..data.len()).map(|i| vec![i]).collect();
    of(algorithm, captioner(), dealt(data, clients, 1), 2)
}

fn of(
    algorithm: &dyn Algorithm,
    model: Box<dyn Model>,
    federation: Deal,
    threads: usize,
) -> Simulation {
    let columns = federation.dataset.examples.columns().iter();
    let columns = columns.map(|c| (c.name().to_owned(), c.shape().to_vec()));
    let columns = columns.collect();
    let around = AuxiliaryTask {
        task: TASK,
        clients: federation.dataset.client_indices.len(),
        variants: Default::default(),
    };
    let model = assemble_for(algorithm, model, &around, &Device::default());
    let tracer = TracedModel::new("words", model.unwrap().model, TASK, Losses::default());
    let program = Program::compile(algorithm, tracer.with_columns(columns));
    let program = program.unwrap_or_else(|error| panic!("{error}"));
    federation.simulation(program, threads)
}

fn captioner() -> Box<dyn Model> {
    let config = CaptionConfig {
        dropout: 0.0,
        ..CaptionConfig::small(9)
    };
    Box::new(config.init(&Device::default()))
}

fn answerer() -> Box<dyn Model> {
    let config = VqaConfig {
        dropout: 0.0,
        ..VqaConfig::small(9).of(TASK)
    };
    Box::new(config.init(&Device::default()))
}

/// The ids of a caption without start, end and what fills it up.
fn inner(caption: &[i32]) -> Vec<i32> {
    caption.iter().copied().filter(|id| *id > 2).collect()
}

#[test]
fn captions_are_learnt_and_found() {
    let data = captioned();
    let mut simulation = simulation(captioner(), &data, 2);
    let before = simulation.evaluate(&data).unwrap();
    run(&mut simulation, 8);
    let Evaluation { loss, accuracy, .. } = simulation.evaluate(&data).unwrap();
    assert!(loss < 0.1 && before.loss > 1.0, "{} {loss}", before.loss);
    assert_eq!(accuracy, 1.0);
    let said: Vec<Vec<i32>> = [[1, 4, 5, 6, 2, 0], [1, 7, 4, 2, 0, 0], [1, 8, 6, 5, 4, 2]]
        .map(|caption| inner(&caption))
        .into();
    for beam in [1, 3] {
        let found = simulation.captions(&data, Search { beam, longest: 4 });
        assert_eq!(found.unwrap(), said, "beam {beam}");
    }
    // What is found of a picture does not depend on those beside it.
    let last = data.subset(&[2]);
    let alone = simulation.captions(
        &last,
        Search {
            beam: 2,
            longest: 3,
        },
    );
    assert_eq!(alone.unwrap(), [&said[2][..3]]);
}

#[test]
fn answers_need_the_picture_and_the_question() {
    let data = asked();
    let mut simulation = simulation(answerer(), &data, 2);
    run(&mut simulation, 8);
    let seen = simulation.evaluate(&data).unwrap();
    assert_eq!(seen.predictions, data.labels());
    assert_eq!(seen.accuracy, 1.0);
}

#[test]
fn results_do_not_depend_on_threads() {
    let data = captioned();
    let after = |threads| {
        let mut simulation = simulation(captioner(), &data, threads);
        run(&mut simulation, 1);
        bits(&weights(&simulation))
    };
    assert_eq!(after(1), after(3));
}

/// Keeps the loss of each example, and the least.
#[derive(Hyper, Debug, Clone)]
pub struct Fits {}

#[federated]
impl Algorithm for Fits {
    fn round(&self, server: &ServerCx, w: Server<Params>) -> Server<Params> {
        w.broadcast(&server.all_clients()).map(|k, w| {
            let (fit, y) = k.collect(2, |b| (k.loss_each(&w, b), b.labels("tokens")));
            k.set_state("fit", &fit);
            let (least, _) = k.smallest(1, &fit, (fit.clone(), y));
            k.set_state("least", &least);
        });
        w
    }
}

#[test]
fn the_caption_that_fits_best_has_the_least_loss() {
    let data = captioned();
    let everyone = vec![(0..data.len()).collect()];
    let mut simulation = of(&Fits {}, captioner(), dealt(&data, everyone, 1), 2);
    run(&mut simulation, 1);
    let kept = |name: &str| simulation.client_state(0, &format!("fits.{name}")).unwrap();
    let fit = kept("fit").unwrap().concat();
    let each = (0..3).map(|i| simulation.evaluate(&data.subset(&[i])).unwrap().loss as f32);
    let each: Vec<f32> = each.collect();
    assert_close(&fit, &each, 1e-5);
    let least = each.iter().copied().fold(f32::INFINITY, f32::min);
    assert_close(&kept("least").unwrap().concat(), &[least], 1e-5);
}

fn local() -> FedAvg {
    FedAvg {
        fraction: 1.0,
        epochs: 2,
        batch: 4,
        lr: 0.1,
        ..FedAvg::default()
    }
}

/// FedAA without what follows the first pass.
fn fed_aa() -> FedAa {
    FedAa {
        base: local(),
        modality: FedAaModality::Caption,
        share: 1.0,
        second: 0,
        second_batch: 4,
        eta: 0.1,
        sigma: 1.0,
        iterations: 2,
        fine_tune: 0,
        identifier_steps: 1,
        identifier_lr: 4e-4,
        adversarial: 0.0,
    }
}

#[test]
fn captions_of_fed_aa_without_its_parts_are_those_of_fed_avg() {
    let data = captioned();
    let mut plain = each_alone(&local(), &data);
    run(&mut plain, 2);
    let plain = weights(&plain);
    let after = |algorithm: &FedAa| {
        let mut simulation = each_alone(algorithm, &data);
        let stats = run(&mut simulation, 2);
        let model = weights(&simulation)[..plain.len()].to_vec();
        (model, stats)
    };
    let (none, _) = after(&fed_aa());
    assert_close(&none, &plain, 1e-5);
    let (tuned, stats) = after(&FedAa {
        fine_tune: 2,
        second: 1,
        adversarial: 1.0,
        ..fed_aa()
    });
    assert!(tuned.iter().all(|w| w.is_finite()));
    let moved = tuned.iter().zip(&plain).map(|(a, b)| (a - b).abs());
    assert!(moved.fold(0.0, f32::max) > 1e-5);
    // Two models up, one caption of six ids, and the number of examples twice.
    let parameters = plain.len() as u64;
    assert_eq!(stats.bytes_up, 3 * (2 * 4 * parameters + 4 * 6 + 2 * 4));
}

/// A model of fewer words than the examples have.
#[test]
fn a_model_gives_a_number_for_each_word() {
    let data = Dataset::new("captioned", captioned(), captioned(), ["a", "b", "c"]);
    let of = |words: usize| {
        let model = move |_, device: &Device| CaptionConfig::small(words).init(device);
        let experiment = Experiment::new(FedAvg::default()).data(data.clone());
        let experiment = experiment.model(ModelSource::own("mine", model));
        experiment.clients(1).partition(Partition::Iid).prepare(1)
    };
    assert!(of(9).is_ok());
    let error = of(8).err().unwrap().to_string();
    assert!(
        error.contains("expected [1, 6, tokens], with at least 9 tokens")
            && error.contains("ids up to 8"),
        "{error}"
    );
}
