//! The columns of a table: numbers of runs, by name, and the units that they are written in.

use serde::Deserialize;

/// A number of a run.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Measure {
    pub name: String,
    pub of: Of,
    /// Whether it is the method's own number where the others are differences.
    #[serde(default)]
    pub alone: bool,
}

/// Which number.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Of {
    /// The best test accuracy.
    Best,
    /// The last test accuracy.
    Last,
    /// The mean test accuracy over this many of the last evaluations.
    MeanOfLast(usize),
    /// The best BLEU-4 of captions.
    BestBleu,
    /// The last VQA accuracy.
    Vqa,
    /// The mean over clients of the accuracy on their own test examples.
    Local,
    /// The area under the classifier's ROC curve, the mean over clients on their own test examples.
    LocalAuc,
    /// The accuracy of the client that joins late on its own test examples; `Local` is then of the others.
    Newcomer,
    /// The test accuracy of all clients' models together.
    NewTest,
    /// The test accuracy on a class.
    Label(usize),
    /// The accuracy of the client with this domain.
    Party(String),
    /// Rounds until the target.
    RoundsToTarget,
    /// Bytes in all directions until the target.
    BytesToTarget,
    /// Rounds until the mean over clients of the accuracy on their own test examples is as high as that of the
    /// worst method of the setting after its last round.
    RoundsToLowest,
    /// Bytes in all directions until then.
    BytesToLowest,
    /// Bytes in all directions of the round that has the most.
    MostBytes,
    /// Bytes in all directions of all rounds.
    Bytes,
    Rounds,
    /// The AUC of clients' adversaries as they trained, the mean over protected attributes.
    AdversaryAlong,
    /// The AUC of adversaries that were fitted afterwards.
    AdversaryAfter,
    /// The AUC of who knows the label alone, the mean over protected attributes.
    AdversaryFloor,
    /// The proven ε of all rounds.
    Epsilon,
    /// The usual figure for it, which is no bound.
    UsualEpsilon,
    /// Numbers sent, counted as LG-FedAvg does.
    Sent,
    /// The last of a number that the algorithm's server keeps, by layer and name.
    Server(String),
}

/// How a number is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unit {
    Percent,
    /// Percentage points more or fewer.
    Points,
    Rounds,
    /// A number without a unit, or with one that its measure names.
    Number,
    /// Large.
    Count,
}

impl Unit {
    /// A number as it is printed, with its sign where it is a difference.
    pub fn write(self, x: f64, signed: bool) -> String {
        match self {
            Self::Points | Self::Number if signed => format!("{x:+.2}"),
            Self::Percent | Self::Points | Self::Number => format!("{x:.2}"),
            Self::Rounds => format!("{x:.0}"),
            Self::Count if x == 0.0 => "0".to_owned(),
            Self::Count => format!("{x:.2e}"),
        }
    }
}

/// How a measure is written, or a difference in it.
pub(super) fn unit(measure: &Measure, difference: bool) -> Unit {
    match measure.of {
        Of::Rounds | Of::RoundsToTarget | Of::RoundsToLowest => Unit::Rounds,
        Of::Sent | Of::Bytes | Of::MostBytes | Of::BytesToTarget | Of::BytesToLowest => Unit::Count,
        Of::Server(_) | Of::Epsilon | Of::UsualEpsilon => Unit::Number,
        _ if difference && !measure.alone => Unit::Points,
        _ => Unit::Percent,
    }
}
