//! A user's own data: folders of images, tables, arrays and LEAF's files, good ones and bad ones.

mod array_forms;
mod arrays;
mod image_folders;
mod images;
mod leaf;
#[cfg(feature = "parquet")]
mod parquet;
mod precision;
mod table_gaps;
mod tables;
mod test_parts;

use std::fs;
use std::path::Path;

use fedround_data::{DataSpec, Dataset, ReadOptions};
use tempfile::TempDir;

/// A folder with these files.
pub fn folder(files: &[(&str, &[u8])]) -> TempDir {
    let root = tempfile::tempdir().unwrap();
    for (path, bytes) in files {
        write(&root.path().join(path), bytes);
    }
    root
}

pub fn write(path: &Path, bytes: &[u8]) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, bytes).unwrap();
}

fn spec(root: &TempDir, text: &str, reading: ReadOptions) -> DataSpec {
    let text = text.replace("DIR", &root.path().display().to_string());
    text.parse::<DataSpec>().unwrap().reading(reading)
}

pub fn read(root: &TempDir, text: &str, reading: ReadOptions) -> Dataset {
    spec(root, text, reading).read().unwrap()
}

/// The message of the error, with the folder taken out of it.
pub fn message(root: &TempDir, text: &str, reading: ReadOptions) -> String {
    let error = spec(root, text, reading)
        .read()
        .expect_err("should not load");
    error
        .to_string()
        .replace(&root.path().display().to_string(), "DIR")
}

/// All inputs of the training examples.
pub fn inputs(data: &Dataset) -> Vec<f32> {
    let all: Vec<usize> = (0..data.train.len()).collect();
    let mut x = vec![0.0; all.len() * data.train.features()];
    data.train.x().gather_into(&all, &mut x).unwrap();
    x
}

#[test]
fn texts_say_where_data_is() {
    use fedround_data::DataLocation;
    for text in [
        "mnist",
        "images:photos",
        "csv:a.csv,b.csv",
        "parquet:a.parquet,b.parquet",
        "npy:x.npy,y.npy",
        "npz:a.npz",
        "leaf:data/femnist",
    ] {
        assert_eq!(text.parse::<DataLocation>().unwrap().to_string(), text);
    }
    let error = |text: &str| text.parse::<DataLocation>().unwrap_err().to_string();
    assert!(
        error("image:photos").starts_with(
            "unknown kind of data `image` (did you mean `images`?); write the name of a dataset, images:DIR"
        ),
        "{}",
        error("image:photos")
    );
    assert_eq!(
        error("npy:x.npy"),
        "bad data `npy:x.npy`: expected npy:X.npy,Y.npy or npy:X.npy,Y.npy,TEST_X.npy,TEST_Y.npy"
    );
    assert_eq!(error("images:"), "bad data `images:`: expected images:DIR");
}

#[test]
fn files_without_their_kind_are_recognised() {
    let root = folder(&[("photos/a/1.png", b""), ("t.csv.gz", b""), ("notes", b"")]);
    let error = |text: &str| message(&root, text, ReadOptions::default());
    assert_eq!(
        error("DIR/photos"),
        "`DIR/photos` is not the name of a dataset, but of a folder here; write `images:DIR/photos` or \
         `leaf:DIR/photos`"
    );
    assert!(error("DIR/t.csv.gz").ends_with("but of a file here; write `csv:DIR/t.csv.gz`"));
    assert!(error("DIR/notes").starts_with("unknown dataset"));
}

#[test]
fn options_belong_to_kinds_of_data() {
    let root = folder(&[]);
    let target = ReadOptions {
        target: Some("y".to_owned()),
        ..ReadOptions::default()
    };
    assert_eq!(
        message(&root, "images:DIR", target.clone()),
        "the option `target` does not fit `images:DIR`: only tables (csv:FILE, parquet:FILE) have it"
    );
    let resize = ReadOptions {
        resize: Some(8),
        ..ReadOptions::default()
    };
    assert_eq!(
        message(&root, "synth-digits", resize),
        "the option `resize` does not fit `synth-digits`: only folders of images (images:DIR) have it"
    );
    assert_eq!(
        message(&root, "csv:DIR/none.csv", target),
        "DIR/none.csv does not exist"
    );
}

#[test]
fn a_side_of_images_has_a_limit() {
    let root = folder(&[]);
    for found in [0, 4097, usize::MAX] {
        let resize = ReadOptions {
            resize: Some(found),
            ..ReadOptions::default()
        };
        assert_eq!(
            message(&root, "images:DIR", resize),
            format!(
                "resize: expected a height and width of at least 1 and at most 4096 pixels, found {found}"
            )
        );
    }
}
