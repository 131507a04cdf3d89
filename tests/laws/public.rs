//! Examples that the server and every client have.

use fedround::Experiment;
use fedround::prelude::*;
use fedround::simulation::Simulation;

use crate::common::{assert_close, bits, dealt, digits, federation, run, simulation, weights};
use crate::state::base;

/// The server trains on public examples, and no client does.
#[derive(Hyper, Debug, Clone)]
struct ServersOwn {
    /// Step size.
    #[hyper(default = 0.1, range = 0.0..)]
    lr: f32,
}

#[federated]
impl Algorithm for ServersOwn {
    fn round(&self, server: &ServerCx, w: Server<Params>) -> Server<Params> {
        server.run(|s| {
            let (mut w, public) = (s.get(&w), s.public());
            for (x, y) in s.rows(1, 1000, (public.x, public.y)) {
                w -= self.lr * grad(&w, |w| cross_entropy(s.forward(w, &x), &y));
            }
            w
        })
    }
}

/// Clients, and the server, sum up what they see of the public examples of a round.
#[derive(Hyper, Debug, Clone)]
struct Seen {
    /// Public examples of a round.
    #[hyper(default = 5, range = 1..)]
    rows: usize,
}

#[federated]
impl Algorithm for Seen {
    fn round(&self, server: &ServerCx, w: Server<Params>) -> Server<Params> {
        let sum = w.broadcast(&server.all_clients()).map(|k, w| {
            let x = k.public_of_round(self.rows).x;
            k.set_state("seen", &x.sq_norm());
            let _ = k.scalar_state("seen");
            0.0 * w.sq_norm() + x.sq_norm()
        });
        let mine = server.run(|s| {
            let public = s.public_of_round(self.rows);
            s.set_state("seen", &public.x.sq_norm());
            s.set_state("y", &public.y);
            (s.scalar_state("seen"), s.labels_state("y"))
        });
        let (mine, y) = mine;
        server.set_state("same", &y);
        let _ = server.labels_state("same");
        w.add_scalar(0.0 * (sum.mean() - mine))
    }
}

fn number(simulation: &Simulation, name: &str) -> f32 {
    simulation.server_state(name).unwrap().unwrap()[0][0]
}

fn kept(simulation: &Simulation, client: usize) -> f32 {
    let state = simulation.client_state(client, "seen.seen").unwrap();
    state.unwrap()[0][0]
}

#[test]
fn training_of_the_server_on_public_examples_is_that_of_a_client_that_has_them() {
    let data = digits(80, 10).train;
    let (public, others): (Vec<usize>, Vec<usize>) = (0..80).partition(|i| *i < 30);
    let deal = dealt(&data, vec![others], 7);
    let own = ServersOwn { lr: 0.1 };
    let mut server = simulation(&own, "logistic", deal).with_public(data.subset(&public));
    let client = fedround::algorithms::FedAvg {
        fraction: 1.0,
        batch: 1000,
        ..base()
    };
    let mut client = simulation(&client, "logistic", dealt(&data, vec![public], 7));
    let stats = run(&mut server, 3);
    run(&mut client, 3);
    assert_close(&weights(&server), &weights(&client), 1e-6);
    // Nobody sends anything.
    assert_eq!((stats.bytes_up, stats.bytes_down), (0, 0));
}

#[test]
fn public_examples_of_a_round_are_the_same_for_all_and_others_in_the_next() {
    let data = digits(80, 10).train;
    let all: Vec<usize> = (0..40).collect();
    let deal = federation(&data.subset(&all), "iid", 4, 9);
    let of = |clients: Option<usize>| {
        let one = simulation(&Seen { rows: 5 }, "logistic", deal.clone());
        let batch = match clients {
            Some(n) => fedround::simulation::CohortBatch::Clients(n),
            None => fedround::simulation::CohortBatch::Off,
        };
        one.with_cohort_batch(batch).with_public(data.clone())
    };
    let (mut alone, mut grouped) = (of(None), of(Some(4)));
    let mut rounds = vec![];
    for _ in 0..2 {
        run(&mut alone, 1);
        run(&mut grouped, 1);
        let seen = number(&alone, "seen.seen");
        for k in 0..4 {
            assert_close(&[kept(&alone, k)], &[seen], 1e-3);
            assert_close(&[kept(&grouped, k)], &[seen], 1e-3);
        }
        rounds.push(seen);
    }
    assert_ne!(rounds[0], rounds[1]);
    // More than there are: all of them, in another order each time.
    let mut most = simulation(&Seen { rows: 1000 }, "logistic", deal).with_public(data);
    run(&mut most, 1);
    let first = number(&most, "seen.seen");
    run(&mut most, 1);
    assert_close(&[number(&most, "seen.seen")], &[first], 1e-2);
}

#[test]
fn a_run_goes_on_with_its_public_examples_and_no_others() {
    let of = |share: f64| {
        Experiment::new(Seen { rows: 5 })
            .model("logistic")
            .data(digits(80, 10))
            .clients(4)
            .threads(2)
            .public_share(share)
    };
    let mut whole = of(0.25).prepare(3).unwrap();
    let dealt: usize = whole
        .simulation()
        .dataset()
        .client_indices
        .iter()
        .map(Vec::len)
        .sum();
    assert_eq!(dealt, 60);
    whole.train(&mut ()).unwrap();
    let mut first = of(0.25).prepare(3).unwrap();
    first.step(&mut ()).unwrap();
    let saved = first.save().unwrap();
    let mut next = of(0.25).prepare(3).unwrap();
    next.restore(&saved).unwrap();
    next.train(&mut ()).unwrap();
    let found = [&whole, &next].map(|run| bits(&[number(run.simulation(), "seen.seen")]));
    assert_eq!(found[0], found[1]);
    let y = |run: &fedround::experiment::Run| run.simulation().server_state("seen.y").unwrap();
    assert_eq!(y(&whole), y(&next));

    let error = of(0.3).prepare(3).unwrap().restore(&saved).unwrap_err();
    assert!(error.to_string().contains("data"), "{error}");
}

#[test]
fn a_run_without_public_examples_says_so_before_it_trains() {
    let experiment = Experiment::new(Seen { rows: 5 })
        .model("logistic")
        .data(digits(40, 10));
    let error = experiment.clients(4).prepare(1).err().unwrap().to_string();
    assert!(error.contains("public.rs:"), "{error}");
    assert!(error.contains("public_share"), "{error}");
    let experiment = Experiment::new(Seen { rows: 5 })
        .data(digits(40, 10))
        .public_share(1.0);
    let error = experiment.prepare(1).err().unwrap().to_string();
    assert!(error.contains("above 0 and below 1"), "{error}");
}
