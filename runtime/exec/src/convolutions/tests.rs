use std::cell::Cell;
use std::fs;
use std::path::PathBuf;

use fedround_ir::tensor::Conv2d;

use super::*;
use crate::device::Device;

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
        fastest
    });
    (lowering, measured.get())
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
    // Two that write keep what the other wrote.
    let (one, two) = (Choices::at(&folder), Choices::at(&folder));
    chosen(&one, "c", Lowering::Grouped);
    chosen(&two, "d", Lowering::Grouped);
    assert_eq!(Choices::at(&folder).len(), 4);
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn a_broken_file_is_measured_again_and_replaced() {
    let folder = folder("broken");
    fs::create_dir_all(&folder).unwrap();
    let file = folder.join("convolutions.txt");
    let texts: [&[u8]; 4] = [
        b"",
        b"fedround convolutions 2\na\tunfold\n",
        b"fedround convolutions 1\na\tfold\n",
        &[0xff, 0xfe, 0],
    ];
    for text in texts {
        fs::write(&file, text).unwrap();
        let choices = Choices::at(&folder);
        assert!(choices.is_empty());
        assert_eq!(
            chosen(&choices, "a", Lowering::Split),
            (Lowering::Split, true)
        );
        assert_eq!(Choices::at(&folder).len(), 1);
    }
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
    assert!(found == Lowering::Grouped && choices.is_empty());
    let always = Convolutions::Always(Lowering::Unfold);
    assert!(always.change_some(&device));
    let found = always.choose(&device, Precision::F32, &conv(2), shapes);
    assert_eq!(found, Lowering::Unfold);
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
