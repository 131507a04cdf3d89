//! Rows: loops over them, draws of them, and what is collected from all of a client's examples.

use burn::tensor::{Int, Tensor};
use fedround::data::{Column, Examples};
use fedround::exec::Program;
use fedround::models::{Losses, Task, find};
use fedround::prelude::{self, *};
use fedround::simulation::{CohortBatch, FederatedDataset, Simulation};
use fedround::trace::TracedModel;

/// The number of each example, which is its only input.
fn numbers(x: Tensor<4>) -> Tensor<1> {
    let [n, ..] = x.dims();
    x.reshape([n])
}

/// How far numbers are from the labels that they came with.
fn apart(numbers: Tensor<1>, labels: Tensor<1, Int>) -> Tensor<1> {
    (numbers - labels.float()).abs().sum()
}

/// Clients whose examples are numbered, from 1, the same as their labels.
pub fn numbered(algorithm: &dyn Algorithm, sizes: &[usize], threads: usize) -> Simulation {
    let total = sizes.iter().sum::<usize>();
    let x = (1..=total).map(|i| i as f32).collect();
    let labels: Vec<u16> = (1..=total as u16).collect();
    let x = Column::floats("x", [1, 1, 1], x).unwrap();
    let examples = Examples::of_columns(vec![x], labels).unwrap();
    let mut first = 0;
    let mut part = |size: &usize| -> Vec<usize> {
        first += size;
        (first - size..first).collect()
    };
    let parts = sizes.iter().map(&mut part).collect();
    let task = Task {
        input: [1, 1, 1],
        classes: total + 1,
    };
    let model = find("logistic").unwrap().build(task, &Default::default());
    let losses = Losses::default()
        .with_function("numbers", numbers)
        .with("apart", apart);
    let tracer = TracedModel::new("logistic", model.unwrap(), task, losses);
    let program = Program::compile(algorithm, tracer).unwrap_or_else(|e| panic!("{e}"));
    let dataset = FederatedDataset {
        examples,
        client_indices: parts,
    };
    Simulation::new(program, dataset, 11, threads).unwrap()
}

/// Walks over rows on the server and on clients, and keeps what it saw as digits.
#[derive(Hyper, Debug, Clone)]
pub struct Walk {
    /// Passes.
    #[hyper(default = 1)]
    pub epochs: usize,
    /// Rows in a batch.
    #[hyper(default = 1)]
    pub size: usize,
    /// Rows that are drawn.
    #[hyper(default = 3)]
    pub draw: usize,
    /// Share of the rows that is drawn.
    #[hyper(default = 0.5)]
    pub share: f32,
}

fn walk() -> Walk {
    Walk {
        epochs: 1,
        size: 1,
        draw: 3,
        share: 0.5,
    }
}

/// What is drawn of rows, by number and by share, the two largest, and how far the first drawn and
/// those are from their labels.
fn drawn(
    at: &impl RowOps,
    n: impl Into<Index>,
    share: impl Into<Scalar>,
    rows: &(prelude::Tensor, Labels),
) -> (prelude::Tensor, prelude::Tensor, prelude::Tensor, Scalar) {
    let n: Index = n.into();
    let (x, y) = at.sample_rows(n, rows.clone());
    let (most, of_most) = at.smallest(2, &-rows.0.clone(), rows.clone());
    let (share, _) = at.sample_row_fraction(share, rows.clone());
    let apart = loss("apart", (&x, &y)) + loss("apart", (&most, &of_most));
    (x, share, most, apart)
}

/// Keeps features of the server on client 0: the server's own states are models and numbers.
pub fn keep(server: &ServerCx, name: &str, x: &Server<prelude::Tensor>) {
    x.broadcast(&server.clients(0, 1)).map(|k, x| {
        k.set_state(name, &x);
        k.num_examples()
    });
}

#[federated]
impl Algorithm for Walk {
    fn round(&self, server: &ServerCx, w: Server<Params>) -> Server<Params> {
        let (x_k, y_k) = w.broadcast(&server.all_clients()).map(|k, _| {
            let rows = k.collect(2, |b| (function("numbers", &b.x), b.y.clone()));
            let (mut order, mut sizes) = (Scalar::from(0.0), Scalar::from(0.0));
            for (x, y) in k.rows(self.epochs, self.size, rows.clone()) {
                order = 8.0 * order + loss("sum", &x);
                sizes = 8.0 * sizes + loss("sum", &function("same", (&y, &y)));
            }
            k.set_state("order", &order);
            k.set_state("sizes", &sizes);
            k.set_state("all", &rows.0);
            let (x, share, most, apart) = drawn(k, self.draw, self.share, &rows);
            k.set_state("drawn", &x);
            k.set_state("share", &share);
            k.set_state("most", &most);
            k.set_state("apart", &apart);
            (rows.0.release("a test"), rows.1.release("a test"))
        });
        let (x, y) = (x_k.gather().concat(), y_k.gather().concat());
        let (all, drawn, share) = server.run(|s| {
            let rows = (s.get(&x).tensor(), s.get(&y).labels());
            let (mut order, mut sizes) = (Scalar::from(0.0), Scalar::from(0.0));
            let mut off = Scalar::from(0.0);
            for (x, y) in s.rows(self.epochs, self.size, rows.clone()) {
                order = 8.0 * order + loss("sum", &x);
                sizes = 8.0 * sizes + loss("sum", &function("same", (&y, &y)));
                off += loss("apart", (&x, &y));
            }
            s.set_state("order", &order);
            s.set_state("sizes", &sizes);
            let (x, share, _, apart) = drawn(s, self.draw, self.share, &rows);
            s.set_state("apart", &(off + apart));
            (rows.0, x, share)
        });
        keep(server, "servers_all", &all);
        keep(server, "servers_drawn", &drawn);
        keep(server, "servers_share", &share);
        w
    }
}

/// What the server, or one client, kept.
fn kept(simulation: &Simulation, client: Option<usize>, name: &str) -> Vec<f32> {
    let values = match client {
        None => simulation
            .server_state(&format!("walk.{name}"))
            .unwrap()
            .or_else(|| {
                simulation
                    .client_state(0, &format!("walk.servers_{name}"))
                    .unwrap()
            }),
        Some(k) => simulation.client_state(k, &format!("walk.{name}")).unwrap(),
    };
    values.unwrap().concat()
}

/// The digits of a number in base 8.
fn digits(simulation: &Simulation, client: Option<usize>, name: &str) -> Vec<u32> {
    let mut number = kept(simulation, client, name)[0] as u32;
    let mut digits = vec![];
    while number > 0 {
        digits.insert(0, number % 8);
        number /= 8;
    }
    digits
}

fn sorted<T: PartialOrd + Copy>(values: &[T]) -> Vec<T> {
    let mut values = values.to_vec();
    values.sort_by(|a, b| a.partial_cmp(b).unwrap());
    values
}

#[test]
fn an_epoch_visits_every_row_once_and_its_last_batch_is_short() {
    let mut simulation = numbered(&walk(), &[4, 3], 2);
    simulation.run_round().unwrap();
    let all = [1, 2, 3, 4, 5, 6, 7];
    assert_eq!(sorted(&digits(&simulation, None, "order")), all);
    assert_eq!(sorted(&digits(&simulation, Some(0), "order")), all[..4]);
    assert_eq!(sorted(&digits(&simulation, Some(1), "order")), all[4..]);
    assert_eq!(kept(&simulation, None, "apart"), [0.0]);
    let mut batches = numbered(&Walk { size: 3, ..walk() }, &[4, 3], 2);
    batches.run_round().unwrap();
    assert_eq!(digits(&batches, None, "sizes"), [3, 3, 1]);
    assert_eq!(digits(&batches, Some(0), "sizes"), [3, 1]);
    assert_eq!(digits(&batches, Some(1), "sizes"), [3]);
}

#[test]
fn rows_of_the_least_key_come_in_its_order() {
    let mut simulation = numbered(&walk(), &[4, 1, 3], 2);
    simulation.run_round().unwrap();
    assert_eq!(kept(&simulation, Some(0), "most"), [4.0, 3.0]);
    assert_eq!(kept(&simulation, Some(1), "most"), [5.0]);
    for who in [None, Some(0), Some(1), Some(2)] {
        assert_eq!(kept(&simulation, who, "apart"), [0.0]);
    }
}

#[test]
fn each_epoch_and_round_has_an_order_of_its_own() {
    let mut simulation = numbered(
        &Walk {
            epochs: 2,
            ..walk()
        },
        &[4],
        2,
    );
    for who in [None, Some(0)] {
        simulation.run_round().unwrap();
        let first = digits(&simulation, who, "order");
        let (one, other) = first.split_at(4);
        assert_eq!(sorted(one), sorted(other));
        assert_ne!(one, other);
        simulation.run_round().unwrap();
        assert_ne!(digits(&simulation, who, "order"), first);
    }
    // The server's rows and the client's are the same here, in other orders.
    let client = digits(&simulation, Some(0), "order");
    assert_ne!(digits(&simulation, None, "order"), client);
}

#[test]
fn neither_workers_nor_groups_change_an_order_or_a_draw() {
    let sizes = [4, 3, 4, 2];
    let seen = |threads: usize, group: usize| {
        let simulation = numbered(&Walk { size: 5, ..walk() }, &sizes, threads);
        let mut simulation = simulation.with_cohort_batch(CohortBatch::Clients(group));
        simulation.run_round().unwrap();
        simulation.run_round().unwrap();
        let who = (0..sizes.len()).map(Some).chain([None]);
        let names = ["order", "drawn", "share"];
        let all = who.flat_map(|who| names.map(|name| (who, name)));
        all.map(|(who, name)| kept(&simulation, who, name))
            .collect::<Vec<_>>()
    };
    let alone = seen(1, 1);
    assert_eq!(seen(3, 1), alone);
    assert_eq!(seen(2, 4), alone);
}

#[test]
fn drawn_rows_are_distinct_go_together_and_change() {
    let mut simulation = numbered(&walk(), &[4, 2], 2);
    simulation.run_round().unwrap();
    for (who, sizes) in [(None, [3, 3]), (Some(0), [3, 2]), (Some(1), [2, 1])] {
        let [drawn, share] = ["drawn", "share"].map(|name| kept(&simulation, who, name));
        assert_eq!([drawn.len(), share.len()], sizes, "{who:?}");
        let all = kept(&simulation, who, "all");
        for drawn in [drawn, share] {
            let mut distinct = sorted(&drawn);
            distinct.dedup();
            assert_eq!(distinct.len(), drawn.len(), "{who:?}");
            assert!(drawn.iter().all(|x| all.contains(x)), "{who:?}");
        }
        assert_eq!(kept(&simulation, who, "apart"), [0.0]);
    }
    let mut seen = vec![];
    for _ in 0..4 {
        seen.push(sorted(&kept(&simulation, None, "drawn")));
        simulation.run_round().unwrap();
    }
    seen.dedup();
    assert!(seen.len() > 1, "{seen:?}");
}

#[test]
fn a_share_is_rounded_up_and_not_by_rounding_errors() {
    // 0.07 × 100 is more than 7 in floating point.
    for (share, rows, expected) in [(0.2, 10, 2), (0.2, 11, 3), (0.07, 100, 7), (1.0, 9, 9)] {
        // In one step: the order of as many single rows is no finite number.
        let walk = Walk {
            share,
            size: rows,
            ..walk()
        };
        let mut simulation = numbered(&walk, &[rows], 2);
        simulation.run_round().unwrap();
        let drawn = kept(&simulation, Some(0), "share").len();
        assert_eq!(drawn, expected, "{share} of {rows}");
    }
}

#[test]
fn all_examples_are_collected() {
    let mut simulation = numbered(&walk(), &[5, 1], 2);
    simulation.run_round().unwrap();
    let all = |who| sorted(&kept(&simulation, who, "all"));
    assert_eq!(all(Some(0)), [1.0, 2.0, 3.0, 4.0, 5.0]);
    assert_eq!(all(Some(1)), [6.0]);
    assert_eq!(all(None), [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
}
