//! The folder of a comparison, where a command expects that of one run.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::files::names::{COMPARISON, CONFIG};
use crate::terminal::command_line::quoted;

/// What is read of the results of several runs.
#[derive(Deserialize)]
struct Comparison {
    #[serde(default)]
    command: String,
    /// The best first.
    #[serde(default)]
    algorithms: Vec<Row>,
    #[serde(default)]
    runs: Vec<RunOf>,
    #[serde(default)]
    candidates: Vec<IgnoredAny>,
}

#[derive(Deserialize)]
struct Row {
    algorithm: String,
}

#[derive(Deserialize)]
struct RunOf {
    algorithm: String,
    folder: String,
    status: String,
}

/// Whether a run with this status in a comparison's file need not be run again. One that failed would fail again.
pub(crate) fn has_ended(status: &str) -> bool {
    ["complete", "failed"].contains(&status)
}

/// What writes the results of the runs in a folder.
pub(crate) fn written_by(dir: &Path) -> String {
    let dir = quoted(&dir.display().to_string());
    format!(
        "the `fedround compare`, `sweep` or `reproduce` command of the folder, given again with --out {dir}, writes its {COMPARISON} again"
    )
}

/// What one run was wanted for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// Its model, or its settings.
    Model,
    /// To go on.
    Resumed,
    /// A page, which there is of several runs, too, with what they come to.
    Page,
}

/// The folders of several runs in one folder, which is no run itself.
#[derive(Debug)]
pub(crate) struct SeveralRuns {
    dir: PathBuf,
    wanted: Wanted,
    /// How many there are.
    runs: usize,
    /// The folder of one of them: of a chosen candidate, if values were tried.
    example: PathBuf,
    chosen: bool,
    /// Whether none of them is left to be run.
    all_ended: bool,
    /// What goes on with them.
    command: Option<String>,
}

impl SeveralRuns {
    /// Those in a folder, where one run was `wanted`; `None` if it is the folder of a run, or holds none.
    pub fn below(dir: &Path, wanted: Wanted) -> Option<Self> {
        if dir.join(CONFIG).exists() {
            return None;
        }
        let entries = fs::read_dir(dir).ok()?.flatten().map(|entry| entry.path());
        let mut runs: Vec<PathBuf> = entries.filter(|run| run.join(CONFIG).exists()).collect();
        runs.sort();
        let first = runs.first()?.clone();
        let text = fs::read_to_string(dir.join(COMPARISON)).ok();
        let comparison: Option<Comparison> = text.and_then(|text| serde_json::from_str(&text).ok());
        let best = comparison.as_ref().and_then(|all| {
            let row = all.algorithms.first()?;
            let mut own = all.runs.iter();
            let run = own.find(|run| run.algorithm == row.algorithm && run.status == "complete")?;
            Some(dir.join(&run.folder)).filter(|run| runs.contains(run))
        });
        let chosen = comparison
            .as_ref()
            .is_some_and(|all| !all.candidates.is_empty());
        let all_ended = comparison
            .as_ref()
            .is_some_and(|all| all.runs.iter().all(|run| has_ended(&run.status)));
        let command = comparison.map(|all| all.command);
        Some(Self {
            all_ended,
            dir: dir.to_owned(),
            wanted,
            runs: runs.len(),
            chosen: chosen && best.is_some(),
            example: best.unwrap_or(first),
            command: command.filter(|command| !command.is_empty()),
        })
    }

    /// What to do.
    pub fn help(&self) -> String {
        let run = quoted(&self.example.display().to_string());
        let one = match self.chosen {
            true => format!("name one of them: {run} has the chosen values"),
            false => format!("name one of them, such as {run}"),
        };
        match (self.wanted, &self.command) {
            (Wanted::Resumed, _) if self.all_ended => format!(
                "all of them have ended; `fedround resume {run} --rounds N` trains one for more rounds"
            ),
            (Wanted::Resumed, Some(command)) => format!("`{command}` goes on with them"),
            (Wanted::Page, _) => {
                let all = written_by(&self.dir);
                format!("{one}, for a page about one run; for a page about all of them, {all}")
            }
            (Wanted::Resumed | Wanted::Model, _) => one,
        }
    }
}

impl fmt::Display for SeveralRuns {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (dir, runs) = (self.dir.display(), self.runs);
        let runs = match runs {
            1 => "the folder of 1 run".to_owned(),
            runs => format!("the folders of {runs} runs"),
        };
        write!(f, "`{dir}` holds {runs}, expected the folder of a run")
    }
}
