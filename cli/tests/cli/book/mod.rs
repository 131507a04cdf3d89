//! Every `fedround` command in the README and in the book runs here, with one round and one seed, or
//! is at least understood.

pub mod arrays;
mod files;
pub mod reference;
mod shell;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;
use std::sync::Mutex;
use std::thread;

use crate::support::{Place, program, stderr};
use assert_cmd::Command;
use files::files;
use shell::{commands, settings, small, words};

/// What is done with a command that does not run here.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Check {
    /// `fedround config` reads the settings of a run: the algorithm, its hyper-parameters, the flags.
    Settings,
    /// The flags are read, before --help.
    Flags,
}
use Check::{Flags, Settings};

/// Where a command is written, a part of it, what is checked instead of running it, and why.
type Exception = (&'static str, &'static str, Check, &'static str);

/// The first that fits counts.
const NOT_RUN: [Exception; 26] = [
    (
        "README.md",
        "fedround new",
        Flags,
        "needs a clone of fedround",
    ),
    (
        "first-algorithm.md",
        "fedround new",
        Flags,
        "needs a clone of fedround",
    ),
    ("benchmarks/", "fedround run", Settings, "takes minutes"),
    ("benchmarks/", "fedround bench", Flags, "takes minutes"),
    (
        "benchmarks/",
        "fedround graph",
        Flags,
        "takes a large model",
    ),
    ("decisions/", "fedround run", Settings, "takes minutes"),
    ("reproductions/", "fedround run", Settings, "takes hours"),
    ("reproductions/", "fedround inspect", Flags, "takes minutes"),
    (
        "",
        "fedround run fedavg --device cuda",
        Settings,
        "needs a GPU",
    ),
    ("", "--device cuda --precision", Settings, "needs a GPU"),
    ("", "--device wgpu", Flags, "needs a GPU"),
    ("", "fedround party", Flags, "needs a SuperLink"),
    ("", "fedround coordinator", Flags, "needs a SuperLink"),
    ("", "fedround data fetch", Flags, "downloads"),
    ("", "fedround data info adult", Flags, "needs files"),
    ("", "fedround data preview flickr8k", Flags, "needs files"),
    (
        "",
        "fedround inspect adcol --data digits",
        Flags,
        "needs files",
    ),
    ("", "fedround inspect fedfed", Flags, "attacks take minutes"),
    ("", "--data cifar-10", Settings, "needs files"),
    ("", "--data flickr8k", Settings, "needs files"),
    ("", "--data easy-vqa", Settings, "needs files"),
    (
        "algorithms.md",
        "adaptive=adaptive-clip",
        Flags,
        "needs the whole of MNIST",
    ),
    (
        "algorithms.md",
        "weak=dp-ftrl",
        Flags,
        "needs the whole of MNIST",
    ),
    (
        "",
        "--model resnet18 --weights",
        Flags,
        "needs a file of PyTorch",
    ),
    (
        "",
        "--model cnn --weights",
        Flags,
        "needs a file of PyTorch",
    ),
    ("ir.md", "fedround opt step.txt", Flags, "shows an error"),
];

/// What a page takes for granted.
const BEFORE: [(&str, &str); 4] = [
    ("weights.md", "run fedavg --rounds 1 --out runs/first"),
    (
        "weights.md",
        "run lg-fedavg --clients 10 --rounds 1 --out runs/personal",
    ),
    (
        "weights.md",
        "run fedavg --data mnist --rounds 1 --out runs/mnist",
    ),
    ("inspect.md", "run fedprox --rounds 1 --out runs/mu01"),
];

/// The pages of the book and the README, from the root.
fn pages() -> Vec<PathBuf> {
    fn below(folder: &Path, found: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                below(&path, found);
            } else if path.extension().is_some_and(|e| e == "md") {
                found.push(path);
            }
        }
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut found = vec![root.join("README.md")];
    below(&root.join("docs"), &mut found);
    found
}

fn run(place: &Place, arguments: &[String], input: &[u8]) -> Output {
    let mut command = Command::new(program());
    let command = command.current_dir(place.path("")).args(arguments);
    command.write_stdin(input).output().unwrap()
}

/// Runs a line of commands: up to a program of others, with the output in the file that it names.
fn line(place: &Place, line: &str) -> Result<(), String> {
    let mut input = vec![];
    for piece in line.split(" | ").take_while(|p| p.starts_with("fedround ")) {
        let (command, file) = piece.split_once(" > ").unwrap_or((piece, ""));
        let arguments = small(&words(command)[1..]);
        if let Some(i) = arguments.iter().position(|word| word == "--out") {
            // Pages name a folder more than once.
            let _ = fs::remove_dir_all(place.path(&arguments[i + 1]));
        }
        let output = run(place, &arguments, &input);
        if !output.status.success() {
            return Err(stderr(&output));
        }
        input = output.stdout;
        if let Some(file) = words(file).first() {
            place.write(file, &input);
        }
    }
    Ok(())
}

/// What is wrong with a page's commands.
fn failures(page: &Path) -> Vec<String> {
    let text = fs::read_to_string(page).unwrap();
    let page = page.display().to_string();
    let commands = commands(&text);
    if commands.is_empty() {
        return vec![];
    }
    let place = Place::new();
    files(&place);
    for (_, before) in BEFORE.iter().filter(|(of, _)| page.ends_with(of)) {
        place.success(before);
    }
    let mut failures = vec![];
    for command in commands {
        let result = match exception(&page, &command) {
            None => line(&place, &command),
            Some((_, _, check, _)) => {
                let words = words(&command);
                let of = words.iter().take_while(|word| *word != "&");
                let words: Vec<String> = of.skip(1).cloned().collect();
                let arguments = match check {
                    Settings => settings(&words),
                    Flags => [small(&words), vec!["--help".to_owned()]].concat(),
                };
                let output = run(&place, &arguments, &[]);
                let message = stderr(&output);
                output.status.success().then_some(()).ok_or(message)
            }
        };
        if let Err(error) = result {
            failures.push(format!("{page}: {command}\n{error}"));
        }
    }
    failures
}

fn exception(page: &str, command: &str) -> Option<&'static Exception> {
    let fits = |(of, part, ..): &&Exception| page.contains(of) && command.contains(part);
    NOT_RUN.iter().find(fits)
}

#[test]
fn commands_of_the_book_run() {
    let pages = pages();
    let next = Mutex::new(pages.iter());
    let failed = Mutex::new(vec![]);
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    let page = next.lock().unwrap().next();
                    let Some(page) = page else { break };
                    failed.lock().unwrap().extend(failures(page));
                }
            });
        }
    });
    let failed = failed.into_inner().unwrap();
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

#[test]
fn every_exception_is_one() {
    let mut used = [false; NOT_RUN.len()];
    for page in pages() {
        let text = fs::read_to_string(&page).unwrap();
        let page = page.display().to_string();
        for found in commands(&text).iter().filter_map(|c| exception(&page, c)) {
            used[NOT_RUN.iter().position(|one| one == found).unwrap()] = true;
        }
    }
    let unused = NOT_RUN.iter().zip(used).filter(|(_, used)| !used);
    let unused: Vec<_> = unused.map(|(one, _)| one).collect();
    assert!(unused.is_empty(), "no command is like these: {unused:?}");
}
