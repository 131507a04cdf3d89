use std::io::Write;

use fedround_data::own::Normalize;
use fedround_data::{Partition, ReadOptions};
use flate2::{Compression, Crc, write::DeflateEncoder};

use super::{folder, inputs, message, read};

/// A file of `np.save`.
pub fn npy(dtype: &str, shape: &str, elements: &[u8]) -> Vec<u8> {
    let head = format!("{{'descr': '{dtype}', 'fortran_order': False, 'shape': {shape}, }}\n");
    let mut file = b"\x93NUMPY\x01\x00".to_vec();
    file.extend((head.len() as u16).to_le_bytes());
    file.extend(head.as_bytes());
    file.extend(elements);
    file
}

pub fn floats(numbers: impl IntoIterator<Item = f32>) -> Vec<u8> {
    numbers.into_iter().flat_map(f32::to_le_bytes).collect()
}

fn longs(numbers: impl IntoIterator<Item = i64>) -> Vec<u8> {
    numbers.into_iter().flat_map(i64::to_le_bytes).collect()
}

pub fn plain() -> ReadOptions {
    ReadOptions {
        normalize: Normalize::None,
        test_share: Some(0.25),
        ..ReadOptions::default()
    }
}

#[test]
fn rows_of_numbers() {
    let x = npy("<f4", "(8, 3)", &floats((0..24).map(|i| i as f32)));
    let y = npy("<i8", "(8,)", &longs((0..8).map(|i| 10 + i % 2)));
    let root = folder(&[("x.npy", &x), ("y.npy", &y)]);
    let data = read(&root, "npy:DIR/x.npy,DIR/y.npy", plain());
    assert_eq!(data.class_names, ["10", "11"]);
    assert_eq!(
        (data.train.len(), data.test.len(), data.train.features()),
        (6, 2, 3)
    );
    assert!(
        inputs(&data)
            .chunks(3)
            .all(|row| row[0] % 3.0 == 0.0 && row[2] == row[0] + 2.0)
    );
    let both = "npy:DIR/x.npy,DIR/y.npy,DIR/x.npy,DIR/y.npy";
    let data = read(&root, both, ReadOptions::default());
    assert_eq!((data.train.len(), data.test.len()), (8, 8));
    let x = inputs(&data);
    let mean: f32 = x.chunks(3).map(|row| row[1]).sum();
    assert!(mean.abs() < 1e-5, "{mean}");
}

#[test]
fn images_may_have_their_channels_last() {
    let pixels: Vec<u8> = (0..4 * 5 * 5 * 3).map(|i| (i % 3) as u8 * 100).collect();
    let root = folder(&[
        ("x.npy", &npy("|u1", "(4, 5, 5, 3)", &pixels)),
        ("y.npy", &npy(">i2", "(4, 1)", &[0, 0, 0, 1, 0, 0, 0, 1])),
    ]);
    let data = read(&root, "npy:DIR/x.npy,DIR/y.npy", plain());
    assert_eq!(data.train.shape(), [3, 5, 5]);
    let image = data.train.image(0).unwrap();
    assert!(image[..25].iter().all(|&b| b == 0) && image[50..].iter().all(|&b| b == 200));
}

/// A zip archive with one deflated or stored entry after another.
pub fn zip(files: &[(&str, &[u8])], deflated: bool) -> Vec<u8> {
    let (mut archive, mut directory) = (vec![], vec![]);
    for (name, bytes) in files {
        let data = match deflated {
            false => bytes.to_vec(),
            true => {
                let mut encoder = DeflateEncoder::new(vec![], Compression::fast());
                encoder.write_all(bytes).unwrap();
                encoder.finish().unwrap()
            }
        };
        let mut crc = Crc::new();
        crc.update(bytes);
        let mut common = vec![20, 0, 0, 0, if deflated { 8 } else { 0 }, 0, 0, 0, 0, 0];
        for number in [crc.sum(), data.len() as u32, bytes.len() as u32] {
            common.extend(number.to_le_bytes());
        }
        common.extend((name.len() as u16).to_le_bytes());
        common.extend([0, 0]);
        let offset = archive.len() as u32;
        archive.extend(b"PK\x03\x04");
        archive.extend(&common);
        archive.extend(name.as_bytes());
        archive.extend(data);
        directory.extend(b"PK\x01\x02\x14\x00");
        directory.extend(&common);
        directory.extend([0; 10]);
        directory.extend(offset.to_le_bytes());
        directory.extend(name.as_bytes());
    }
    let (start, count) = (archive.len() as u32, files.len() as u16);
    archive.extend(&directory);
    archive.extend(b"PK\x05\x06\0\0\0\0");
    archive.extend([count.to_le_bytes(), count.to_le_bytes()].concat());
    archive.extend((directory.len() as u32).to_le_bytes());
    archive.extend(start.to_le_bytes());
    archive.extend([0, 0]);
    archive
}

#[test]
fn archives_may_name_clients() {
    let x = npy(
        "<f8",
        "(6, 2)",
        &(0..12)
            .flat_map(|i| f64::from(i).to_le_bytes())
            .collect::<Vec<u8>>(),
    );
    let y = npy("|b1", "(6,)", &[0, 1, 0, 1, 0, 1]);
    let name = |c: char| {
        [c as u32, 0]
            .into_iter()
            .flat_map(u32::to_le_bytes)
            .collect::<Vec<u8>>()
    };
    let clients = npy(
        "<U2",
        "(6,)",
        &["aabbcc"]
            .iter()
            .flat_map(|s| s.chars().flat_map(name))
            .collect::<Vec<u8>>(),
    );
    let files = [
        ("x.npy", &x[..]),
        ("y.npy", &y[..]),
        ("clients.npy", &clients[..]),
    ];
    for deflated in [false, true] {
        let root = folder(&[("a.npz", &zip(&files, deflated))]);
        let data = read(&root, "npz:DIR/a.npz", plain());
        assert_eq!(data.group_names, ["a", "b", "c"]);
        assert_eq!(data.train.len() + data.test.len(), 6);
        assert!(Partition::Natural.deal(&data, 3, 1).is_ok());
    }
    // The last byte of `x`, which no header names.
    let mut damaged = zip(&files, false);
    let at = 30 + "x.npy".len() + x.len() - 1;
    damaged[at] ^= 1;
    let root = folder(&[("a.npz", &damaged)]);
    let text = message(&root, "npz:DIR/a.npz", plain());
    assert!(
        text.starts_with("DIR/a.npz/x.npy: expected an array whose checksum is"),
        "{text}"
    );
    assert!(text.ends_with("the archive is damaged"), "{text}");
    let root = folder(&[("a.npz", &zip(&files[..1], false))]);
    assert_eq!(
        message(&root, "npz:DIR/a.npz", plain()),
        "DIR/a.npz: expected arrays `x` and `y`, or `x_train` and `y_train`, found x.npy; rename them"
    );
}

#[test]
fn bad_arrays_are_errors() {
    let y = npy("<i8", "(2,)", &longs([0, 1]));
    let error = |x: Vec<u8>| {
        let root = folder(&[("x.npy", &x), ("y.npy", &y)]);
        message(&root, "npy:DIR/x.npy,DIR/y.npy", plain())
    };
    assert_eq!(
        error(npy("<f4", "(2, 2)", &floats([1.0, 2.0, 3.0]))),
        "DIR/x.npy: expected 16 bytes of elements for the shape [2, 2], found 12"
    );
    assert!(error(npy("<f4", "(99999999999, 99999999999)", &[])).contains("found 0"));
    assert!(
        error(b"hello, world".to_vec())
            .contains("expected an array of NumPy (np.save), found another format")
    );
    assert!(error(vec![]).contains("breaks off"));
    for (dtype, bytes) in [
        ("|O", 2),
        ("<c8", 16),
        ("<f16", 32),
        ("<M8[D]", 16),
        ("|S1", 2),
    ] {
        let text = error(npy(dtype, "(2, 1)", &vec![0; bytes]));
        assert!(text.contains("np.asarray(x"), "{text}");
        assert!(text.ends_with(&format!("found dtype {dtype}")), "{text}");
    }
    let mut records = npy("xxxxxxxxxxxx", "(2,)", &[0; 8]);
    let start = records
        .windows(14)
        .position(|w| w == b"'xxxxxxxxxxxx'")
        .unwrap();
    records[start..start + 14].copy_from_slice(b"[('a', '<f4')]");
    assert!(error(records).ends_with("found dtype [('a', '<f4')]"));
    assert!(
        error(npy("<f4", "(2, 1)", &floats([1.0, f32::NAN])))
            .contains("expected finite numbers, found NaN in example 1")
    );
    assert_eq!(
        error(npy("<f4", "(3, 1)", &floats([1.0, 2.0, 3.0]))),
        "DIR/y.npy: expected one value for each of the 3 examples of DIR/x.npy, found shape [2]"
    );
    // Numbers and images of four channels.
    let four = error(npy("|u1", "(2, 2, 2, 4)", &[0; 32]));
    assert!(
        four.contains("expected images of 1 or 3 channels")
            && four.ends_with("found bytes of shape [2, 2, 2, 4]"),
        "{four}"
    );
    assert!(error(npy("|u1", "(2, 4, 2, 2)", &[0; 32])).contains("images of 1 or 3 channels"));
}

/// An array of one number has no dimension.
#[test]
fn a_number_alone_is_no_array_of_examples() {
    let (x, y) = (npy("<f4", "(2, 1)", &[0; 8]), npy("<i8", "()", &longs([3])));
    let root = folder(&[("x.npy", &x), ("y.npy", &y)]);
    assert_eq!(
        message(&root, "npy:DIR/x.npy,DIR/y.npy", plain()),
        "DIR/y.npy: expected one value for each of the 2 examples of DIR/x.npy, found shape []"
    );
    let text = message(&root, "npy:DIR/y.npy,DIR/x.npy", plain());
    assert!(text.contains("holds no examples"), "{text}");
}

#[test]
fn a_packed_array_has_a_limit() {
    let x = npy("|u1", "(67108865, 1)", &vec![0; (1 << 26) + 1]);
    let y = npy("|u1", "(1,)", &[0]);
    let files = [("x.npy", &x[..]), ("y.npy", &y[..])];
    let root = folder(&[("bomb.npz", &zip(&files, true))]);
    let text = message(&root, "npz:DIR/bomb.npz", plain());
    assert!(
        text.starts_with(
            "DIR/bomb.npz/x.npy: expected at most 67108864 bytes in a compressed array, found 671"
        ),
        "{text}"
    );
    assert!(text.ends_with("use np.savez"), "{text}");
    // An array that is stored as it is has none.
    let root = folder(&[("plain.npz", &zip(&files, false))]);
    let text = message(&root, "npz:DIR/plain.npz", plain());
    assert!(
        text.contains("one value for each of the 67108865 examples"),
        "{text}"
    );
    let root = folder(&[("empty.npz", &zip(&[], true))]);
    let text = message(&root, "npz:DIR/empty.npz", plain());
    assert!(text.ends_with("found an empty archive"), "{text}");
}

/// The black images come first.
#[test]
fn images_that_are_sorted_by_class_are_scaled_by_all_classes() {
    let pixels: Vec<u8> = (0..3000 * 4)
        .map(|i| 255 * u8::from(i >= 1500 * 4))
        .collect();
    let root = folder(&[
        ("x.npy", &npy("|u1", "(3000, 2, 2)", &pixels)),
        (
            "y.npy",
            &npy("<i8", "(3000,)", &longs((0..3000).map(|i| i / 1500))),
        ),
    ]);
    let x = inputs(&read(
        &root,
        "npy:DIR/x.npy,DIR/y.npy",
        ReadOptions::default(),
    ));
    let mean = x.iter().sum::<f32>() / x.len() as f32;
    let variance = x.iter().map(|x| x * x).sum::<f32>() / x.len() as f32;
    // Three standard deviations of the mean of 1000 of them.
    assert!(
        mean.abs() < 0.1 && (variance - 1.0).abs() < 0.1,
        "{mean} {variance}"
    );
}
