//! The checkpoints of a run folder: when one is due, and which one is the last good one.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use fedround_store::{Archive, ArchiveError, StoreError, write_atomically};
use serde::{Deserialize, Serialize};

use super::checkpoint_every::CheckpointEvery;
use super::run_id::RunId;
use crate::error::CliError;
use crate::settings::config::Config;

/// The folder in a run folder.
pub(crate) const CHECKPOINTS: &str = "checkpoints";
/// The file there with the last round that [told noise](fedround_simulation::Simulation::next_round_tells_noise) in the
/// course of it, whether it ended or not.
const BEGUN: &str = "begun";
/// The part that the command adds.
const COMMAND: &str = "command";
/// The last so many are kept: the one before the last serves where that is damaged.
const KEPT: usize = 2;
/// Checkpoints take at most one part in so many of a run's time.
const SHARE: u32 = 50;
/// The least time between checkpoints, which counts where they cost nothing.
const LEAST: Duration = Duration::from_secs(10);

/// What resuming needs besides the run.
#[derive(Deserialize, Serialize)]
pub(crate) struct CommandState {
    /// The run that it is of.
    pub run: RunId,
    /// `config.toml`.
    pub config: String,
    /// How long all processes until then took together.
    pub seconds: f64,
}

/// Writes checkpoints.
pub(super) struct Checkpoints {
    dir: PathBuf,
    every: CheckpointEvery,
    /// The round of the last one.
    round: usize,
    at: Instant,
    /// How long the last one took.
    cost: Duration,
    /// How long all that this process wrote took.
    total: Duration,
}

impl Checkpoints {
    /// The checkpoints of a run folder, of which the last one is of `round`.
    pub fn new(folder: &Path, every: CheckpointEvery, round: usize) -> Self {
        Self {
            dir: folder.join(CHECKPOINTS),
            every,
            round,
            at: Instant::now(),
            cost: Duration::ZERO,
            total: Duration::ZERO,
        }
    }

    /// How long all checkpoints of this process took, the failed ones left out.
    pub fn seconds(&self) -> Duration {
        self.total
    }

    /// Whether it is time for one after a round.
    pub fn due(&self, round: usize) -> bool {
        let passed = self.at.elapsed();
        match self.every {
            CheckpointEvery::Auto => passed >= LEAST.max(self.cost * SHARE),
            CheckpointEvery::Rounds(n) => round >= self.round + n,
            CheckpointEvery::Minutes(n) => passed.as_secs_f64() >= 60.0 * n,
            CheckpointEvery::Off => false,
        }
    }

    /// Whether one is due at the end, however it comes.
    pub fn due_at_end(&self, round: usize) -> bool {
        self.every != CheckpointEvery::Off && round > self.round
    }

    /// Writes one, and removes those that are no longer needed.
    pub fn write(
        &mut self,
        round: usize,
        archive: impl FnOnce() -> Result<Archive, CliError>,
        state: &CommandState,
    ) -> Result<(), CliError> {
        let start = Instant::now();
        let mut archive = archive()?;
        let path = self.dir.join(format!("round-{round:06}.ckpt"));
        archive.insert(COMMAND, state).map_err(broken(&path))?;
        fs::create_dir_all(&self.dir).map_err(CliError::io("create the folder", &self.dir))?;
        archive.write(&path)?;
        let all = files(&self.dir)?;
        for (_, old) in all.iter().rev().skip(KEPT) {
            fs::remove_file(old).map_err(CliError::io("remove", old))?;
        }
        (self.round, self.at) = (round, Instant::now());
        self.cost = start.elapsed();
        self.total += self.cost;
        Ok(())
    }
}

/// A checkpoint that can be gone on from.
pub(crate) struct LoadedCheckpoint {
    pub path: PathBuf,
    pub archive: Archive,
    pub state: CommandState,
    /// Later ones that are damaged, with what is wrong.
    pub damaged: Vec<String>,
}

/// Whether a run folder has checkpoints, good or damaged; none is read.
pub(crate) fn has_any(folder: &Path) -> bool {
    files(&folder.join(CHECKPOINTS)).is_ok_and(|all| !all.is_empty())
}

/// Writes into a run folder that a round begins in which noise is told.
pub(crate) fn note_begun(folder: &Path, round: usize) -> Result<(), CliError> {
    let dir = folder.join(CHECKPOINTS);
    fs::create_dir_all(&dir).map_err(CliError::io("create the folder", &dir))?;
    write_atomically(&dir.join(BEGUN), &[round.to_string().as_bytes()])?;
    Ok(())
}

/// The last round of a run folder that was begun and told noise; 0 if there was none.
pub(crate) fn last_begun(folder: &Path) -> Result<usize, CliError> {
    let path = folder.join(CHECKPOINTS).join(BEGUN);
    let text = match fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(0),
        Err(error) => return Err(CliError::io("read", &path)(error)),
    };
    let round = text.trim().parse();
    round.map_err(|_| CliError::NoRound { path, found: text })
}

/// The last good checkpoint of a run folder; `None` if none was ever written. One that was copied in from
/// another run is an error. If there is no good one, and some may be read later or by a later version of fedround, the
/// error says why that one cannot be read now.
pub(crate) fn last(folder: &Path) -> Result<Option<LoadedCheckpoint>, CliError> {
    let (mut damaged, mut passing) = (vec![], None);
    for (_, path) in files(&folder.join(CHECKPOINTS))?.iter().rev() {
        match read(path) {
            Ok((archive, state)) => {
                check_run(folder, path, &state)?;
                return Ok(Some(LoadedCheckpoint {
                    path: path.clone(),
                    archive,
                    state,
                    damaged,
                }));
            }
            Err(error) => {
                damaged.push(error.to_string());
                passing = passing.or(Some(error).filter(|error| !is_damage(error)));
            }
        }
    }
    match passing {
        Some(error) => Err(error.into()),
        None if damaged.is_empty() => Ok(None),
        None => Err(CliError::NoGoodCheckpoint { damaged }),
    }
}

fn read(path: &Path) -> Result<(Archive, CommandState), StoreError> {
    let archive = Archive::read(path)?;
    let state = archive.get(COMMAND).map_err(broken(path))?;
    Ok((archive, state))
}

/// Whether a file that cannot be read will never be read.
fn is_damage(error: &StoreError) -> bool {
    matches!(error, StoreError::Archive { source, .. }
        if !matches!(source, ArchiveError::Version { .. }))
}

fn broken(path: &Path) -> impl FnOnce(ArchiveError) -> StoreError {
    let path = path.to_owned();
    move |source| StoreError::Archive { path, source }
}

/// Fails for a checkpoint of another run than the folder's.
fn check_run(folder: &Path, path: &Path, state: &CommandState) -> Result<(), CliError> {
    let Some(own) = RunId::read(folder)?.filter(|own| *own != state.run) else {
        return Ok(());
    };
    let other = Config::parse(path, &state.config)?;
    let (spec, data) = (
        other.spec.unwrap_or_default(),
        other.data.unwrap_or_default(),
    );
    Err(CliError::OtherRun {
        path: path.to_owned(),
        found: state.run.clone(),
        what: format!("{spec} on {data}, seed {}", other.seed.unwrap_or_default()),
        expected: own,
    })
}

/// Checkpoints by their rounds, ascending.
fn files(dir: &Path) -> Result<Vec<(usize, PathBuf)>, CliError> {
    let entries = match fs::read_dir(dir) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(vec![]),
        Err(error) => return Err(CliError::io("read the folder", dir)(error)),
    };
    let round = |path: &Path| {
        let name = path.file_name()?.to_str()?;
        let number = name.strip_prefix("round-")?.strip_suffix(".ckpt")?;
        number.parse().ok()
    };
    let mut all = vec![];
    for entry in entries {
        let path = entry.map_err(CliError::io("read the folder", dir))?.path();
        all.extend(round(&path).map(|round| (round, path)));
    }
    all.sort();
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_round_that_was_begun_is_read_again() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(last_begun(dir.path()).unwrap(), 0);
        for round in [3, 4] {
            note_begun(dir.path(), round).unwrap();
            assert_eq!(last_begun(dir.path()).unwrap(), round);
        }
        assert!(!has_any(dir.path()));
        fs::write(dir.path().join(CHECKPOINTS).join(BEGUN), "four").unwrap();
        let error = last_begun(dir.path()).unwrap_err().to_string();
        assert!(error.contains("found \"four\""), "{error}");
    }

    /// Sampled bytes of a checkpoint as large as one of a small model, each changed in several ways,
    /// and every kind of length.
    #[test]
    fn whatever_is_damaged_the_one_before_is_used() {
        let dir = tempfile::tempdir().unwrap();
        let mut checkpoints = Checkpoints::new(dir.path(), CheckpointEvery::Auto, 0);
        for round in [1, 2] {
            let archive = || {
                let mut archive = Archive::default();
                let numbers: Vec<u64> = (0..4000).collect();
                archive.insert("numbers", &numbers).unwrap();
                Ok(archive)
            };
            let state = CommandState {
                run: RunId::keep(dir.path(), None).unwrap(),
                config: round.to_string(),
                seconds: 1.0,
            };
            checkpoints.write(round, archive, &state).unwrap();
        }
        let path = dir.path().join(CHECKPOINTS).join("round-000002.ckpt");
        let good = fs::read(&path).unwrap();
        let refused = |bytes: &[u8], what: &str| {
            fs::write(&path, bytes).unwrap();
            let found = last(dir.path()).unwrap().unwrap();
            assert_eq!(found.state.config, "1", "{what}");
            assert!(found.damaged[0].contains("round-000002.ckpt: "), "{what}");
        };
        // All of the head and the table, and every 97th byte of the rest.
        let places = (0..200).chain((200..good.len()).step_by(97));
        for at in places.chain([good.len() - 1]) {
            for flip in [1, 128, 255] {
                let mut bad = good.clone();
                bad[at] ^= flip;
                refused(&bad, &format!("byte {at}, flip {flip}"));
            }
        }
        for length in (0..200).chain((200..good.len()).step_by(997)) {
            refused(&good[..length], &format!("{length} bytes"));
        }
        refused(&[&good[..], b"x"].concat(), "a byte more");
        fs::write(&path, &good).unwrap();
        assert_eq!(last(dir.path()).unwrap().unwrap().state.config, "2");
    }

    #[test]
    fn the_last_two_are_kept_and_a_damaged_one_is_passed_over() {
        let dir = tempfile::tempdir().unwrap();
        let every = CheckpointEvery::Rounds(2);
        let mut checkpoints = Checkpoints::new(dir.path(), every, 0);
        assert!(last(dir.path()).unwrap().is_none());
        assert_eq!(
            [1, 2, 3].map(|round| checkpoints.due(round)),
            [false, true, true]
        );
        for round in [2, 4, 6] {
            let state = CommandState {
                run: RunId::keep(dir.path(), None).unwrap(),
                config: round.to_string(),
                seconds: 1.0,
            };
            let archive = || Ok(Archive::default());
            checkpoints.write(round, archive, &state).unwrap();
        }
        let all = files(&dir.path().join(CHECKPOINTS)).unwrap();
        assert_eq!(
            all.iter().map(|(round, _)| *round).collect::<Vec<_>>(),
            [4, 6]
        );
        assert_eq!(last(dir.path()).unwrap().unwrap().state.config, "6");
        fs::write(&all[1].1, b"FEDROUND and then nothing").unwrap();
        let found = last(dir.path()).unwrap().unwrap();
        assert_eq!((found.state.config.as_str(), found.damaged.len()), ("4", 1));
        fs::write(&all[0].1, b"").unwrap();
        // What follows the first letters is the number of a version, which a later program may know.
        let later = last(dir.path()).err().unwrap().to_string();
        assert!(later.contains("6.ckpt: it has version "), "{later}");
        fs::write(&all[1].1, b"and then nothing").unwrap();
        assert!(matches!(
            last(dir.path()),
            Err(CliError::NoGoodCheckpoint { .. })
        ));
        // A system that cannot read one now.
        fs::remove_file(&all[1].1).unwrap();
        fs::create_dir(&all[1].1).unwrap();
        assert!(matches!(last(dir.path()), Err(CliError::Store(_))));
    }
}
