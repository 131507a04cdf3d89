//! CIFAR-10 folders, good and bad.

use std::fs;

use crate::common::{gz, message};
use fedround_data::load;
use tempfile::TempDir;

const RECORD: usize = 3073;

fn records(values: &[u8]) -> Vec<u8> {
    values
        .iter()
        .flat_map(|&l| std::iter::once(l).chain((0..RECORD - 1).map(|i| i as u8)))
        .collect()
}

fn cifar(train: &[(&str, Vec<u8>)], test: Vec<u8>) -> TempDir {
    let root = tempfile::tempdir().unwrap();
    let folder = root.path().join("cifar-10-batches-bin");
    fs::create_dir(&folder).unwrap();
    for (name, bytes) in train {
        fs::write(folder.join(name), bytes).unwrap();
    }
    fs::write(folder.join("test_batch.bin"), test).unwrap();
    root
}

#[test]
fn cifar_takes_any_number_of_batches_in_order() {
    let root = cifar(
        &[
            ("data_batch_10.bin", records(&[7])),
            ("data_batch_2.bin.gz", gz(&records(&[3, 4]))),
            ("data_batch_2.bin", records(&[3, 4])),
            ("data_batch_1.bin.gz", gz(&records(&[1, 2, 9]))),
            ("batches.meta.txt", Vec::new()),
        ],
        records(&[5]),
    );
    let data = load("cifar-10", Some(root.path()), 0).unwrap();
    assert_eq!(data.train.labels(), [1, 2, 9, 3, 4, 7]);
    assert_eq!(
        (
            data.test.labels(),
            data.train.image(5).unwrap()[1..4].to_vec()
        ),
        (&[5][..], vec![1, 2, 3])
    );
}

#[test]
fn cifar_contents_are_checked() {
    let with = |name: &str, bytes: Vec<u8>| {
        message("cifar-10", cifar(&[(name, bytes)], records(&[0])).path())
    };
    assert_eq!(
        with("data_batch_1.bin", records(&[1, 2])[..4000].to_vec()),
        "DIR/cifar-10-batches-bin/data_batch_1.bin is truncated or corrupt: \
         expected 6146 bytes, found 4000; get the file again"
    );
    assert_eq!(
        with("data_batch_1.bin", records(&[1, 200])),
        "DIR/cifar-10-batches-bin/data_batch_1.bin: label 200 of example 1 is out of range, expected 0 to 9"
    );
    assert!(with("data_batch_1.bin", Vec::new()).ends_with("holds no examples"));
    let packed = gz(&records(&[1, 2]));
    let text = with("data_batch_1.bin.gz", packed[..packed.len() - 3].to_vec());
    assert!(text.contains("gzip stream is damaged"), "{text}");
}
