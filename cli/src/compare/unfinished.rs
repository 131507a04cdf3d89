//! The folder of a comparison that the same command began and did not end.

use std::fs;
use std::iter;
use std::path::{Path, PathBuf};

use fedround_store::FolderLock;

use super::report::Comparison;
use crate::files::names::COMPARISON;
use crate::files::several_runs::has_ended;
use crate::run::lock;
use crate::terminal::command_line::{SAYING, words};

/// The first of the folders `runs/NAME`, `runs/NAME-2` and so on that the process's own command left unfinished.
/// One that another process uses is none.
pub(super) fn of_this_command(name: &str) -> Option<(PathBuf, FolderLock)> {
    let further = (2..).map(|k| format!("{name}-{k}"));
    let names = iter::once(name.to_owned()).chain(further);
    let dirs = names.map(|name| Path::new("runs").join(name));
    let arguments: Vec<String> = words().skip(1).collect();
    let own = said(&arguments.join(" "));
    let mut left = dirs
        .take_while(|dir| dir.is_dir())
        .filter(|dir| is_unfinished(dir) && is_of(dir, &own));
    left.find_map(|dir| {
        let lock = lock(&dir).ok()?;
        Some((dir, lock))
    })
}

/// Whether a run is missing. A process that was killed has not written what its runs come to.
fn is_unfinished(dir: &Path) -> bool {
    let Ok(text) = fs::read_to_string(dir.join(COMPARISON)) else {
        return true;
    };
    serde_json::from_str::<Comparison>(&text)
        .is_ok_and(|found| !found.runs.iter().all(|run| has_ended(&run.status)))
}

/// Whether a command with these words used a folder last.
fn is_of(dir: &Path, own: &[String]) -> bool {
    fs::read_to_string(dir.join("lock")).is_ok_and(|text| ends_with(&text, own))
}

/// Whether the command of a lock ends with these words. The path of the program before them may have spaces.
fn ends_with(lock: &str, own: &[String]) -> bool {
    // `process 4711: fedround compare ..`
    let Some((_, command)) = lock.trim_end().split_once(": ") else {
        return false;
    };
    let words = said(command);
    words.len() > own.len() && words.ends_with(own)
}

/// The words that results depend on.
fn said(arguments: &str) -> Vec<String> {
    let words = arguments.split(' ').filter(|word| !SAYING.contains(word));
    words.map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_path_of_the_program_may_have_spaces() {
        let own = said("compare fedavg --quiet --rounds 4");
        for (command, expected) in [
            ("fedround compare fedavg --rounds 4", true),
            (
                "/my programs: new/fedround compare fedavg --rounds 4 --json",
                true,
            ),
            ("/my programs/fedround compare fedprox --rounds 4", false),
            (
                "/my programs/fedround compare fedavg --rounds 4 --set lr=1",
                false,
            ),
            // The program is missing.
            ("compare fedavg --rounds 4", false),
        ] {
            let lock = format!("process 4711: {command}\n");
            assert_eq!(ends_with(&lock, &own), expected, "{command}");
        }
        assert!(!ends_with("", &own));
    }
}
