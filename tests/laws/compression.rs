//! Encoded uploads: their bytes, what the server gets of them, and what EF21 and compressed updates
//! reduce to.

use fedround::algorithms::{Compressed, CompressedCodec, Ef21, FedAvg};
use fedround::exec::{CompileError, Program};
use fedround::models::{self, Losses};
use fedround::prelude::*;
use fedround::simulation::{CohortBatch, Simulation};
use fedround::trace::TracedModel;

use crate::common::{
    Deal, GREY, assert_close, bits, dealt, digits, federation, run, simulation, weights,
};

const LR: f32 = 0.1;

/// Parameters of logistic regression, and the sizes of its tensors.
const ALL: u64 = 7850;
const LEAVES: [u64; 2] = [7840, 10];

/// One step on all of a client's examples.
fn full_batch() -> FedAvg {
    FedAvg {
        fraction: 1.0,
        epochs: 1,
        batch: 1000,
        lr: LR,
        ..FedAvg::default()
    }
}

fn ef21(share: f32) -> Ef21 {
    Ef21 {
        batch: 1000,
        lr: LR,
        share,
        ..Ef21::default()
    }
}

fn compressed(codec: CompressedCodec, share: f32) -> Compressed {
    Compressed {
        base: full_batch(),
        codec,
        share,
        bits: 4,
        rank: 2,
        feedback: true,
    }
}

/// Every codec, with the bytes of an encoded model.
fn codecs() -> [(CompressedCodec, u64); 5] {
    let k = ALL.div_ceil(100);
    [
        (CompressedCodec::TopK, 8 * k),
        (CompressedCodec::RandomK, 8 + 4 * k),
        (
            CompressedCodec::Quantize,
            LEAVES.map(|n| 4 + n / 2).iter().sum(),
        ),
        (
            CompressedCodec::Sign,
            LEAVES.map(|n| 4 + n.div_ceil(8)).iter().sum(),
        ),
        (CompressedCodec::LowRank, 4 * (2 * (784 + 10) + 10)),
    ]
}

/// Four clients of 20 examples each.
fn even() -> Deal {
    federation(&digits(80, 1).train, "shards:2", 4, 7)
}

/// A state of a client, all tensors in one row.
fn kept(simulation: &Simulation, client: usize, name: &str) -> Vec<f32> {
    simulation
        .client_state(client, name)
        .unwrap()
        .unwrap()
        .concat()
}

#[test]
fn ef21_that_sends_all_is_gradient_descent() {
    let mut one = simulation(&ef21(1.0), "logistic", even());
    let mut other = simulation(&full_batch(), "logistic", even());
    for _ in 0..4 {
        run(&mut one, 1);
        run(&mut other, 1);
        assert_close(&weights(&one), &weights(&other), 1e-6);
    }
}

#[test]
fn ef21_keeps_the_gradient_that_the_server_has_of_each_client() {
    let alone = || dealt(&digits(20, 1).train, vec![(0..20).collect()], 9);
    let mut one = simulation(&ef21(1.0), "logistic", alone());
    let before = weights(&one);
    run(&mut one, 1);
    let after = weights(&one);
    let gradient = before.iter().zip(&after).map(|(x, y)| (x - y) / LR);
    let gradient: Vec<f32> = gradient.collect();
    assert_close(&kept(&one, 0, "ef21.g_k"), &gradient, 1e-4);

    let mut some = simulation(&ef21(0.05), "logistic", even());
    for _ in 0..3 {
        run(&mut some, 1);
        let each: Vec<Vec<f32>> = (0..4).map(|k| kept(&some, k, "ef21.g_k")).collect();
        let mean = (0..ALL as usize).map(|i| each.iter().map(|g| g[i]).sum::<f32>() / 4.0);
        let g = some.server_state("ef21.g").unwrap().unwrap().concat();
        assert_close(&g, &mean.collect::<Vec<f32>>(), 1e-6);
    }
}

#[test]
fn ef21_sends_its_largest_entries_alone() {
    let mut some = simulation(&ef21(0.01), "logistic", even());
    let stats = run(&mut some, 1);
    let k = ALL.div_ceil(100);
    assert_eq!(stats.bytes_up, 4 * 8 * k);
    assert_eq!(stats.bytes_down, 4 * 4 * ALL);
    // From zero, what is kept is what was sent.
    let sent = kept(&some, 0, "ef21.g_k").into_iter();
    assert_eq!(sent.filter(|x| *x != 0.0).count() as u64, k);
}

#[test]
fn an_update_that_is_sent_whole_is_the_base() {
    let whole = compressed(CompressedCodec::TopK, 1.0);
    let mut one = simulation(&whole, "logistic", even());
    let mut other = simulation(&full_batch(), "logistic", even());
    let stats = run(&mut one, 3);
    assert_eq!(stats.bytes_up, run(&mut other, 3).bytes_up);
    assert_close(&weights(&one), &weights(&other), 1e-6);
    assert!(kept(&one, 0, "compressed.e_k").iter().all(|x| *x == 0.0));
}

#[test]
fn encoded_bytes_are_counted_and_nothing_is_lost_but_for_a_while() {
    for (codec, size) in codecs() {
        let alone = dealt(&digits(20, 1).train, vec![(0..20).collect()], 9);
        let mut one = simulation(&compressed(codec, 0.01), "logistic", alone.clone());
        let before = weights(&one);
        let stats = run(&mut one, 1);
        // The weight of the mean, too.
        assert_eq!(stats.bytes_up, size + 4, "{codec:?}");
        let mut base = simulation(&full_batch(), "logistic", alone);
        run(&mut base, 1);
        // What was sent and what is kept are the update.
        let both = weights(&one)
            .into_iter()
            .zip(kept(&one, 0, "compressed.e_k"));
        let both: Vec<f32> = both.map(|(w, e)| w + e).collect();
        assert_close(&both, &weights(&base), 1e-6);
        assert!(bits(&weights(&one)) != bits(&before), "{codec:?}");
    }
}

/// An entry is sent times `P/k`, or not at all: half of them, times 2.
#[test]
fn random_entries_without_feedback_are_scaled() {
    let alone = || dealt(&digits(20, 1).train, vec![(0..20).collect()], 9);
    let half = Compressed {
        feedback: false,
        ..compressed(CompressedCodec::RandomK, 0.5)
    };
    let mut one = simulation(&half, "logistic", alone());
    let mut base = simulation(&full_batch(), "logistic", alone());
    let before = weights(&one);
    run(&mut one, 1);
    run(&mut base, 1);
    let moves = |after: Vec<f32>| before.iter().zip(after).map(|(w, next)| next - w);
    let both = moves(weights(&one)).zip(moves(weights(&base)));
    let (sent, kept): (Vec<_>, Vec<_>) = both
        .filter(|(_, whole)| whole.abs() > 1e-4)
        .partition(|(sent, _)| sent.abs() > 1e-5);
    assert!(sent.len().min(kept.len()) > 100, "{}", sent.len());
    let (sent, whole): (Vec<f32>, Vec<f32>) = sent.into_iter().unzip();
    let twice: Vec<f32> = whole.iter().map(|x| 2.0 * x).collect();
    assert_close(&sent, &twice, 1e-6);
}

/// Encodes what each client's number of examples and state make of the model: the same bits in any
/// graph.
#[derive(Hyper, Debug, Clone)]
struct Encoded {
    /// Which codec.
    #[hyper(default = CompressedCodec::TopK)]
    codec: CompressedCodec,
}

#[federated]
impl Algorithm for Encoded {
    fn round(&self, server: &ServerCx, w: Server<Params>) -> Server<Params> {
        let (first, second) = w.broadcast(&server.all_clients()).map(|k, w| {
            let codec = match self.codec {
                CompressedCodec::TopK => Codec::top_k(0.03),
                CompressedCodec::RandomK => Codec::random_k(0.03),
                CompressedCodec::Quantize => Codec::quantize(5),
                CompressedCodec::Sign => Codec::sign(),
                CompressedCodec::LowRank => Codec::low_rank(1),
            };
            let own = k.num_examples() * &w + k.state("c");
            let sent = own.encode(codec.clone());
            k.set_state("c", &sent);
            // Of a value that all clients share.
            (sent, w.encode(codec))
        });
        0.01 * first.mean() + 0.5 * second.mean()
    }
}

#[test]
fn batched_is_sequential_bit_for_bit() {
    let sizes = [3, 5, 2, 7, 3];
    let mut next = 0;
    let parts = sizes.map(|n| {
        next += n;
        (next - n..next).collect()
    });
    let deal = dealt(&digits(20, 1).train, parts.into(), 3);
    for (codec, _) in codecs() {
        let algorithm = Encoded { codec };
        let mut alone = simulation(&algorithm, "logistic", deal.clone());
        alone = alone.with_cohort_batch(CohortBatch::Off);
        let mut grouped = simulation(&algorithm, "logistic", deal.clone());
        grouped = grouped.with_cohort_batch(CohortBatch::Clients(3));
        let (one, other) = (run(&mut alone, 3), run(&mut grouped, 3));
        assert_eq!(one.bytes_up, other.bytes_up);
        assert_eq!(
            bits(&weights(&alone)),
            bits(&weights(&grouped)),
            "{codec:?}"
        );
    }
}

#[test]
fn a_run_continues_from_its_checkpoint_with_the_same_bits() {
    for (codec, _) in codecs() {
        let begin = || simulation(&compressed(codec, 0.01), "logistic", even());
        let mut whole = begin();
        run(&mut whole, 1);
        let archive = whole.save().unwrap();
        run(&mut whole, 2);
        let mut resumed = begin();
        resumed.restore(&archive).unwrap();
        run(&mut resumed, 2);
        assert_eq!(
            bits(&weights(&resumed)),
            bits(&weights(&whole)),
            "{codec:?}"
        );
    }
}

fn refused(algorithm: &dyn Algorithm) -> String {
    let model = models::find("logistic")
        .unwrap()
        .build(GREY, &Default::default());
    let tracer = TracedModel::new("logistic", model.unwrap(), GREY, Losses::default());
    match Program::compile(algorithm, tracer) {
        Err(CompileError::Stage(error)) => error.to_string(),
        Err(error) => error.to_string(),
        Ok(_) => "nothing is wrong".to_owned(),
    }
}

/// Sends a share that depends on the data.
#[derive(Hyper, Debug, Clone)]
struct Varying {}

#[federated]
impl Algorithm for Varying {
    fn round(&self, server: &ServerCx, w: Server<Params>) -> Server<Params> {
        let w_k = w.broadcast(&server.all_clients());
        w_k.map(|k, w| w.encode(Codec::top_k(1.0 / k.num_examples())))
            .mean()
    }
}

#[test]
fn settings_are_known_and_in_range() {
    let error = refused(&Varying {});
    let expected = "the setting of `top-k` is computed in it, but must be known before the round and be a share above 0 and up to 1";
    assert!(error.contains(expected), "{error}");
    let error = refused(&ef21(0.0));
    assert!(
        error.contains("`share`: expected [0.000001, 1], found 0"),
        "{error}"
    );
}

/// `w` becomes elementwise functions of itself.
#[derive(Hyper, Debug, Clone)]
struct Elementwise {}

#[federated]
impl Algorithm for Elementwise {
    fn round(&self, server: &ServerCx, w: Server<Params>) -> Server<Params> {
        let w_k = w.broadcast(&server.all_clients());
        w_k.map(|_, w| {
            let more = w.greater(&(0.5 * w.abs())) + 10.0 * w.less(&w.zeros_like());
            more + 100.0 * (100.0 * w).floor()
        })
        .mean()
    }
}

#[test]
fn elementwise_functions_are_those_of_numbers() {
    let alone = dealt(&digits(20, 1).train, vec![vec![0]], 9);
    let mut one = simulation(&Elementwise {}, "logistic", alone);
    let before = weights(&one);
    run(&mut one, 1);
    let step = |is: bool| f32::from(u8::from(is));
    let expected = before
        .iter()
        .map(|&w| step(w > 0.5 * w.abs()) + 10.0 * step(w < 0.0) + 100.0 * (100.0 * w).floor());
    assert_close(&weights(&one), &expected.collect::<Vec<f32>>(), 1e-4);
}
