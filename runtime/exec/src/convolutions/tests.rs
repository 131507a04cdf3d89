use std::cell::Cell;
use std::fs;
use std::path::PathBuf;

use fedround_ir::tensor::Conv2d;

use super::measure::Fastest;
use super::*;
use crate::device::Device;
use crate::error::RunError;

/// A folder of a test's own.
fn folder(name: &str) -> PathBuf {
    let folder = format!("fedround-{name}-{}", std::process::id());
    let folder = std::env::temp_dir().join(folder);
    _ = fs::remove_dir_all(&folder);
    folder
}

/// What is chosen, and whether it was measured for that.
fn chosen(choices: &Choices, about: &str, fastest: Lowering) -> (Lowering, bool) {
    let measured = Cell::new(false);
    let device = Device::Cpu.open().unwrap();
    let lowering = choices.choose(&device, about, || {
        measured.set(true);
        let (form, of_all) = (fastest, true);
        Ok(Fastest { form, of_all })
    });
    (lowering.unwrap(), measured.get())
}

#[test]
fn a_choice_is_measured_once_and_kept() {
    let folder = folder("kept");
    let choices = Choices::at(&folder);
    assert_eq!(
        chosen(&choices, "a", Lowering::Unfold),
        (Lowering::Unfold, true)
    );
    assert_eq!(
        chosen(&choices, "a", Lowering::Split),
        (Lowering::Unfold, false)
    );
    assert_eq!(
        chosen(&choices, "b", Lowering::Split),
        (Lowering::Split, true)
    );
    let again = Choices::at(&folder);
    assert_eq!(
        chosen(&again, "a", Lowering::Split),
        (Lowering::Unfold, false)
    );
    assert_eq!(again.len(), 2);
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn a_file_that_is_none_of_ours_stays_as_it_is() {
    let folder = folder("other");
    fs::create_dir_all(&folder).unwrap();
    let file = folder.join("convolutions.txt");
    let texts: [&[u8]; 3] = [
        b"",
        b"fedround convolutions 2\na\tunfold\n",
        &[0xff, 0xfe, 0],
    ];
    for text in texts {
        fs::write(&file, text).unwrap();
        let choices = Choices::at(&folder);
        assert!(choices.is_empty());
        let split = Lowering::Split;
        assert_eq!(chosen(&choices, "a", split), (split, true));
        assert_eq!(chosen(&choices, "a", split), (split, false));
        assert_eq!(fs::read(&file).unwrap(), text);
    }
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn a_line_that_cannot_be_read_costs_that_line() {
    let folder = folder("line");
    let split = Lowering::Split;
    chosen(&Choices::at(&folder), "a", split);
    let file = folder.join("convolutions.txt");
    let mut text = fs::read_to_string(&file).unwrap();
    text.push_str("\nb\tfold\n");
    fs::write(&file, text).unwrap();
    let choices = Choices::at(&folder);
    assert_eq!(chosen(&choices, "a", Lowering::Unfold), (split, false));
    assert_eq!(chosen(&choices, "b", split), (split, true));
    assert_eq!(Choices::at(&folder).len(), 2);
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn what_is_not_of_all_forms_is_kept_for_now() {
    let folder = folder("now");
    let choices = Choices::at(&folder);
    let device = Device::Cpu.open().unwrap();
    let form = Lowering::Split;
    let measure = || {
        let of_all = false;
        Ok(Fastest { form, of_all })
    };
    assert_eq!(choices.choose(&device, "a", measure).unwrap(), form);
    assert_eq!(chosen(&choices, "a", Lowering::Unfold), (form, false));
    assert!(Choices::at(&folder).is_empty());
    // A device that has failed before is no reason to choose anything.
    let failed = || {
        Err(CompileError::Failed(Box::new(RunError::OutOfMemory(
            String::new(),
        ))))
    };
    let error = RunError::from(choices.choose(&device, "b", failed).unwrap_err());
    assert!(matches!(error, RunError::OutOfMemory(_)));
    assert_eq!(chosen(&choices, "b", form), (form, true));
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn writers_keep_what_others_write() {
    let folder = folder("writers");
    std::thread::scope(|scope| {
        for writer in 0..4 {
            let choices = Choices::at(&folder);
            scope.spawn(move || {
                for i in 0..8 {
                    chosen(&choices, &format!("{writer} {i}"), Lowering::Split);
                }
            });
        }
    });
    assert_eq!(Choices::at(&folder).len(), 32);
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn a_folder_that_cannot_be_written_is_no_error() {
    let folder = folder("file");
    fs::write(&folder, b"").unwrap();
    let choices = Choices::at(&folder);
    assert_eq!(
        chosen(&choices, "a", Lowering::Split),
        (Lowering::Split, true)
    );
    assert_eq!(
        chosen(&choices, "a", Lowering::Unfold),
        (Lowering::Split, false)
    );
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
    let choices = Choices::default();
    let timed = Convolutions::Timed(choices.clone());
    assert!(!timed.change_some(&device));
    let shapes: [&[usize]; 2] = [&[2, 3, 5, 5], &[4, 3, 3, 3]];
    let found = timed.choose(&device, Precision::F32, &conv(1), shapes);
    assert!(found.unwrap() == Lowering::Grouped && choices.is_empty());
    let always = Convolutions::Always(Lowering::Unfold);
    assert!(always.change_some(&device));
    let found = always.choose(&device, Precision::F32, &conv(2), shapes);
    assert_eq!(found.unwrap(), Lowering::Unfold);
}

#[test]
fn texts_are_understood() {
    for text in ["grouped", "unfold", "split"] {
        let parsed: Convolutions = text.parse().unwrap();
        assert!(matches!(parsed, Convolutions::Always(l) if l.name() == text));
    }
    "auto".parse::<Convolutions>().unwrap();
    let error = "im2col".parse::<Convolutions>().unwrap_err().to_string();
    assert!(error.contains("`split`, found `im2col`"), "{error}");
}
