//! A command with a function of one's own, which a spec calls by its name.

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
