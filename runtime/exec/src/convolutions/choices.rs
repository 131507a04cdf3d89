//! AutotuneCache that were made by timing, kept in a file.

use std::collections::{BTreeMap, HashMap};
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use burn_dispatch::DispatchDevice;
use fedround_passes::tensor::ConvAlgorithm;

use super::measure::Fastest;
use crate::BURN;
use crate::device;
use crate::error::CompileError;

/// First line of the file.
const HEADER: &str = "fedround convolutions 1";
const FILE: &str = "convolutions.txt";
/// Names the folder, or is `off`.
const VARIABLE: &str = "FEDROUND_CACHE";

/// Which form of a convolution is fastest, by device, version of burn, precision and shapes. Clones
/// share what they know.
#[derive(Clone, Debug, Default)]
pub struct AutotuneCache(Arc<Mutex<Table>>);

#[derive(Debug, Default)]
struct Table {
    /// Where they are kept; `None` to keep them in memory.
    file: Option<PathBuf>,
    known: BTreeMap<String, ConvAlgorithm>,
    /// Known for now: some forms failed, which may fit another time.
    for_now: HashMap<String, ConvAlgorithm>,
    /// Names of devices.
    names: HashMap<String, String>,
    warned: bool,
}

impl AutotuneCache {
    /// Those of the user: in the folder that `FEDROUND_CACHE` names, or else in `fedround` of the
    /// user's folder for caches (`$XDG_CACHE_HOME`, `~/.cache`). With `FEDROUND_CACHE=off` they are
    /// kept in memory.
    pub fn of_user() -> Self {
        static USER: OnceLock<AutotuneCache> = OnceLock::new();
        let open = || folder().map_or_else(Self::default, |folder| Self::at(&folder));
        USER.get_or_init(open).clone()
    }

    /// Those of a folder, which is made when there is something to keep. Lines that cannot be read
    /// are warned of once, and what they would have said is measured again; a file that is none of
    /// ours stays as it is.
    pub fn at(folder: &Path) -> Self {
        let file = folder.join(FILE);
        let mut table = Table {
            file: Some(file),
            ..Table::default()
        };
        table.read();
        Self(Arc::new(Mutex::new(table)))
    }

    /// How many are known.
    pub fn len(&self) -> usize {
        self.table().known.len()
    }

    /// Whether none is known.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What is known of a convolution, or is now measured. Others wait, so that nobody measures
    /// beside another.
    ///
    /// # Errors
    ///
    /// The device has failed before anything was measured.
    pub(super) fn choose(
        &self,
        device: &DispatchDevice,
        about: &str,
        measure: impl FnOnce() -> Result<Fastest, CompileError>,
    ) -> Result<ConvAlgorithm, CompileError> {
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
    /// What the driver calls a device.
    fn name(&mut self, device: &DispatchDevice) -> String {
        let known = self.names.entry(format!("{device:?}"));
        let name = known.or_insert_with_key(|key| device::name_of(device).unwrap_or(key.clone()));
        name.replace(char::is_control, " ")
    }

    /// Takes in what the file has, which others may have added to; whether it may be written.
    fn read(&mut self) -> bool {
        let Some(file) = self.file.clone() else {
            return false;
        };
        let kept = match read(&file) {
            Ok(kept) => kept,
            Err(error) => {
                self.warn("read", &file, &error);
                return false;
            }
        };
        for (i, line) in kept.lines().enumerate().skip(1) {
            match entry(line) {
                Some((key, form)) => _ = self.known.entry(key).or_insert(form),
                None if line.trim().is_empty() => {}
                None => {
                    let expected = format!("line {}: expected a convolution and its form", i + 1);
                    self.warn("read", &file, &io::Error::other(expected));
                }
            }
        }
        true
    }

    /// Writes them, with those that other processes have added.
    fn keep(&mut self) {
        let Some(file) = self.file.clone() else {
            return;
        };
        let lock = match locked(&file) {
            Ok(lock) => lock,
            Err(error) => return self.warn("write", &file, &error),
        };
        if self.read()
            && let Err(error) = write(&file, &self.known)
        {
            self.warn("write", &file, &error);
        }
        drop(lock);
    }

    fn warn(&mut self, action: &str, file: &Path, error: &io::Error) {
        if !std::mem::replace(&mut self.warned, true) {
            eprintln!(
                "warning: cannot {action} {}: {error}; the fastest convolutions are measured again ({VARIABLE}=DIR chooses another folder, {VARIABLE}=off none)",
                file.display()
            );
        }
    }
}

fn folder() -> Option<PathBuf> {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    match set(VARIABLE) {
        Some(off) if off == "off" => None,
        Some(folder) => Some(folder.into()),
        None => {
            let caches = set("XDG_CACHE_HOME").map(PathBuf::from);
            let caches = caches.or_else(|| Some(PathBuf::from(set("HOME")?).join(".cache")));
            caches.map(|caches| caches.join("fedround"))
        }
    }
}

/// The file's text, which begins with our header; nothing where there is no file.
fn read(file: &Path) -> io::Result<String> {
    let text = match fs::read_to_string(file) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(String::new()),
        text => text?,
    };
    match text.lines().next() {
        Some(HEADER) => Ok(text),
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

/// In one piece, whoever reads meanwhile; of those who write there is one at a time.
fn write(file: &Path, known: &BTreeMap<String, ConvAlgorithm>) -> io::Result<()> {
    let new = file.with_extension("new");
    let lines = known
        .iter()
        .map(|(key, form)| format!("{key}\t{}\n", form.name()));
    fs::write(&new, format!("{HEADER}\n{}", lines.collect::<String>()))?;
    fs::rename(&new, file)
}
