//! Errors of `fedround compare`.

use std::path::PathBuf;

use fedround_names::did_you_mean;

use crate::files::several_runs::written_by;

/// Why a comparison stopped.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CompareError {
    #[error("expected SPEC or NAME=SPEC, found `{text}`")]
    Name { text: String },
    #[error("the comparison has `{name}` twice, expected different names")]
    Twice { name: String },
    #[error(
        "{}no algorithm here has the hyper-parameter `{name}`{}; they have: {known}",
        flag.map_or(String::new(), |flag| format!("{flag} {name}=..: ")),
        did_you_mean(.nearest.as_deref())
    )]
    Hyper {
        /// The flag that lists its values, if one does.
        flag: Option<&'static str>,
        name: String,
        nearest: Option<String>,
        known: String,
    },
    #[error("expected NAME=VALUE,VALUE.., or NAME=LOW..HIGH of positive numbers, found `{text}`")]
    Select { text: String },
    #[error("{name}=..: the value {value} is there twice, expected different values")]
    ValueTwice { name: String, value: String },
    #[error(
        "{flag} {other}=.. {}, expected all values of a hyper-parameter in one list",
        match name == other {
            true => "is there twice".to_owned(),
            false => format!("and {flag} {name}=.. are values of the same hyper-parameter"),
        }
    )]
    SelectTwice {
        flag: &'static str,
        name: String,
        other: String,
    },
    #[error(
        "--set {set}=.. and {flag} {name}=.. are values of the same hyper-parameter; {flag} sets it"
    )]
    SelectAndSet {
        flag: &'static str,
        name: String,
        set: String,
    },
    #[error("{name}={low}..{high}: `{name}` is a whole number, and there is none in this range")]
    NoWholeNumber { name: String, low: f64, high: f64 },
    #[error("`{name}` is a range, whose values are drawn at random; add --random N")]
    RangeNotDrawn { name: String },
    #[error("`{}` holds a comparison of {found}; none of these is in the new comparison", dir.display())]
    Another { dir: PathBuf, found: String },
    #[error("`{}` holds a run, expected a folder for several runs", dir.display())]
    HoldsRun { dir: PathBuf },
    #[error(
        "--select needs validation examples, but no client holds any back; add --validation 0.1"
    )]
    SelectOnNothing,
    #[error("--halving {found}: expected 2 or more; with K, one candidate in K continues")]
    Halving { found: usize },
    #[error("--halving continues runs from their checkpoints, and --checkpoint off writes none")]
    HalvingWithoutCheckpoints,
    #[error("`{}` holds a run with {key} = {found}, expected {expected}; nothing was written", dir.display())]
    Other {
        dir: PathBuf,
        key: String,
        found: String,
        expected: String,
    },
    #[error("{}: {message}", path.display())]
    Read { path: PathBuf, message: String },
    /// The file of a comparison's results is damaged.
    #[error("{}: expected the results of several runs: {message}", path.display())]
    Results { path: PathBuf, message: String },
    #[error("{failed} of {runs} runs failed")]
    Failed {
        failed: usize,
        runs: usize,
        dir: PathBuf,
    },
}

impl CompareError {
    /// What to do about it.
    pub fn help(&self) -> String {
        let text = match self {
            Self::Name { .. } | Self::Twice { .. } => {
                "NAME=SPEC gives an algorithm a name, as in strong=fedprox"
            }
            Self::Select { .. } => "as in lr=0.01,0.1, or lr=0.001..1 with --random 20",
            Self::ValueTwice { .. } => "leave one of them out",
            Self::SelectTwice { .. } => "as in lr=0.01,0.1,1",
            Self::SelectAndSet { set, .. } => {
                return format!("leave --set {set}=.. out");
            }
            Self::NoWholeNumber { .. } => "as in epochs=1..10",
            Self::RangeNotDrawn { .. } => "--random 20 tries twenty combinations",
            Self::Another { .. } | Self::HoldsRun { .. } => {
                "choose another --out; without --out, a new folder is made"
            }
            Self::SelectOnNothing => {
                "--validation 0.1 holds a tenth of each client's training examples back"
            }
            Self::Halving { .. } => "--halving 3 lets the best third go on",
            Self::HalvingWithoutCheckpoints => "leave --checkpoint off away",
            Self::Hyper { .. } => {
                "`fedround list specs` shows hyper-parameters with their defaults and ranges"
            }
            Self::Other { .. } => {
                "choose another --out, or the settings of the runs that are there"
            }
            Self::Read { .. } => "delete the run's folder to run it again",
            Self::Results { path, .. } => {
                let dir = path.parent().unwrap_or(path);
                return format!("{}; no run that has ended is run again", written_by(dir));
            }
            Self::Failed { dir, .. } => {
                let dir = dir.display();
                return format!(
                    "the others are kept in {dir}; delete a failed run's folder to run it again"
                );
            }
        };
        text.to_owned()
    }
}
