//! Folders with odd names, and pictures of odd shapes.

use fedround_data::own::Normalize;
use fedround_data::{Fit, ImageFiles, ReadOptions};
use image::GrayImage;

use super::images::{grey, png};
use super::{folder, inputs, read, write};

/// Names of Linux are bytes.
#[cfg(target_os = "linux")]
#[test]
fn folders_may_have_names_that_are_no_utf_8() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    let root = folder(&[]);
    for (name, level) in [(&b"caf\xe9"[..], 0), (b"caf\xe8", 255)] {
        let class = root.path().join(OsStr::from_bytes(name));
        for i in 0..5 {
            write(&class.join(format!("{i}.png")), &grey(4, level));
        }
    }
    let data = read(
        &root,
        "images:DIR",
        ReadOptions {
            normalize: Normalize::None,
            ..ReadOptions::default()
        },
    );
    assert_eq!(data.class_names, ["caf\\xE8", "caf\\xE9"]);
    assert_eq!((data.train.len(), data.test.len()), (8, 2));
    let white = inputs(&data).chunks(16).map(|x| x[0]).collect::<Vec<_>>();
    let labels = data.train.labels().iter();
    assert!(
        white
            .iter()
            .zip(labels)
            .all(|(x, y)| *x == f32::from(1 - y))
    );
}

/// A line of pixels, whose shorter side would be scaled to 64.
#[test]
fn a_very_long_picture_takes_no_more_memory_than_another() {
    const LENGTH: u32 = 2_000_000;
    let root = folder(&[]);
    // Bright in the middle.
    let level = |at: u32| image::Luma([200 * u8::from(at.abs_diff(LENGTH / 2) < 50)]);
    let wide = png(GrayImage::from_fn(LENGTH, 1, |x, _| level(x)));
    let tall = png(GrayImage::from_fn(1, LENGTH, |_, y| level(y)));
    write(&root.path().join("wide.png"), &wide);
    write(&root.path().join("tall.png"), &tall);
    let decoded = |name: &str, fit| {
        let files = ImageFiles::new(vec![root.path().join(name)], [1, 64, 64], fit);
        files
            .unwrap()
            .decode_all()
            .map_err(|error| error.to_string())
    };
    for name in ["wide.png", "tall.png"] {
        assert_eq!(decoded(name, Fit::Crop), Ok(vec![200; 64 * 64]), "{name}");
    }
    assert!(decoded("tall.png", Fit::Stretch).is_ok());
    let error = decoded("wide.png", Fit::Stretch).unwrap_err();
    let expected = "2000000 x 1 pixels are too wide a picture to be brought to 64 x 64";
    assert!(error.contains(expected), "{error}");
}

/// A hundred images are looked at, and the colour of another one would be lost silently.
#[test]
fn many_grey_images_are_noted() {
    let root = folder(&[]);
    let add = |n: usize| {
        for i in 0..n {
            let class = ["a", "b"][i % 2];
            write(&root.path().join(format!("{class}/{i}.png")), &grey(4, 9));
        }
        read(&root, "images:DIR", ReadOptions::default())
    };
    assert_eq!(add(100).notes, [""; 0]);
    let data = add(101);
    assert_eq!(data.train.shape(), [1, 4, 4]);
    assert_eq!(
        data.notes,
        ["the 100 images looked at are grey, so all 101 are read as grey"]
    );
}
