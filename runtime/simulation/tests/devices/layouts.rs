//! Tensors whose dimensions are in another order than their memory.

use fedround_exec::ops::apply;
use fedround_exec::tensor::{from_floats, read};
use fedround_ir::tensor::Op;

use crate::devices;

/// `x − exp(y)`, where `y` is a column that became a row, or images whose one channel came from the end.
#[test]
fn dimensions_of_size_1_can_be_anywhere() {
    let cases: [(&[usize], &[usize], &[usize]); 3] = [
        (&[8, 1], &[1, 0], &[1, 8]),
        (&[4, 8, 1], &[0, 2, 1], &[4, 1, 8]),
        (&[4, 8, 8, 1], &[0, 3, 1, 2], &[4, 1, 8, 8]),
    ];
    for device in devices() {
        let open = device.open().unwrap();
        for (shape, axes, to) in cases {
            let n: usize = shape.iter().product();
            let of = |scale: f32| (0..n).map(move |i| scale * i as f32);
            let one = |op, operands: Vec<_>| {
                let mut operands = operands.into_iter();
                apply(&op, &open, || operands.next()).unwrap().0
            };
            let x = from_floats(of(1.0).collect(), to, &open);
            let y = from_floats(of(0.001).collect(), shape, &open);
            let y = one(Op::Permute(axes.to_vec()), vec![y]);
            let found = read(one(Op::Sub, vec![x, one(Op::Exp, vec![y])])).unwrap();
            let expected = of(1.0).zip(of(0.001)).map(|(x, y)| x - y.exp());
            for (i, (found, expected)) in found.into_iter().zip(expected).enumerate() {
                let close = (found - expected).abs() < 1e-4;
                assert!(
                    close,
                    "{shape:?} on {device}: element {i} is {found}, not {expected}"
                );
            }
        }
    }
}
