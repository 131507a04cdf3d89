//! Arrays that NumPy writes in less common forms.

use fedround_data::ReadOptions;

use super::arrays::{floats, npy, plain};
use super::{folder, inputs, read};

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
