use std::cell::Cell;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::mpsc;

use fedround_ir::tensor::Conv2d;

use fedround_ir::tensor::Op;
use fedround_passes::tensor::ConvAlgorithm;

use super::measure::Fastest;
use super::*;
use crate::device::{Device, ExecError};
use crate::precision::Precision;

/// An empty folder for one test.
fn folder(name: &str) -> PathBuf {
    let folder = format!("fedround-{name}-{}", std::process::id());
    let folder = std::env::temp_dir().join(folder);
    _ = fs::remove_dir_all(&folder);
    folder
}

/// The cache in a folder. Failures to read or write it are ignored.
fn open(folder: &Path) -> AutotuneCache {
    AutotuneCache::at(folder, |_| ())
}

/// The algorithm that the cache gives, and whether it was measured for that. A measurement gives `fastest`.
fn choose(choices: &AutotuneCache, about: &str, fastest: ConvAlgorithm) -> (ConvAlgorithm, bool) {
    let measured = Cell::new(false);
    let device = Device::Cpu.open().unwrap();
    let algorithm = choices.choose(&device, about, || {
        measured.set(true);
        Ok(Fastest {
            algorithm: fastest,
            all_timed: true,
        })
    });
    (algorithm.unwrap(), measured.get())
}

#[test]
fn a_choice_is_measured_once_and_kept() {
    let folder = folder("kept");
    let choices = open(&folder);
    assert_eq!(
        choose(&choices, "a", ConvAlgorithm::Unfold),
        (ConvAlgorithm::Unfold, true)
    );
    assert_eq!(
        choose(&choices, "a", ConvAlgorithm::Split),
        (ConvAlgorithm::Unfold, false)
    );
    assert_eq!(
        choose(&choices, "b", ConvAlgorithm::Split),
        (ConvAlgorithm::Split, true)
    );
    let again = open(&folder);
    assert_eq!(
        choose(&again, "a", ConvAlgorithm::Split),
        (ConvAlgorithm::Unfold, false)
    );
    assert_eq!(again.len(), 2);
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn a_file_that_is_none_of_ours_stays_as_it_is() {
    let folder = folder("other");
    fs::create_dir_all(&folder).unwrap();
    let file = folder.join("convolutions.txt");
    let texts: [&[u8]; 2] = [b"fedround convolutions 2\na\tunfold\n", &[0xff, 0xfe, 0]];
    for text in texts {
        fs::write(&file, text).unwrap();
        let choices = open(&folder);
        assert!(choices.is_empty());
        let split = ConvAlgorithm::Split;
        assert_eq!(choose(&choices, "a", split), (split, true));
        assert_eq!(choose(&choices, "a", split), (split, false));
        assert_eq!(fs::read(&file).unwrap(), text);
    }
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn an_empty_file_is_filled() {
    let folder = folder("empty");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("convolutions.txt"), b"").unwrap();
    let split = ConvAlgorithm::Split;
    let choices = AutotuneCache::at(&folder, |error| panic!("{error}"));
    assert_eq!(choose(&choices, "a", split), (split, true));
    assert_eq!(open(&folder).len(), 1);
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn a_line_that_cannot_be_read_costs_that_line() {
    let folder = folder("line");
    let split = ConvAlgorithm::Split;
    choose(&open(&folder), "a", split);
    let file = folder.join("convolutions.txt");
    let mut text = fs::read_to_string(&file).unwrap();
    text.push_str("\nb\tfold\n");
    fs::write(&file, text).unwrap();
    let choices = open(&folder);
    assert_eq!(choose(&choices, "a", ConvAlgorithm::Unfold), (split, false));
    assert_eq!(choose(&choices, "b", split), (split, true));
    assert_eq!(open(&folder).len(), 2);
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn a_choice_among_some_algorithms_is_not_written() {
    let folder = folder("now");
    let choices = open(&folder);
    let device = Device::Cpu.open().unwrap();
    let algorithm = ConvAlgorithm::Split;
    let measure = || {
        Ok(Fastest {
            algorithm,
            all_timed: false,
        })
    };
    assert_eq!(choices.choose(&device, "a", measure).unwrap(), algorithm);
    assert_eq!(
        choose(&choices, "a", ConvAlgorithm::Unfold),
        (algorithm, false)
    );
    assert!(open(&folder).is_empty());
    // If the device has failed before, nothing is chosen.
    let failed = || Err(ExecError::OutOfMemory(String::new()));
    let error = choices.choose(&device, "b", failed).unwrap_err();
    assert!(matches!(error, ExecError::OutOfMemory(_)));
    assert_eq!(choose(&choices, "b", algorithm), (algorithm, true));
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn writers_keep_what_others_write() {
    let folder = folder("writers");
    std::thread::scope(|scope| {
        for writer in 0..4 {
            let choices = open(&folder);
            scope.spawn(move || {
                for i in 0..8 {
                    choose(&choices, &format!("{writer} {i}"), ConvAlgorithm::Split);
                }
            });
        }
    });
    assert_eq!(open(&folder).len(), 32);
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn a_folder_that_cannot_be_written_is_reported_once_and_no_error() {
    let folder = folder("file");
    fs::write(&folder, b"").unwrap();
    let (report, reports) = mpsc::channel();
    let choices = AutotuneCache::at(&folder, move |error| report.send(error).unwrap());
    assert_eq!(
        choose(&choices, "a", ConvAlgorithm::Split),
        (ConvAlgorithm::Split, true)
    );
    assert_eq!(
        choose(&choices, "a", ConvAlgorithm::Unfold),
        (ConvAlgorithm::Split, false)
    );
    let reports: Vec<CacheError> = reports.try_iter().collect();
    assert_eq!(reports.len(), 1);
    let file = folder.join("convolutions.txt");
    assert_eq!((reports[0].action, &reports[0].file), ("read", &file));
    fs::remove_file(folder).unwrap();
}

#[test]
fn one_client_and_the_cpu_are_not_timed() {
    let conv = |groups| {
        Op::Conv2d(Conv2d {
            stride: [1, 1],
            padding: [0, 0],
            dilation: [1, 1],
            groups,
        })
    };
    let device = Device::Cpu.open().unwrap();
    let choices = AutotuneCache::default();
    let timed = ConvPolicy::Timed(choices.clone());
    assert!(!timed.may_replace(&device));
    let shapes: [&[usize]; 2] = [&[2, 3, 5, 5], &[4, 3, 3, 3]];
    let found = timed.choose(&device, Precision::F32, &conv(1), shapes);
    assert!(found.unwrap() == ConvAlgorithm::Grouped && choices.is_empty());
    let always = ConvPolicy::Always(ConvAlgorithm::Unfold);
    assert!(always.may_replace(&device));
    let found = always.choose(&device, Precision::F32, &conv(2), shapes);
    assert_eq!(found.unwrap(), ConvAlgorithm::Unfold);
}

#[test]
fn texts_are_understood() {
    for text in ["grouped", "unfold", "split"] {
        let parsed: ConvPolicy = text.parse().unwrap();
        assert!(matches!(parsed, ConvPolicy::Always(l) if l.name() == text));
    }
    "auto".parse::<ConvPolicy>().unwrap();
    let error = "im2col".parse::<ConvPolicy>().unwrap_err().to_string();
    assert!(error.contains("`split`, found `im2col`"), "{error}");
}
