//! A scratch folder with a small dataset, and the command run in it.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Output;

use assert_cmd::Command;
use serde_json::Value;
use tempfile::TempDir;

pub const TRAIN: usize = 300;
pub const TEST: usize = 60;

/// A folder in which the command runs.
pub struct Place(TempDir);

impl Place {
    /// With a `data/mnist` of bars, one position for each class: a task that is learned at once.
    pub fn new() -> Self {
        Self::of(TRAIN, TEST)
    }

    /// With so many examples for training and for tests.
    pub fn of(train: usize, test: usize) -> Self {
        let place = Self(tempfile::tempdir().unwrap());
        fs::create_dir_all(place.path("data/mnist")).unwrap();
        for (split, n) in [("train", train), ("t10k", test)] {
            place.write(&format!("data/mnist/{split}-images-idx3-ubyte"), &images(n));
            place.write(&format!("data/mnist/{split}-labels-idx1-ubyte"), &labels(n));
        }
        place
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub fn write(&self, name: &str, bytes: &[u8]) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }

    /// A folder `leaf:PLAY` of two characters, who say the same letters again and again.
    pub fn write_play(&self, play: &str, [romeo, juliet]: [&str; 2]) {
        let user = |text: &str| {
            let text: Vec<char> = text.chars().cycle().take(40).collect();
            let windows = text.windows(5).map(|w| w.iter().collect::<String>());
            let split = windows.map(|w| (w[..4].to_owned(), w[4..].to_owned()));
            let (x, y): (Vec<String>, Vec<String>) = split.unzip();
            serde_json::json!({ "x": x, "y": y })
        };
        let users = serde_json::json!({ "ROMEO": user(romeo), "JULIET": user(juliet) });
        let file = serde_json::json!({ "user_data": users }).to_string();
        self.write(&format!("{play}/all.json"), file.as_bytes());
    }

    /// A folder `images:photos` of two domains with two classes each.
    pub fn write_photos(&self) {
        for (domain, shade) in [("ink", 40), ("chalk", 220)] {
            for (class, i) in [("a", 0), ("b", 1)] {
                for n in 0..12_u8 {
                    let path = self.path(&format!("photos/{domain}/{class}/{n}.png"));
                    fs::create_dir_all(path.parent().unwrap()).unwrap();
                    let pixel = image::Luma([shade + 3 * n % 30 * i]);
                    let image = image::GrayImage::from_pixel(8, 8, pixel);
                    image.save(path).unwrap();
                }
            }
        }
    }

    pub fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
    }

    pub fn text(&self, name: &str) -> String {
        String::from_utf8(self.read(name)).unwrap()
    }

    pub fn json(&self, name: &str) -> Value {
        serde_json::from_slice(&self.read(name)).unwrap()
    }

    /// The command with arguments separated by spaces.
    pub fn command(&self, line: &str) -> Command {
        let mut command = Command::new(program());
        command
            .current_dir(self.0.path())
            .args(line.split_whitespace());
        command
    }

    pub fn output(&self, line: &str) -> Output {
        self.command(line).output().unwrap()
    }

    /// `fedround run` on the small dataset.
    pub fn run(&self, line: &str) -> Output {
        self.output(&format!("run {line} {SMALL}"))
    }

    /// Stdout of a command that succeeds.
    pub fn success(&self, line: &str) -> String {
        let output = self.output(line);
        assert!(output.status.success(), "{line}: {}", stderr(&output));
        String::from_utf8(output.stdout).unwrap()
    }

    /// Stderr of a command that ends with an exit code and says nothing on stdout.
    pub fn failure(&self, line: &str, code: i32) -> String {
        let output = self.output(line);
        let text = stderr(&output);
        assert_eq!(output.status.code(), Some(code), "{line}: {text}");
        assert!(output.stdout.is_empty(), "{line}");
        assert!(!text.contains("panicked"), "{text}");
        text
    }

    pub fn files(&self, dir: &str) -> Vec<String> {
        names(&self.path(dir))
    }
}

/// A run of a few client-steps.
pub const SMALL: &str = "--data mnist --data-dir data --clients 10 --model logistic --rounds 4";

/// The command that is tested: the one that was built with the tests, or `FEDROUND_PROGRAM`, a path from
/// the workspace's folder.
pub fn program() -> PathBuf {
    let built = PathBuf::from(env!("CARGO_BIN_EXE_fedround"));
    let workspace = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
    let other = std::env::var_os("FEDROUND_PROGRAM");
    other.map_or(built, |other| Path::new(workspace).join(other))
}

/// The folder of real data (`FEDROUND_DATA`, or beside the repository), if it has these datasets.
pub fn real(datasets: &[&str]) -> Option<PathBuf> {
    let beside = || PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared/data"));
    let folder = std::env::var_os("FEDROUND_DATA").map_or_else(beside, PathBuf::from);
    let missing = datasets.iter().find(|name| !folder.join(name).is_dir());
    if let Some(missing) = missing {
        let folder = folder.display();
        skipped(&format!("no {missing} in {folder}; set FEDROUND_DATA"));
        return None;
    }
    Some(folder)
}

/// Says that a check is left out. It goes past the test harness, which hides what tests that pass print.
pub fn skipped(why: &str) {
    let _ = writeln!(std::io::stderr(), "SKIPPED: {why}");
}

/// A number that trials are given in a variable.
pub fn number(variable: &str, default: u64) -> u64 {
    std::env::var(variable).map_or(default, |text| text.parse().unwrap())
}

pub fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// A text without the ends of its lines, which stand where a terminal is full.
pub fn in_one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Sorted names of the files in a folder; none if it does not exist.
pub fn names(dir: &Path) -> Vec<String> {
    let entries = fs::read_dir(dir).into_iter().flatten();
    let mut names: Vec<String> = entries
        .map(|e| e.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort_unstable();
    names
}

fn images(n: usize) -> Vec<u8> {
    let header = [0x803, n as u32, 28, 28].map(u32::to_be_bytes).concat();
    let pixel = |i: usize, row: usize, column: usize| {
        let bar = row / 2 == i % 10;
        // Some texture, so that examples of a class differ.
        let noise = (i * 31 + row * 17 + column * 7) % 40;
        if bar { 200 + noise as u8 } else { noise as u8 }
    };
    let pixels = (0..n).flat_map(|i| (0..784).map(move |p| pixel(i, p / 28, p % 28)));
    header.into_iter().chain(pixels).collect()
}

pub fn labels(n: usize) -> Vec<u8> {
    let header = [0x801, n as u32].map(u32::to_be_bytes).concat();
    header
        .into_iter()
        .chain((0..n).map(|i| (i % 10) as u8))
        .collect()
}
