//! Arrays that NumPy writes in less common forms.

use fedround_data::ReadOptions;

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
