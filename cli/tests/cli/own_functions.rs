//! A command with an algorithm of one's own, and with a function that it calls by its name.

use std::process::ExitCode;

use fedround::burn::tensor::Tensor as BurnTensor;
use fedround::prelude::*;
use fedround_cli::Cli;

/// FedAvg on half of the model's scores. <https://example.org>
#[derive(Hyper, Debug, Clone)]
struct Halved<A = fedround::algorithms::FedAvg> {
    /// What trains.
    base: A,
}

#[federated(base = base)]
impl<A: Algorithm> Algorithm for Halved<A> {
    fn loss(&self, k: &ClientCx, w: &Params, b: &Batch) -> Scalar {
        cross_entropy(function("halved", &k.forward(w, &b.x)), &b.y)
    }
}

fn halved(x: BurnTensor<2>) -> BurnTensor<2> {
    x / 2.0
}

#[test]
fn a_function_is_called_by_its_name() {
    let folder = tempfile::tempdir().unwrap();
    let cli = Cli::new().with::<Halved<BoxedAlgorithm>>();
    let run = |cli: &Cli, name: &str| {
        let out = folder.path().join(name).display().to_string();
        let line = "fedround run halved --model logistic --clients 10 --rounds 1 --quiet --out";
        cli.run(line.split(' ').chain([&*out]))
    };
    assert_eq!(run(&cli, "without"), ExitCode::from(1));
    assert_eq!(
        run(&cli.function("halved", halved), "with"),
        ExitCode::SUCCESS
    );
}

/// FedAvg whose clients are tested after steps with sizes of their own. <https://example.org>
#[derive(Hyper, Debug, Clone)]
struct Tuned<A = fedround::algorithms::FedAvg> {
    /// What trains.
    base: A,
    /// Size of the step.
    #[hyper(default = 0.1, range = 0.0..)]
    lr: f32,
    /// Weight of the model before it, in another evaluation.
    #[hyper(default = 0.5, range = 0.0..=1.0)]
    share: f32,
    /// Factor of `lr`.
    #[hyper(default = 1.0, range = 0.0..)]
    factor: f32,
    /// Nothing: it only begins as another.
    #[hyper(default = 1.0, range = 0.0..)]
    fact: f32,
}

#[federated(base = base)]
impl<A: Algorithm> Algorithm for Tuned<A> {
    fn personalize(&self, k: &ClientCx, w: Params) -> Params {
        let g = self.gradient(k, &w, &k.batch(10));
        w - self.factor * self.lr * g
    }

    fn evaluate(&self, server: &ServerCx, w: Server<Params>) -> Clients<Params> {
        let w_k = w.broadcast(&server.all_clients());
        if server.evaluation("mixed") {
            w_k.map(|k, w| (1.0 - self.share) * self.personalize(k, w.clone()) + self.share * w)
        } else {
            w_k.map(|k, w| self.personalize(k, w))
        }
    }
}

#[test]
fn hyper_parameters_of_evaluations_are_used() {
    let folder = tempfile::tempdir().unwrap();
    let cli = Cli::new().with::<Tuned<BoxedAlgorithm>>();
    let run = |set: &str| {
        let out = folder.path().join(set).display().to_string();
        let line = "fedround run tuned --model logistic --clients 10 --rounds 1 --quiet --set";
        cli.run(line.split(' ').chain([set, "--out", &*out]))
    };
    for set in ["tuned.lr=0.01", "lr=0.01", "share=0.25", "factor=2"] {
        assert_eq!(run(set), ExitCode::SUCCESS, "{set}");
    }
    assert_eq!(run("fact=2"), ExitCode::from(1));
}
