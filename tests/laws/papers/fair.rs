//! Fair representations: who trains on what.

use fedround::algorithms::{Fair, LgFedAvg, LgPart, LgTask};
use fedround::data::{Column, Examples};
use fedround::exec::{Program, assemble_for};
use fedround::models::{AuxiliaryTask, Losses, Task, find};
use fedround::trace::TracedModel;

use super::*;

/// Rows of six columns. The label is the sign of the first, the attributes those of the two that
/// follow.
fn table() -> Deal {
    let mut words = fedround::random::StreamKey::root(3).stream();
    let rows: Vec<[f32; 6]> = (0..120)
        .map(|_| std::array::from_fn(|_| words.normal() as f32))
        .collect();
    let bit = |x: f32| f32::from(u8::from(x > 0.0));
    let labels: Vec<u16> = rows.iter().map(|row| u16::from(row[0] > 0.0)).collect();
    let protected = rows.iter().flat_map(|row| [bit(row[1]), bit(row[2])]);
    let columns = vec![
        Column::floats("x", [6], rows.concat()).unwrap(),
        Column::floats("protected", [2], protected.collect::<Vec<f32>>()).unwrap(),
    ];
    let examples = Examples::of_columns(columns, labels).unwrap();
    dealt(&examples, vec![(0..60).collect(), (60..120).collect()], 7)
}

fn of_table(algorithm: &dyn Algorithm) -> Simulation {
    let task = Task {
        input: table().dataset.examples.input_shape().unwrap(),
        classes: 2,
    };
    let device = Default::default();
    let base = find("2nn").unwrap().build(task, &device).unwrap();
    let around = AuxiliaryTask {
        task,
        clients: 2,
        variants: Default::default(),
    };
    let model = assemble_for(algorithm, base, &around, &device).unwrap();
    let columns = vec![("protected".to_owned(), vec![2])];
    let tracer =
        TracedModel::new("2nn", model.model, task, Losses::default()).with_columns(columns);
    let program = Program::compile(algorithm, tracer).unwrap();
    table().simulation(program, 2)
}

fn fair(lambda: f32) -> Fair {
    Fair {
        base: base(),
        lambda,
        apart: 0,
        ramp: 0,
        before: 0,
        ahead: 0,
        ahead_batch: 8,
        ahead_lr: 0.5,
    }
}

fn local(base: FedAvg) -> LgFedAvg {
    LgFedAvg {
        base,
        warm_up: 0,
        global: LgPart::Head,
        task: LgTask::None,
        task_weight: 1.0,
    }
}

/// The client's adversary.
fn adversary(simulation: &Simulation, client: usize) -> Vec<f32> {
    let leaves = simulation.parameters().unwrap();
    let kept = simulation
        .client_state(client, "fair.adversary")
        .unwrap()
        .unwrap();
    let own = leaves.iter().zip(kept);
    let own = own.filter(|((name, ..), _)| name.starts_with("adversary."));
    own.flat_map(|(_, values)| values).collect()
}

#[test]
fn an_adversary_that_only_looks_leaves_the_base() {
    let (mut looked, mut plain) = (of_table(&fair(0.0)), of_table(&base()));
    run(&mut looked, 3);
    run(&mut plain, 3);
    let model = part(&looked, "adversary", false);
    assert_close(&model, &weights(&plain), 1e-6);
}

#[test]
fn adversaries_stay_on_their_devices_and_learn_there() {
    let mut simulation = of_table(&fair(1.0));
    let first = part(&simulation, "adversary", true);
    let stats = run(&mut simulation, 3);
    assert_eq!(part(&simulation, "adversary", true), first);
    assert!(farthest(&adversary(&simulation, 0), &first) > 1e-4);
    assert!(farthest(&adversary(&simulation, 0), &adversary(&simulation, 1)) > 1e-6);
    // Two clients' models, and their counts.
    let model = part(&simulation, "adversary", false).len() as u64;
    assert_eq!(stats.bytes_up, 2 * (4 * model + 4));
}

#[test]
fn an_adversary_that_goes_ahead_finds_more_and_changes_nothing_else() {
    // Steps on all examples, whose order depends on how many epochs came before.
    let all = || FedAvg {
        batch: 1000,
        ..base()
    };
    let check = |of: &dyn Fn(usize) -> Simulation| {
        let (mut beside, mut ahead) = (of(0), of(3));
        run(&mut beside, 2);
        run(&mut ahead, 2);
        let model = |simulation: &Simulation| part(simulation, "adversary", false);
        assert_close(&model(&beside), &model(&ahead), 1e-5);
        assert!(farthest(&adversary(&beside, 0), &adversary(&ahead, 0)) > 1e-4);
    };
    check(&|ahead| {
        of_table(&Fair {
            base: all(),
            ahead,
            ..fair(0.0)
        })
    });
    // A base that personalises again takes the adversary that went ahead.
    check(&|ahead| {
        of_table(&Fair {
            base: local(all()),
            lambda: 0.0,
            apart: 0,
            ramp: 0,
            before: 0,
            ahead,
            ahead_batch: 8,
            ahead_lr: 0.5,
        })
    });
}

#[test]
fn what_is_hidden_changes_the_representation() {
    let (mut fair, mut plain) = (of_table(&fair(5.0)), of_table(&base()));
    run(&mut fair, 3);
    run(&mut plain, 3);
    let of = |simulation: &Simulation| part(simulation, "features", true);
    assert!(farthest(&of(&fair), &of(&plain)) > 1e-3);
}

#[test]
fn it_goes_over_local_representations() {
    let over = Fair {
        base: LgFedAvg {
            warm_up: 1,
            ..local(base())
        },
        lambda: 1.0,
        apart: 0,
        ramp: 0,
        before: 0,
        ahead: 1,
        ahead_batch: 8,
        ahead_lr: 0.1,
    };
    let mut simulation = of_table(&over);
    let stats = run(&mut simulation, 4);
    let head = part(&simulation, "head", true).len() as u64;
    assert_eq!(stats.bytes_up, 2 * (4 * head + 4));
}

/// `λ` is 0 for `apart` rounds, and then rises by thirds of `ramp`: as long as it is the same as one that
/// stays, so is the model.
#[test]
fn the_penalty_begins_late_and_rises() {
    let after = |fair: Fair, rounds| {
        let mut simulation = of_table(&fair);
        run(&mut simulation, rounds);
        part(&simulation, "adversary", false)
    };
    for (apart, ramp, staying, rounds) in [(2, 0, 0.0, 2), (0, 6, 0.5, 2), (0, 1, 1.5, 1)] {
        let rising = || Fair {
            apart,
            ramp,
            ..fair(5.0)
        };
        let at = format!("{apart} {ramp}");
        assert_close(
            &after(rising(), rounds),
            &after(fair(staying), rounds),
            1e-6,
        );
        let one_more = [
            after(rising(), rounds + 1),
            after(fair(staying), rounds + 1),
        ];
        assert!(farthest(&one_more[0], &one_more[1]) > 1e-5, "{at}");
    }
}

/// The adversary of two steps finds more, and without a penalty nothing else changes.
#[test]
fn steps_before_are_the_adversarys_alone() {
    let after = |before, lambda| {
        let mut simulation = of_table(&Fair {
            base: FedAvg {
                batch: 1000,
                ..base()
            },
            before,
            // The base's step size: the adversary takes plain steps.
            ahead_lr: LR,
            ..fair(lambda)
        });
        run(&mut simulation, 1);
        simulation
    };
    let model = |simulation: &Simulation| part(simulation, "adversary", false);
    let (one, three) = (after(0, 0.0), after(2, 0.0));
    assert_close(&model(&one), &model(&three), 1e-6);
    assert!(farthest(&adversary(&one, 0), &adversary(&three, 0)) > 1e-4);
    let (one, three) = (after(0, 5.0), after(2, 5.0));
    assert!(farthest(&model(&one), &model(&three)) > 1e-6);
}
