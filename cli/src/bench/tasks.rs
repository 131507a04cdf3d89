//! The tasks of `fedround bench`: which algorithm, model and data each of them trains.

use clap::ValueEnum;
use fedround_data::Partition;

/// A task's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum TaskName {
    LrMnist,
    #[value(name = "2nn-mnist")]
    TwoNnMnist,
    CnnMnist,
    #[value(name = "lenet-cifar10")]
    LenetCifar10,
    #[value(name = "pfl-cifar10")]
    PflCifar10,
    Synth,
}

/// One local epoch of plain SGD, on clients that hold equally many examples, a whole number of
/// batches each.
#[derive(Clone, Debug)]
pub(super) struct BenchTask {
    pub name: &'static str,
    pub data: &'static str,
    pub clients: usize,
    pub partition: Partition,
    pub model: &'static str,
    pub cohort: usize,
    pub batch: usize,
    pub lr: f64,
    pub rounds: usize,
}

const SHARDS: Partition = Partition::Shards { per_client: 2 };

const TWO_NN: BenchTask = BenchTask {
    name: "2nn-mnist",
    data: "mnist",
    clients: 100,
    partition: SHARDS,
    model: "2nn",
    cohort: 10,
    batch: 10,
    lr: 0.05,
    rounds: 20,
};

impl TaskName {
    pub(super) fn task(self) -> BenchTask {
        match self {
            Self::LrMnist => BenchTask {
                name: "lr-mnist",
                clients: 1000,
                partition: Partition::Iid,
                model: "logistic",
                lr: 0.03,
                rounds: 100,
                ..TWO_NN
            },
            Self::TwoNnMnist => TWO_NN,
            Self::CnnMnist => BenchTask {
                name: "cnn-mnist",
                model: "cnn",
                batch: 20,
                rounds: 3,
                ..TWO_NN
            },
            Self::LenetCifar10 => BenchTask {
                name: "lenet-cifar10",
                data: "cifar-10",
                model: "lenet5",
                batch: 50,
                rounds: 5,
                ..TWO_NN
            },
            Self::PflCifar10 => BenchTask {
                name: "pfl-cifar10",
                data: "cifar-10",
                clients: 600,
                partition: Partition::Iid,
                model: "pfl-cnn",
                cohort: 50,
                lr: 0.1,
                rounds: 2,
                ..TWO_NN
            },
            Self::Synth => BenchTask {
                name: "synth",
                data: "synth-digits",
                ..TWO_NN
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_the_command_line() {
        for name in TaskName::value_variants() {
            let value = name.to_possible_value().unwrap();
            assert_eq!(value.get_name(), name.task().name);
        }
    }
}
