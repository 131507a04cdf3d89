//! Choices that were made by timing, kept in a file.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use burn_dispatch::DispatchDevice;
use fedround_passes::tensor::Lowering;

use crate::device;

/// The version that the workspace pins: another one has other kernels.
const BURN: &str = "0.22.0-pre.3";
/// First line of the file.
const HEADER: &str = "fedround convolutions 1";
const FILE: &str = "convolutions.txt";
/// Names the folder, or is `off`.
const VARIABLE: &str = "FEDROUND_CACHE";

/// Which form of a convolution is fastest, by device, version of burn, precision and shapes. Clones
/// share what they know.
#[derive(Clone, Debug, Default)]
pub struct Choices(Arc<Mutex<Table>>);

#[derive(Debug, Default)]
struct Table {
    /// Where they are kept; `None` to keep them in memory.
    file: Option<PathBuf>,
    known: BTreeMap<String, Lowering>,
    /// Names of devices.
    names: HashMap<String, String>,
    warned: bool,
}

impl Choices {
    /// Those of the user: in the folder that `FEDROUND_CACHE` names, or else in `fedround` of the
    /// user's folder for caches (`$XDG_CACHE_HOME`, `~/.cache`). With `FEDROUND_CACHE=off` they are
    /// kept in memory.
    pub fn of_user() -> Self {
        static USER: OnceLock<Choices> = OnceLock::new();
        let open = || folder().map_or_else(Self::default, |folder| Self::at(&folder));
        USER.get_or_init(open).clone()
    }

    /// Those of a folder, which is made when there is something to keep. A file that cannot be read
    /// is warned of once, and what it would have said is measured again.
    pub fn at(folder: &Path) -> Self {
        let file = folder.join(FILE);
        let mut table = Table::default();
        match read(&file) {
            Ok(known) => table.known = known,
            Err(error) => table.warn("read", &file, &error),
        }
        table.file = Some(file);
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
    pub(super) fn choose(
        &self,
        device: &DispatchDevice,
        about: &str,
        measure: impl FnOnce() -> Lowering,
    ) -> Lowering {
        let mut table = self.table();
        let key = format!("{}; burn {BURN}; {about}", table.name(device));
        if let Some(known) = table.known.get(&key) {
            return *known;
        }
        let chosen = measure();
        table.known.insert(key, chosen);
        table.keep();
        chosen
    }
}

impl Table {
    /// What the driver calls a device.
    fn name(&mut self, device: &DispatchDevice) -> String {
        let known = self.names.entry(format!("{device:?}"));
        let name = known.or_insert_with_key(|key| device::name_of(device).unwrap_or(key.clone()));
        name.replace(char::is_control, " ")
    }

    /// Writes them, with those that other processes have added.
    fn keep(&mut self) {
        let Some(file) = self.file.clone() else {
            return;
        };
        for (key, lowering) in read(&file).unwrap_or_default() {
            self.known.entry(key).or_insert(lowering);
        }
        if let Err(error) = write(&file, &self.known) {
            self.warn("write", &file, &error);
        }
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

/// Nothing where there is no file.
fn read(file: &Path) -> io::Result<BTreeMap<String, Lowering>> {
    let text = match fs::read_to_string(file) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(BTreeMap::new()),
        text => text?,
    };
    let mut lines = text.lines();
    if lines.next() != Some(HEADER) {
        return Err(io::Error::other(format!("line 1: expected `{HEADER}`")));
    }
    let entry = |(i, line): (usize, &str)| {
        let parsed = line.rsplit_once('\t').and_then(|(key, name)| {
            let lowering = Lowering::ALL.into_iter().find(|l| l.name() == name)?;
            Some((key.to_owned(), lowering))
        });
        let expected = || format!("line {}: expected a convolution and its form", i + 2);
        parsed.ok_or_else(|| io::Error::other(expected()))
    };
    lines.enumerate().map(entry).collect()
}

/// In one piece, whoever reads meanwhile.
fn write(file: &Path, known: &BTreeMap<String, Lowering>) -> io::Result<()> {
    let lines = known
        .iter()
        .map(|(key, l)| format!("{key}\t{}\n", l.name()));
    let text = format!("{HEADER}\n{}", lines.collect::<String>());
    if let Some(folder) = file.parent() {
        fs::create_dir_all(folder)?;
    }
    let new = file.with_extension(format!("{}.new", std::process::id()));
    fs::write(&new, text)?;
    fs::rename(&new, file)
}
