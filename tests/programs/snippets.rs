//! Code that the docs show, compiled here.

use std::path::Path;

use fedround::algorithms::FedAvg;
use fedround::experiment::Report;
use fedround::prelude::*;
use fedround::testing::{Stage, graph_text};

/// Algorithms of docs/specs.md.
#[derive(Hyper, Debug, Clone)]
pub struct FineTuned<A = FedAvg> {
    /// What trains.
    pub base: A,
    /// Passes before a test.
    #[hyper(default = 1, range = 1..)]
    pub tuning: usize,
    /// Examples of a batch.
    #[hyper(default = 10, range = 1..)]
    pub batch: usize,
    /// Step size.
    #[hyper(default = 0.1, range = 0.0..)]
    pub lr: f32,
}

#[federated(base = base)]
impl<A: Algorithm> Algorithm for FineTuned<A> {
    fn personalize(&self, k: &ClientCx, w: Params) -> Params {
        let mut w = w;
        for b in k.batches(self.tuning, self.batch) {
            w -= self.lr * self.gradient(k, &w, &b);
        }
        w
    }
}

#[derive(Hyper, Debug, Clone)]
pub struct Feedback<A = FedAvg> {
    /// What trains.
    pub base: A,
    /// Share of the entries that are sent.
    #[hyper(default = 0.1, range = 0.0..=1.0)]
    pub share: f32,
}

#[federated(base = base)]
impl<A: Algorithm> Algorithm for Feedback<A> {
    fn client_update(&self, k: &ClientCx, w: Params) -> Params {
        let update = self.base.client_update(k, w.clone()) - &w + k.state("e_k");
        let sent = update.encode(Codec::top_k(self.share));
        k.set_state("e_k", &(update - &sent));
        w + sent
    }
}

#[derive(Hyper, Debug, Clone)]
pub struct Gossip<A = FedAvg> {
    /// What trains.
    pub base: A,
}

#[federated(base = base)]
impl<A: Algorithm> Algorithm for Gossip<A> {
    fn round(&self, server: &ServerCx, _: Server<Params>) -> Server<Params> {
        let x_0 = server.initial_params(0).broadcast(&server.all_clients());
        let x = x_0.map(|k, x_0| self.client_update(k, k.state_or("x", &x_0)));
        let x = x.mix(Topology::Ring).map(|k, x| {
            k.set_state("x", &x);
            x
        });
        x.consensus()
    }
}

#[derive(Hyper, Debug, Clone)]
pub struct Loudest<A = FedAvg> {
    /// What trains.
    pub base: A,
    /// Clients of a round.
    #[hyper(default = 5, range = 1..)]
    pub count: usize,
}

#[federated(base = base)]
impl<A: Algorithm> Algorithm for Loudest<A> {
    fn round(&self, server: &ServerCx, w: Server<Params>) -> Server<Params> {
        // The clients whose last reported loss is largest; those of whom there is none have 0.
        let loss = server
            .all_clients()
            .map_on_server(|k| k.scalar_state("loss"));
        let s_t = server.top(&loss, self.count);
        let (w_k, loss_k) = w.broadcast(&s_t).map(|k, w| {
            let loss = self.loss(k, &w, &k.batch(64));
            (self.client_update(k, w), loss)
        });
        loss_k.gather().map(|k, loss| k.set_state("loss", &loss));
        self.aggregate(server, w_k)
    }
}

#[derive(Hyper, Debug, Clone)]
pub struct Senders<A = FedAvg> {
    /// What trains.
    pub base: A,
    /// Least squared norm of an update that is sent.
    #[hyper(default = 0.1, range = 0.0..)]
    pub least: f32,
}

#[federated(base = base)]
impl<A: Algorithm> Algorithm for Senders<A> {
    fn round(&self, server: &ServerCx, w: Server<Params>) -> Server<Params> {
        let s_t = server.all_clients();
        let (w_k, sends_k) = w.broadcast(&s_t).map(|k, w| {
            let w = self.client_update(k, w);
            let sends = (&w - k.global_params()).sq_norm() - self.least;
            (w, sends)
        });
        let senders = server.clients_where(&sends_k.gather());
        self.aggregate(server, w_k.restrict(&senders))
    }
}

#[derive(Hyper, Debug, Clone)]
pub struct Arriving<A = FedAvg> {
    /// What trains.
    pub base: A,
    /// Clients that train at once.
    #[hyper(default = 10, range = 1..)]
    pub in_flight: usize,
    /// Updates of a round.
    #[hyper(default = 1, range = 1..)]
    pub buffer: usize,
    /// Weight of fresh updates.
    #[hyper(default = 0.5, range = 0.0..=1.0)]
    pub alpha: f32,
}

#[federated(base = base)]
impl<A: Algorithm> Algorithm for Arriving<A> {
    fn round(&self, server: &ServerCx, w: Server<Params>) -> Server<Params> {
        let arrived = server.arrivals(self.in_flight, self.buffer);
        let w_k = w.dispatch(&arrived).map(|k, w| self.client_update(k, w));
        let alpha = self.alpha
            * arrived
                .staleness()
                .map(|_, stale| 1.0 / (stale + 1.0))
                .mean();
        (1.0 - &alpha) * &w + alpha * w_k.mean()
    }
}

/// The program of docs/your-own-data.md, which needs a file to run.
#[allow(dead_code, reason = "compiled and not run")]
#[rustfmt::skip]
fn own_data() -> Result<Report, Box<dyn std::error::Error>> {
    use fedround::Experiment;
    use fedround::algorithms::FedAvg;
    use fedround::data::{DataSpec, Partition, Reading};

    let people = "csv:people.csv".parse::<DataSpec>()?.reading(Reading {
        target: Some("income".to_owned()),
        client_column: Some("town".to_owned()),
        ..Reading::default()
    });
    let report = Experiment::new(FedAvg::default())
        .model("logistic")
        .data(people)
        .clients(4)
        .partition(Partition::Natural)
        .run(20)?;
    Ok(report)
}

/// The programs of docs/experiments.md, run.
#[rustfmt::skip]
fn experiment() -> Result<Report, Box<dyn std::error::Error>> {
    use fedround::Experiment;
    use fedround::algorithms::FedAvg;
    use fedround::data::{Partition, synth::SynthDigits};

    let data = SynthDigits { train: 200, test: 50, ..SynthDigits::default() }.generate();
    let report = Experiment::new(FedAvg::default())
        .model("logistic")
        .data(data)
        .clients(10)
        .partition(Partition::Iid)
        .seed(7)
        .run(3)?;
    println!("{} rounds, training loss {}", report.rounds(), report.train_loss());
    Ok(report)
}

/// Blocks that are no whole code, by their first lines.
const PIECES: [&str; 4] = [
    "#[derive(Hyper, Clone, Copy, Debug, PartialEq, Eq)]",
    "fn evaluate(&self, server: &ServerCx, w: Server<Params>) -> Clients<Params> {",
    "let models = server.states_or(\"model\", &server.initial_models(&w, self.clusters));",
    "fn round(&self, server: &ServerCx, w: Server<Params>) -> Server<Params> {",
];

/// Code without its documentation, and without white space, which depends on where the code stands.
fn plain(code: &str) -> String {
    let documentation = |line: &&str| line.trim_start().starts_with("///");
    let lines = code.lines().filter(|line| !documentation(line));
    lines.flat_map(str::split_whitespace).collect()
}

#[test]
fn code_of_the_docs_is_compiled() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let read = |path: &str| std::fs::read_to_string(root.join(path)).unwrap();
    let algorithms = ["fed_prox", "fed_bn"];
    let sources = algorithms.map(|name| read(&format!("algorithms/src/{name}.rs")));
    let compiled = plain(&(include_str!("snippets.rs").to_owned() + &sources.concat()));
    for page in [
        "docs/specs.md",
        "docs/your-own-data.md",
        "docs/experiments.md",
    ] {
        let text = read(page);
        for block in text.split("```rust\n").skip(1) {
            let block = block.split("```").next().unwrap().trim();
            let piece = PIECES.iter().any(|first| block.starts_with(first));
            assert!(
                piece || compiled.contains(&plain(block)),
                "{page}: nothing compiles this code:\n{block}"
            );
        }
    }
}

#[test]
fn algorithms_of_the_docs_have_graphs() {
    let algorithms: [&dyn Algorithm; 6] = [
        &FineTuned::<FedAvg>::default(),
        &Feedback::<FedAvg>::default(),
        &Gossip::<FedAvg>::default(),
        &Loudest::<FedAvg>::default(),
        &Senders::<FedAvg>::default(),
        &Arriving::<FedAvg>::default(),
    ];
    for algorithm in algorithms {
        graph_text(algorithm, Stage::Box).unwrap();
    }
}

#[test]
fn the_experiment_of_the_docs_runs() {
    assert_eq!(experiment().unwrap().rounds(), 3);
}
