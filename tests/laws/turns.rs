//! Clients that train one after the other: cyclic weight transfer, and split learning.

use fedround::algorithms::{Cyclic, CyclicOrder, FedAvg, SplitLearning};
use fedround::prelude::*;
use fedround::simulation::{Distribution, Faults, Simulation};

use crate::common::{
    Deal, assert_close, bits, dealt, digits, federation, run, simulation, trained, weights,
};

/// Bytes of logistic regression's parameters.
const SIZE: u64 = 4 * 7850;

fn base(batch: usize) -> FedAvg {
    FedAvg {
        fraction: 1.0,
        epochs: 2,
        batch,
        lr: 0.1,
        ..FedAvg::default()
    }
}

fn cyclic(order: CyclicOrder) -> Cyclic {
    Cyclic {
        base: base(4),
        order,
    }
}

/// Clients of eight examples each.
fn even(clients: usize) -> Deal {
    federation(&digits(8 * clients, 1).train, "shards:2", clients, 7)
}

/// Turns that are written out: the first three clients, one exchange after the other.
#[derive(Hyper, Debug, Clone)]
struct WrittenOut<A = FedAvg> {
    /// What trains.
    pub base: A,
}

#[federated(base = base)]
impl<A: Algorithm> Algorithm for WrittenOut<A> {
    fn round(&self, server: &ServerCx, w: Server<Params>) -> Server<Params> {
        let mut w = w;
        for j in 0..3 {
            let one = server.clients(j, 1);
            w = w.broadcast(&one).map(|k, w| self.client_update(k, w)).sum();
        }
        w
    }
}

#[test]
fn one_client_in_turn_is_fedavg() {
    for order in [CyclicOrder::Fixed, CyclicOrder::Drawn] {
        let found = trained(&cyclic(order), "logistic", even(1), 2);
        let expected = trained(&base(4), "logistic", even(1), 2);
        assert_eq!(bits(&found), bits(&expected));
    }
}

#[test]
fn turns_in_a_fixed_order_are_those_written_out() {
    let found = trained(&cyclic(CyclicOrder::Fixed), "logistic", even(3), 2);
    let written_out = WrittenOut { base: base(4) };
    let expected = trained(&written_out, "logistic", even(3), 2);
    assert_eq!(bits(&found), bits(&expected));
    let drawn = trained(&cyclic(CyclicOrder::Drawn), "logistic", even(3), 2);
    assert_ne!(bits(&drawn), bits(&expected));
}

/// Clients of equal examples take a step each: that is as many steps of one client that has them.
#[test]
fn equal_clients_in_turn_are_sequential_sgd() {
    let data = digits(8, 1).train;
    let all: Vec<usize> = (0..8).collect();
    let turns = Cyclic {
        base: FedAvg {
            epochs: 1,
            ..base(8)
        },
        order: CyclicOrder::Fixed,
    };
    let found = trained(&turns, "logistic", dealt(&data, vec![all.clone(); 4], 3), 2);
    let alone = FedAvg {
        epochs: 4,
        ..base(8)
    };
    let expected = trained(&alone, "logistic", dealt(&data, vec![all], 3), 2);
    assert_close(&found, &expected, 1e-6);
}

/// Each client keeps its place, and the last one's is the server's.
#[derive(Hyper, Debug, Clone)]
struct Places {}

#[federated]
impl Algorithm for Places {
    fn round(&self, server: &ServerCx, w: Server<Params>) -> Server<Params> {
        let mut place = server.scalar_state("place");
        for client in server.sample(1.0).in_turn() {
            let next = place.broadcast(&client).map(|k, place| {
                let place = place + 1.0;
                k.set_state("place", &(k.scalar_state("place") + &place));
                place
            });
            place = next.sum();
        }
        server.set_state("place", &place);
        w
    }
}

fn places(simulation: &Simulation, clients: usize) -> Vec<f32> {
    let state = |k| simulation.client_state(k, "places.place").unwrap().unwrap();
    (0..clients).flat_map(|k| state(k).concat()).collect()
}

#[test]
fn a_value_passes_from_client_to_client() {
    let mut places_of = simulation(&Places {}, "logistic", even(5));
    let stats = run(&mut places_of, 1);
    let found = places(&places_of, 5);
    let mut sorted = found.clone();
    sorted.sort_by(f32::total_cmp);
    assert_eq!(sorted, [1.0, 2.0, 3.0, 4.0, 5.0]);
    assert_ne!(found, sorted, "in the order in which they are drawn");
    // One number to each client, and one back.
    assert_eq!((stats.bytes_down, stats.bytes_up), (20, 20));
    run(&mut places_of, 1);
    let all: f32 = places(&places_of, 5).iter().sum();
    assert_eq!(all, 15.0 + 40.0);
}

#[test]
fn a_checkpoint_between_rounds_goes_on_with_the_same_bits() {
    let algorithm = cyclic(CyclicOrder::Drawn);
    let mut first = simulation(&algorithm, "logistic", even(3));
    run(&mut first, 1);
    let checkpoint = first.save().unwrap();
    run(&mut first, 2);
    let mut second = simulation(&algorithm, "logistic", even(3));
    second.restore(&checkpoint).unwrap();
    run(&mut second, 2);
    assert_eq!(bits(&weights(&second)), bits(&weights(&first)));
}

#[test]
fn a_hop_is_a_model_up_and_down() {
    let mut turns = simulation(&cyclic(CyclicOrder::Fixed), "logistic", even(3));
    let stats = run(&mut turns, 1);
    assert_eq!((stats.bytes_down, stats.bytes_up), (3 * SIZE, 3 * SIZE));
    assert_eq!(stats.client_steps, 3 * 2 * 2);
}

#[test]
fn turns_take_the_sum_of_their_times() {
    let faults = Faults {
        bandwidth: Some(Distribution::Constant(1.0)),
        ..Faults::default()
    };
    let time = |algorithm: &dyn Algorithm, clients| {
        let simulation = simulation(algorithm, "logistic", even(clients));
        let mut simulation = simulation.with_faults(faults.clone()).unwrap();
        run(&mut simulation, 1).virtual_seconds.unwrap()
    };
    let (one, at_once) = (time(&base(4), 1), time(&base(4), 3));
    let in_turn = time(&cyclic(CyclicOrder::Fixed), 3);
    assert!((at_once - one).abs() < 1e-9 && one > 0.1, "{one} {at_once}");
    // FedAvg sends its weights, too.
    assert!((in_turn - 3.0 * one).abs() < 1e-3, "{one} {in_turn}");
}

#[test]
fn who_does_not_come_has_no_turn() {
    // The second client needs hours for the eight bytes that it receives and sends.
    let faults = Faults {
        bandwidth: Some(Distribution::Listed(vec![1.0, 1e-9, 1.0, 1.0])),
        deadline: Some(1.0),
        ..Faults::default()
    };
    let mut turns = simulation(&Places {}, "logistic", even(4))
        .with_faults(faults)
        .unwrap();
    let stats = run(&mut turns, 1);
    assert_eq!((stats.late, stats.bytes_up), (vec![1], 12));
    let found = |k| turns.client_state(k, "places.place").unwrap();
    assert_eq!(found(1), None);
    let mut others = [0, 2, 3].map(|k| found(k).unwrap()[0][0]);
    others.sort_by(f32::total_cmp);
    assert_eq!(others, [1.0, 2.0, 3.0]);
}

fn split(steps: usize, batch: usize) -> SplitLearning {
    SplitLearning {
        steps,
        batch,
        lr: 0.1,
    }
}

#[test]
fn split_learning_of_one_client_is_sgd_on_the_whole_model() {
    let whole = FedAvg {
        epochs: 3,
        ..base(1000)
    };
    for model in ["2nn", "cnn"] {
        let found = trained(&split(3, 1000), model, even(1), 2);
        let expected = trained(&whole, model, even(1), 2);
        assert_close(&found, &expected, 1e-6);
    }
}

/// The same steps on the whole model, by the client whose turn it is.
#[derive(Hyper, Debug, Clone)]
struct Whole {
    /// Steps of a turn.
    #[hyper(default = 3)]
    pub steps: usize,
}

#[federated]
impl Algorithm for Whole {
    fn round(&self, server: &ServerCx, w: Server<Params>) -> Server<Params> {
        let mut w = w;
        for client in server.all_clients().in_turn() {
            w = w.broadcast(&client).map(|_, w| w).mean();
            for _ in 0..self.steps {
                w = w
                    .broadcast(&client)
                    .map(|k, w| {
                        let b = k.batch(1000);
                        w.clone() - 0.1 * grad(&w, |w| k.loss(w, &b))
                    })
                    .mean();
            }
        }
        w
    }
}

#[test]
fn split_learning_of_several_clients_is_sgd_in_turn() {
    let found = trained(&split(3, 1000), "2nn", even(3), 2);
    let expected = trained(&Whole { steps: 3 }, "2nn", even(3), 2);
    assert_close(&found, &expected, 1e-6);
}

#[test]
fn split_learning_sends_outputs_and_gradients_for_each_batch() {
    // The 2NN: 784 inputs, 200 and 200 units, 10 classes.
    let clients_half = 4 * (784 * 200 + 200 + 200 * 200 + 200);
    let stats = run(&mut simulation(&split(5, 4), "2nn", even(3)), 1);
    let outputs = 4 * 200 * 4;
    assert_eq!(stats.bytes_down, 3 * (clients_half + 5 * outputs));
    assert_eq!(stats.bytes_up, 3 * (clients_half + 5 * (outputs + 4 * 4)));
}
