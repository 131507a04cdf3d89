//! Models of captions and questions, trained as any other.

use burn::tensor::Device;
use fedround::algorithms::FedAvg;
use fedround::data::{Column, Examples, Scale};
use fedround::exec::{Evaluation, Program, Search, Simulation, Tracer};
use fedround::models::{CaptionConfig, Losses, Model, Task, VqaConfig};

use crate::common::{bits, dealt, run, weights};

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

fn simulation(
    model: Box<dyn Model>,
    data: &Examples,
    threads: usize,
    prefetch: usize,
) -> Simulation {
    let algorithm = FedAvg {
        fraction: 1.0,
        epochs: 10,
        batch: 4,
        lr: 0.1,
        momentum: 0.9,
        ..FedAvg::default()
    };
    let columns = data.columns().iter();
    let columns = columns.map(|c| (c.name().to_owned(), c.shape().to_vec()));
    let tracer =
        Tracer::new("words", model, TASK, Losses::default()).with_columns(columns.collect());
    let program = Program::compile(&algorithm, tracer).unwrap();
    let everyone = vec![(0..data.len()).collect()];
    let simulation = Simulation::new(program, dealt(data, everyone, 1), threads).unwrap();
    simulation.with_prefetch(prefetch)
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
    let mut simulation = simulation(captioner(), &data, 2, 1);
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
    let mut simulation = simulation(answerer(), &data, 2, 1);
    run(&mut simulation, 8);
    let seen = simulation.evaluate(&data).unwrap();
    assert_eq!(seen.predictions, data.labels());
    assert_eq!(seen.accuracy, 1.0);
}

#[test]
fn results_do_not_depend_on_threads_or_prefetching() {
    let data = captioned();
    let after = |threads, prefetch| {
        let mut simulation = simulation(captioner(), &data, threads, prefetch);
        run(&mut simulation, 1);
        bits(&weights(&simulation))
    };
    assert_eq!(after(1, 0), after(3, 2));
}
