//! Arrays that NumPy writes in less common forms.

use fedround_data::{InputEncoding, ReadOptions};

use super::arrays::{floats, npy, plain};
use super::{folder, inputs, message, read};

/// What `DataFrame.to_numpy` gives.
#[test]
fn arrays_may_be_in_the_order_of_fortran() {
    let mut x = npy(
        "<f4",
        "(4, 2)",
        &floats([0.0, 1.0, 2.0, 3.0, 10.0, 11.0, 12.0, 13.0]),
    );
    let start = x.windows(5).position(|w| w == b"False").unwrap();
    x[start..start + 5].copy_from_slice(b"True ");
    let y = npy("|u1", "(4,)", &[0, 1, 0, 1]);
    let root = folder(&[("x.npy", &x), ("y.npy", &y)]);
    let data = read(&root, "npy:DIR/x.npy,DIR/y.npy", plain());
    let x = inputs(&data);
    assert!(x.chunks(2).all(|row| row[1] == row[0] + 10.0), "{x:?}");
}

#[test]
fn arrays_may_have_half_precision() {
    let halves = [0x3c00u16, 0xc000, 0x3800, 0x7bff]
        .map(u16::to_le_bytes)
        .concat();
    let x = npy("<f2", "(4, 1)", &halves);
    let y = npy("|u1", "(4,)", &[0, 1, 0, 1]);
    let root = folder(&[("x.npy", &x), ("y.npy", &y)]);
    let all = "npy:DIR/x.npy,DIR/y.npy,DIR/x.npy,DIR/y.npy";
    let reading = ReadOptions {
        test_share: None,
        ..plain()
    };
    assert_eq!(
        inputs(&read(&root, all, reading)),
        [1.0, -2.0, 0.5, 65504.0]
    );
}

/// Hashes, for example, have 64 bits.
#[test]
fn numbers_of_64_bits_without_a_sign_have_a_limit() {
    let y = |last: u64| npy("<u8", "(2, 1)", &[1, last].map(u64::to_le_bytes).concat());
    let x = npy("|u1", "(2, 1)", &[1, 2]);
    let of = |last: u64| folder(&[("x.npy", &x), ("y.npy", &y(last))]);
    let data = read(&of((1 << 63) - 1), "npy:DIR/x.npy,DIR/y.npy", plain());
    assert_eq!(data.class_names, ["1", "9223372036854775807"]);
    assert_eq!(
        message(&of(1 << 63), "npy:DIR/x.npy,DIR/y.npy", plain()),
        "DIR/y.npy: expected whole numbers of at most 9223372036854775807 (as float64 or str, larger ones are read), \
         found 9223372036854775808 in example 1"
    );
}

/// A model is used on arrays, whatever the form of the examples it was trained on.
#[test]
fn new_arrays_become_inputs_as_in_training() {
    let y = npy("|u1", "(4,)", &[0, 1, 0, 1]);
    let encoding = |x: &[u8]| {
        let root = folder(&[("x.npy", x), ("y.npy", &y)]);
        let all = "npy:DIR/x.npy,DIR/y.npy,DIR/x.npy,DIR/y.npy";
        let data = read(&root, all, ReadOptions::default());
        (inputs(&data), InputEncoding::of(&data))
    };
    let encoded = |encoding: &InputEncoding, x: &[u8]| {
        let root = folder(&[("new.npy", x)]);
        let new = encoding.read_array(&root.path().join("new.npy"));
        new.map(|column| {
            let mut x = vec![0.0; encoding.features() * 4];
            column.gather_into(&[0, 1, 2, 3], &mut x).unwrap();
            x
        })
    };
    let error = |encoding: &InputEncoding, x: &[u8]| {
        let error = encoded(encoding, x).unwrap_err().to_string();
        error.split_once("new.npy: ").unwrap().1.to_owned()
    };
    // Numbers: integers become what floats became.
    let numbers = npy("<f4", "(4, 2)", &floats((0..8).map(|i| (i * i) as f32)));
    let (x, of_numbers) = encoding(&numbers);
    assert_eq!(encoded(&of_numbers, &numbers).unwrap(), x);
    let squares: Vec<u8> = (0..8).map(|i| i * i).collect();
    assert_eq!(
        encoded(&of_numbers, &npy("|u1", "(4, 2)", &squares)).unwrap(),
        x
    );
    // Images: channels last, first, or in a row.
    let last: Vec<u8> = (0..4 * 2 * 2 * 3).map(|i| (i * 5) as u8).collect();
    let first = |i: usize| last[i / 12 * 12 + i % 4 * 3 + i % 12 / 4];
    let first: Vec<u8> = (0..last.len()).map(first).collect();
    let (x, of_images) = encoding(&npy("|u1", "(4, 2, 2, 3)", &last));
    for (shape, bytes) in [
        ("(4, 2, 2, 3)", &last),
        ("(4, 3, 2, 2)", &first),
        ("(4, 12)", &first),
    ] {
        assert_eq!(encoded(&of_images, &npy("|u1", shape, bytes)).unwrap(), x);
    }
    // What was not there in training.
    assert_eq!(
        error(&of_images, &npy("|u1", "(2, 2, 3)", &last[..12])),
        "expected examples of shape 3x2x2, as in training (x[None] makes an array of examples of one), found bytes of \
         shape [2, 2, 3]"
    );
    assert_eq!(
        error(&of_numbers, &npy("<f4", "(1, 3)", &floats([1.0; 3]))),
        "expected examples of shape 2, as in training, found floats of shape [1, 3]"
    );
    assert_eq!(
        error(&of_images, &npy("<f4", "(1, 12)", &floats([0.5; 12]))),
        "expected bytes of shape 3x2x2, as in training, found floats"
    );
    assert_eq!(
        error(
            &of_numbers,
            &npy("<f4", "(2, 2)", &floats([0.5, 1.0, f32::NAN, 2.0]))
        ),
        "expected finite numbers, found NaN in example 1"
    );
    let text = npy("<U1", "(1, 2)", &[b'a', 0, 0, 0, b'b', 0, 0, 0]);
    assert_eq!(
        error(&of_numbers, &text),
        "expected numbers of shape 2, as in training, found texts"
    );
}
