//! Folders with odd names and contents, and pictures of odd shapes and files.

use std::io::Cursor;

use fedround_data::own::Normalize;
use fedround_data::{Column, Fit, ImageFiles, ReadOptions, Scale};
use image::{DynamicImage, GrayImage, ImageFormat};

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

#[test]
fn folders_within_a_class_are_noted() {
    let root = folder(&[]);
    for i in 0..5 {
        for place in ["a", "b", "b/old", "b/older"] {
            write(&root.path().join(format!("{place}/{i}.png")), &grey(4, 9));
        }
    }
    let data = read(&root, "images:DIR", ReadOptions::default());
    assert_eq!(data.train.len() + data.test.len(), 10);
    let b = root.path().join("b");
    let note = format!(
        "2 folders in {} left out: an image belongs directly into the folder of its class",
        b.display()
    );
    assert_eq!(data.notes, [note]);
}

/// A camera puts a video after a picture, which may hold the bytes of any marker.
#[test]
fn what_follows_the_end_of_a_jpeg_does_not_matter() {
    let image = GrayImage::from_fn(32, 32, |x, y| image::Luma([(x * 7 + y) as u8]));
    let mut bytes = Cursor::new(vec![]);
    let image = DynamicImage::from(image);
    image.write_to(&mut bytes, ImageFormat::Jpeg).unwrap();
    let whole = bytes.into_inner();
    let root = folder(&[]);
    let decoded = |bytes: &[u8]| {
        let path = root.path().join("a.jpg");
        write(&path, bytes);
        let files = ImageFiles::new(vec![path], [1, 32, 32], Fit::Stretch);
        let decoded = files.unwrap().decode_all();
        decoded.map_err(|error| error.to_string())
    };
    let expected = decoded(&whole);
    assert!(expected.is_ok(), "{expected:?}");
    let trailers: [&[u8]; 3] = [b"video", b"\xFF\xDA\0\x02video", b"\xFF\xD9\xFF\xDA\xFF"];
    for trailer in trailers {
        assert_eq!(decoded(&[&whole[..], trailer].concat()), expected);
    }
    // A comment with the same bytes.
    let comment = b"\xFF\xFE\0\x06\xFF\xDA\xFF\xD9";
    let noted = [&whole[..2], comment, &whole[2..]].concat();
    assert_eq!(decoded(&noted), expected);
    for length in [3, noted.len() / 2, noted.len() - 2, noted.len() - 1] {
        let error = decoded(&noted[..length]).unwrap_err();
        assert!(
            error.contains("the end-of-image marker is missing"),
            "{error}"
        );
    }
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

/// A thread that starts in the middle meets the later one first.
#[test]
fn of_several_broken_files_the_first_is_named() {
    let broken = &b"no image"[..];
    let whole = grey(64, 9);
    let root = folder(&[("a.png", &whole[..]), ("b.png", broken), ("c.png", broken)]);
    let [a, b, c] = ["a.png", "b.png", "c.png"].map(|name| root.path().join(name));
    let mut paths = vec![a; 32];
    (paths[15], paths[16]) = (b, c);
    let files = || ImageFiles::new(paths.clone(), [1, 4, 4], Fit::Stretch).unwrap();
    let images = Column::images("x", files(), Scale::Unit).unwrap();
    let indices: Vec<usize> = (0..32).collect();
    for _ in 0..5 {
        let decoded = files().decode_all().map(drop);
        let gathered = images.gather_into(&indices, &mut [0.0; 32 * 16]);
        for result in [decoded, gathered] {
            let error = result.unwrap_err().to_string();
            assert!(error.contains("b.png"), "{error}");
        }
    }
}

/// Whoever opens a pipe waits for a writer. A socket is as little of a file, and does not make this test wait.
#[cfg(unix)]
#[test]
fn what_is_no_file_is_no_image() {
    use std::os::unix::fs::symlink;
    use std::os::unix::net::UnixListener;

    use super::message;

    let root = folder(&[]);
    for i in 0..5 {
        for class in ["a", "b"] {
            write(&root.path().join(format!("{class}/{i}.png")), &grey(4, 9));
        }
    }
    let socket = root.path().join("a/x.png");
    let _listener = UnixListener::bind(&socket).unwrap();
    symlink(&socket, root.path().join("a/y.png")).unwrap();
    symlink(root.path().join("b/0.png"), root.path().join("b/z.png")).unwrap();
    let data = read(&root, "images:DIR", ReadOptions::default());
    assert_eq!(data.train.len() + data.test.len(), 11);
    let a = root.path().join("a");
    let note = format!("2 files in {} are neither JPEG nor PNG", a.display());
    assert_eq!(data.notes, [note]);
    // A link that leads nowhere is one to an image that is gone.
    symlink(root.path().join("none.png"), root.path().join("b/y.png")).unwrap();
    let error = message(&root, "images:DIR", ReadOptions::default());
    assert!(error.contains("b/y.png"), "{error}");
}
