//! The convolution algorithms that were chosen by timing, in memory or in a file.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use burn_dispatch::DispatchDevice;
use fedround_passes::tensor::ConvAlgorithm;

use super::measure::Fastest;
use crate::burn_version::BURN;
use crate::device::{ExecError, name_of};

/// First line of the file.
const HEADER: &str = "fedround convolutions 1";
const FILE: &str = "convolutions.txt";

/// A cache file could not be read or written.
#[derive(Debug, thiserror::Error)]
#[error("cannot {action} {}: {source}", .file.display())]
pub struct CacheError {
    /// `read` or `write`.
    pub action: &'static str,
    /// The file.
    pub file: PathBuf,
    /// The reason.
    pub source: io::Error,
}

/// Which algorithm of a convolution is fastest, by device, version of burn, precision and shapes.
/// Clones share their entries. The default is kept in memory.
#[derive(Clone, Debug, Default)]
pub struct AutotuneCache(Arc<Mutex<Table>>);

/// Is told of the first failure to read or write the file.
type Report = Box<dyn FnOnce(CacheError) + Send>;

#[derive(Default)]
struct Table {
    /// The file; `None` to keep the entries in memory.
    file: Option<PathBuf>,
    known: BTreeMap<String, ConvAlgorithm>,
    /// Entries of this process only: some algorithms failed for want of memory, and may fit another
    /// time.
    for_now: HashMap<String, ConvAlgorithm>,
    /// Names of devices.
    names: HashMap<String, String>,
    report: Option<Report>,
}

impl fmt::Debug for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut table = f.debug_struct("Table");
        table.field("file", &self.file).field("known", &self.known);
        table.finish_non_exhaustive()
    }
}

impl AutotuneCache {
    /// The entries of a folder, which is created when there is something to keep.
    ///
    /// A file or a line that cannot be read is not an error: its convolutions are timed again. The
    /// first such failure goes to `report`. A file that fedround did not write stays as it is.
    pub fn at(folder: &Path, report: impl FnOnce(CacheError) + Send + 'static) -> Self {
        let mut table = Table {
            file: Some(folder.join(FILE)),
            report: Some(Box::new(report)),
            ..Table::default()
        };
        table.read();
        Self(Arc::new(Mutex::new(table)))
    }

    /// The number of entries.
    pub fn len(&self) -> usize {
        self.table().known.len()
    }

    /// Whether there is no entry.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The algorithm for a convolution, timed now if it is not known yet. Other threads wait, so that
    /// two timings do not disturb each other.
    ///
    /// # Errors
    ///
    /// The device has failed before anything was measured.
    pub(crate) fn choose(
        &self,
        device: &DispatchDevice,
        about: &str,
        measure: impl FnOnce() -> Result<Fastest, ExecError>,
    ) -> Result<ConvAlgorithm, ExecError> {
        let mut table = self.table();
        let key = format!("{}; burn {BURN}; {about}", table.name(device));
        let known = table.known.get(&key).or_else(|| table.for_now.get(&key));
        if let Some(known) = known {
            return Ok(*known);
        }
        let Fastest { form, of_all } = measure()?;
        if of_all {
            table.known.insert(key, form);
            table.keep();
        } else {
            table.for_now.insert(key, form);
        }
        Ok(form)
    }
}

impl Table {
    /// The name that the driver gives a device.
    fn name(&mut self, device: &DispatchDevice) -> String {
        let known = self.names.entry(format!("{device:?}"));
        let name = known.or_insert_with_key(|key| name_of(device).unwrap_or(key.clone()));
        name.replace(char::is_control, " ")
    }

    /// Adds the entries of the file, to which other processes may have added. Gives whether the file
    /// may be written.
    fn read(&mut self) -> bool {
        let Some(file) = self.file.clone() else {
            return false;
        };
        let kept = match read(&file) {
            Ok(kept) => kept,
            Err(error) => {
                self.report("read", &file, error);
                return false;
            }
        };
        for (i, line) in kept.lines().enumerate().skip(1) {
            match entry(line) {
                Some((key, form)) => _ = self.known.entry(key).or_insert(form),
                None if line.trim().is_empty() => {}
                None => {
                    let expected = format!("line {}: expected a convolution and its form", i + 1);
                    self.report("read", &file, io::Error::other(expected));
                }
            }
        }
        true
    }

    /// Writes the entries, with those that other processes have added.
    fn keep(&mut self) {
        let Some(file) = self.file.clone() else {
            return;
        };
        let lock = match locked(&file) {
            Ok(lock) => lock,
            Err(error) => return self.report("write", &file, error),
        };
        if self.read()
            && let Err(error) = write(&file, &self.known)
        {
            self.report("write", &file, error);
        }
        drop(lock);
    }

    fn report(&mut self, action: &'static str, file: &Path, source: io::Error) {
        if let Some(report) = self.report.take() {
            let file = file.to_owned();
            report(CacheError {
                action,
                file,
                source,
            });
        }
    }
}

/// The file's text, which begins with our header; nothing where there is no file, or an empty one: so a loss of
/// power may leave a file that was being written.
fn read(file: &Path) -> io::Result<String> {
    let text = match fs::read_to_string(file) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(String::new()),
        text => text?,
    };
    match text.lines().next() {
        None | Some(HEADER) => Ok(text),
        _ => Err(io::Error::other(format!("line 1: expected `{HEADER}`"))),
    }
}

fn entry(line: &str) -> Option<(String, ConvAlgorithm)> {
    let (key, name) = line.rsplit_once('\t')?;
    let form = ConvAlgorithm::ALL
        .into_iter()
        .find(|form| form.name() == name)?;
    Some((key.to_owned(), form))
}

/// Keeps other processes from writing the file, while it is open.
fn locked(file: &Path) -> io::Result<File> {
    if let Some(folder) = file.parent() {
        fs::create_dir_all(folder)?;
    }
    let lock = File::create(file.with_extension("lock"))?;
    lock.lock()?;
    Ok(lock)
}

/// Writes the file atomically: readers see the old or the new file, also after a power loss. The lock admits
/// one writer at a time.
fn write(file: &Path, known: &BTreeMap<String, ConvAlgorithm>) -> io::Result<()> {
    let new = file.with_extension("new");
    let lines = known
        .iter()
        .map(|(key, form)| format!("{key}\t{}\n", form.name()));
    let text = format!("{HEADER}\n{}", lines.collect::<String>());
    let mut written = File::create(&new)?;
    written.write_all(text.as_bytes())?;
    written.sync_all()?;
    fs::rename(&new, file)
}
