//! The cache of convolution algorithms that were chosen by timing, in memory or in a file.

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

/// The first line of the file, with the version of its format.
const HEADER: &str = "fedround convolutions 1";
const FILE: &str = "convolutions.txt";

/// A cache file could not be read or written.
#[derive(Debug, thiserror::Error)]
#[error("cannot {action} {}: {source}", .file.display())]
pub struct CacheError {
    /// `read` or `write`.
    pub action: &'static str,
    /// The path of the file.
    pub file: PathBuf,
    /// The error of the operating system.
    pub source: io::Error,
}

/// The fastest algorithm of each convolution that was timed, by device, version of burn, precision and shapes.
/// Clones share their entries. The default cache is in memory only.
#[derive(Clone, Debug, Default)]
pub struct AutotuneCache(Arc<Mutex<Table>>);

/// A function that is called with the first failure to read or write the file.
type Report = Box<dyn FnOnce(CacheError) + Send>;

#[derive(Default)]
struct Table {
    /// The file; `None` to keep the entries in memory only.
    file: Option<PathBuf>,
    /// The entries that are written to the file. The key names device, version of burn, precision, op and
    /// shapes.
    entries: BTreeMap<String, ConvAlgorithm>,
    /// Entries that are not written to the file, because some algorithms failed for lack of memory and may
    /// fit another time.
    temporary: HashMap<String, ConvAlgorithm>,
    /// The drivers' names of devices, by the `Debug` text of the device.
    names: HashMap<String, String>,
    /// `None` after the first report.
    report: Option<Report>,
}

impl fmt::Debug for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut table = f.debug_struct("Table");
        table
            .field("file", &self.file)
            .field("entries", &self.entries);
        table.finish_non_exhaustive()
    }
}

impl AutotuneCache {
    /// Opens the cache in a folder. The folder is created when the first entry is written.
    ///
    /// A file or a line that cannot be read is not an error; the convolutions are timed again. The first such
    /// failure goes to `report`. A file that fedround did not write is left unchanged.
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
        self.table().entries.len()
    }

    /// Whether there is no entry.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The algorithm for a convolution, which is timed now if the cache has no entry. `about` describes the
    /// convolution. The cache stays locked while `measure` runs, so that two timings do not disturb each other.
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
        let entry = table.entries.get(&key);
        if let Some(algorithm) = entry.or_else(|| table.temporary.get(&key)) {
            return Ok(*algorithm);
        }
        let Fastest {
            algorithm,
            all_timed,
        } = measure()?;
        if all_timed {
            table.entries.insert(key, algorithm);
            table.save();
        } else {
            table.temporary.insert(key, algorithm);
        }
        Ok(algorithm)
    }
}

impl Table {
    /// The name that the driver gives a device.
    fn name(&mut self, device: &DispatchDevice) -> String {
        let name = self.names.entry(format!("{device:?}"));
        let name = name.or_insert_with_key(|key| name_of(device).unwrap_or(key.clone()));
        name.replace(char::is_control, " ")
    }

    /// Adds the entries of the file, which other processes may have extended. Gives whether the file may be
    /// overwritten: not if it could not be read.
    fn read(&mut self) -> bool {
        let Some(file) = self.file.clone() else {
            return false;
        };
        let text = match read(&file) {
            Ok(text) => text,
            Err(error) => {
                self.report("read", &file, error);
                return false;
            }
        };
        for (i, line) in text.lines().enumerate().skip(1) {
            match parse_entry(line) {
                Some((key, algorithm)) => _ = self.entries.entry(key).or_insert(algorithm),
                None if line.trim().is_empty() => {}
                None => {
                    let expected = format!("line {}: expected a convolution and its form", i + 1);
                    self.report("read", &file, io::Error::other(expected));
                }
            }
        }
        true
    }

    /// Writes the entries to the file, with those that other processes have added meanwhile.
    fn save(&mut self) {
        let Some(file) = self.file.clone() else {
            return;
        };
        let lock = match lock_file(&file) {
            Ok(lock) => lock,
            Err(error) => return self.report("write", &file, error),
        };
        if self.read()
            && let Err(error) = write(&file, &self.entries)
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

/// Reads the text of the file, and checks its header. Gives an empty text if there is no file, or if the file
/// is empty, as a power loss may leave it.
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

/// The key and the algorithm of a line, which a tab separates.
fn parse_entry(line: &str) -> Option<(String, ConvAlgorithm)> {
    let (key, name) = line.rsplit_once('\t')?;
    let algorithm = ConvAlgorithm::ALL
        .into_iter()
        .find(|algorithm| algorithm.name() == name)?;
    Some((key.to_owned(), algorithm))
}

/// Keeps other processes from writing the file, as long as the returned lock file is open.
fn lock_file(file: &Path) -> io::Result<File> {
    if let Some(folder) = file.parent() {
        fs::create_dir_all(folder)?;
    }
    let lock = File::create(file.with_extension("lock"))?;
    lock.lock()?;
    Ok(lock)
}

/// Writes the file atomically: readers see the old or the new file, also after a power loss. The lock admits
/// one writer at a time.
fn write(file: &Path, entries: &BTreeMap<String, ConvAlgorithm>) -> io::Result<()> {
    let new = file.with_extension("new");
    let lines = entries
        .iter()
        .map(|(key, algorithm)| format!("{key}\t{}\n", algorithm.name()));
    let text = format!("{HEADER}\n{}", lines.collect::<String>());
    let mut new_file = File::create(&new)?;
    new_file.write_all(text.as_bytes())?;
    new_file.sync_all()?;
    fs::rename(&new, file)
}
