//! Tests the matrix products against burn-flex's own and against sums in `f64`.

use burn_backend::ops::FloatTensorOps;
use burn_backend::{TensorData, TensorMetadata};
use burn_flex::{Flex, FlexTensor};
use fedround_kernels::{matmul, matmul_update};
use proptest::prelude::*;

/// Pseudo-random values in -1..1.
fn tensor(rows: usize, columns: usize, seed: u64) -> FlexTensor {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let values: Vec<f32> = (0..rows * columns)
        .map(|_| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 40) as f32 / (1u64 << 23) as f32 - 1.0
        })
        .collect();
    FlexTensor::from_data(TensorData::new(values, [rows, columns]))
}

/// The memory layout of an operand.
#[derive(Debug, Clone, Copy)]
struct Form {
    transposed: bool,
    /// A part of a larger matrix, with rows and columns before and after it.
    margin: [usize; 4],
}

fn form() -> impl Strategy<Value = Form> {
    let margin = prop_oneof![Just([0; 4]), [0..5usize, 0..5usize, 0..5usize, 0..5usize]];
    (any::<bool>(), margin).prop_map(|(transposed, margin)| Form { transposed, margin })
}

const PLAIN: Form = Form {
    transposed: false,
    margin: [0; 4],
};

const TRANSPOSED: Form = Form {
    transposed: true,
    margin: [0; 4],
};

fn operand(rows: usize, columns: usize, form: Form, seed: u64) -> FlexTensor {
    let [top, bottom, left, right] = form.margin;
    let (lines, len) = if form.transposed {
        (columns, rows)
    } else {
        (rows, columns)
    };
    let wide = tensor(top + lines + bottom, left + len + right, seed);
    let view = wide.narrow(0, top, lines).narrow(1, left, len);
    if form.transposed {
        view.transpose(0, 1)
    } else {
        view
    }
}

fn values(tensor: &FlexTensor) -> Vec<f32> {
    tensor.to_contiguous().storage::<f32>().to_vec()
}

/// `y + alpha * a · b`, in `f64`.
fn naive(y: &[f32], alpha: f32, a: &FlexTensor, b: &FlexTensor) -> Vec<f64> {
    let (k, n) = (a.shape()[1], b.shape()[1]);
    let (a, b) = (values(a), values(b));
    let sum = |i: usize| -> f64 {
        let terms = (0..k).map(|p| f64::from(a[i / n * k + p]) * f64::from(b[p * n + i % n]));
        terms.sum()
    };
    y.iter()
        .enumerate()
        .map(|(i, y)| f64::from(*y) + f64::from(alpha) * sum(i))
        .collect()
}

/// Asserts equality up to `1e-4` of the largest value.
fn close(ours: &FlexTensor, expected: &[f64], what: &str) {
    let ours = values(ours);
    assert_eq!(ours.len(), expected.len(), "{what}");
    let scale = expected.iter().fold(1.0f64, |m, v| m.max(v.abs()));
    for (i, (a, b)) in ours.iter().zip(expected).enumerate() {
        let error = (f64::from(*a) - b).abs();
        assert!(error <= 1e-4 * scale, "{what}[{i}]: {a} and {b}");
    }
}

/// Fails if `matmul` refuses a product that it supports, or takes one that it leaves to burn-flex: those with a long
/// short side, few rows and a large plain `b`, few terms and a transposed `b`, or two transposed operands. A matrix
/// of one row or column is plain and transposed at once, and is not judged.
fn check_support(sizes: [usize; 3], transposed: [bool; 2], found: Option<&FlexTensor>) {
    let [m, k, n] = sizes;
    let least_terms = match m {
        0..=32 => 64,
        33..=64 => 128,
        _ => 256,
    };
    let expected = match transposed {
        [false, false] => m <= 128 && (m >= 20 || k * n <= 1 << 20),
        [false, true] => m <= 128 && k >= least_terms,
        [true, false] => k <= 128,
        [true, true] => false,
    };
    if !sizes.contains(&1) {
        assert_eq!(found.is_some(), expected, "{sizes:?}, {transposed:?}");
    }
}

fn check([m, k, n]: [usize; 3], a_form: Form, b_form: Form) {
    let (a, b) = (operand(m, k, a_form, 1), operand(k, n, b_form, 2));
    let expected = naive(&vec![0.0; m * n], 1.0, &a, &b);
    let product = matmul(&a, &b);
    let transposed = [a_form.transposed, b_form.transposed];
    check_support([m, k, n], transposed, product.as_ref());
    if let Some(ours) = product {
        assert_eq!(&ours.shape()[..], [m, n]);
        close(&ours, &expected, "product");
        let burns = Flex::float_matmul(a.clone(), b.clone());
        let burns: Vec<f64> = values(&burns).into_iter().map(f64::from).collect();
        close(&ours, &burns, "burn's product");
    }
    let y = tensor(m, n, 3);
    let expected = naive(&values(&y), -0.5, &a, &b);
    let before = y.storage::<f32>().as_ptr();
    let kept = y.clone();
    let shared = matmul_update(y, -0.5, &a, &b);
    close(&shared, &expected, "update of a shared tensor");
    assert_eq!(values(&kept), values(&tensor(m, n, 3)));
    let unique = matmul_update(kept, -0.5, &a, &b);
    assert_eq!(unique.storage::<f32>().as_ptr(), before);
    assert_eq!(values(&unique), values(&shared));
}

#[test]
fn the_benchmark_models_layers() {
    for batch in [1, 10, 20, 50, 64] {
        for [inputs, outputs] in [
            [784, 200],
            [200, 200],
            [200, 10],
            [784, 10],
            [1024, 512],
            [400, 120],
            [120, 84],
            [84, 10],
        ] {
            check([batch, inputs, outputs], PLAIN, PLAIN);
            check([batch, outputs, inputs], PLAIN, TRANSPOSED);
            check([inputs, batch, outputs], TRANSPOSED, PLAIN);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn products_of_any_size(
        m in 1..70usize, k in 1..300usize, n in 1..130usize, a in form(), b in form(),
    ) {
        check([m, k, n], a, b);
    }

    #[test]
    fn narrow_products(
        m in 1..70usize, k in 1..40usize, n in 1..20usize, a in form(), b in form(),
    ) {
        check([m, k, n], a, b);
    }
}

/// `count` operands side by side, as a view where they are transposed.
fn operands(count: usize, rows: usize, columns: usize, transposed: bool, seed: u64) -> FlexTensor {
    let (lines, len) = if transposed {
        (columns, rows)
    } else {
        (rows, columns)
    };
    let all = tensor(count * lines, len, seed).reshape(vec![count, lines, len].into());
    if transposed { all.transpose(1, 2) } else { all }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn products_of_a_batch(
        count in 1..6usize, [m, k, n] in [1..40usize, 1..200usize, 1..60usize],
        transposed in prop_oneof![Just([false; 2]), Just([true, false]), Just([false, true])],
        shared in [any::<bool>(), any::<bool>()],
    ) {
        let own = shared.map(|shared| if shared { 1 } else { count });
        let a = operands(own[0], m, k, transposed[0], 1);
        let b = operands(own[1], k, n, transposed[1], 2);
        let product = matmul(&a, &b);
        check_support([m, k, n], transposed, product.as_ref());
        if let Some(ours) = product {
            let burns = values(&Flex::float_matmul(a, b));
            prop_assert_eq!(&ours.shape()[..], [own[0].max(own[1]), m, n]);
            let burns: Vec<f64> = burns.into_iter().map(f64::from).collect();
            close(&ours, &burns, "burn's products");
        }
    }
}

#[test]
fn batches_of_other_layouts() {
    // These are the heads of an attention, whose rows are parts of longer rows.
    let a = tensor(6, 40, 1)
        .reshape(vec![2, 3, 4, 10].into())
        .transpose(1, 2);
    let b = tensor(20, 12, 2).reshape(vec![2, 1, 10, 12].into());
    let ours = matmul(&a, &b).unwrap();
    assert_eq!(&ours.shape()[..], [2, 4, 3, 12]);
    let burns = values(&Flex::float_matmul(a.clone(), b.clone()));
    let burns: Vec<f64> = burns.into_iter().map(f64::from).collect();
    close(&ours, &burns, "heads");
    let expanded = tensor(3, 10, 1).reshape(vec![1, 3, 10].into());
    let none = matmul(&expanded.narrow(0, 0, 0), &expanded.transpose(1, 2));
    assert!(none.is_none_or(|none| none.shape()[..] == [0, 3, 3]));
    assert!(matmul(&a, &b.narrow(0, 0, 1).reshape(vec![1, 10, 12].into())).is_none());
    assert!(matmul(&a, &operands(3, 10, 12, false, 1)).is_none());
}

#[test]
fn a_row_does_not_depend_on_the_other_rows() {
    for (k, n) in [(200, 200), (784, 10), (10, 200), (512, 84)] {
        let x = tensor(64, k, 1);
        let transpose = tensor(n, k, 2).transpose(0, 1);
        for (transposed, w) in [(false, tensor(k, n, 2)), (true, transpose)] {
            let all = matmul(&x, &w);
            check_support([64, k, n], [false, transposed], all.as_ref());
            let Some(all) = all else { continue };
            for rows in [1, 7, 10, 33] {
                let some = matmul(&x.narrow(0, 64 - rows, rows), &w).unwrap();
                close(
                    &some,
                    &values(&all)[(64 - rows) * n..]
                        .iter()
                        .map(|v| f64::from(*v))
                        .collect::<Vec<_>>(),
                    "rows",
                );
            }
        }
    }
}

#[test]
fn infinity_and_nan_stay_in_their_rows_and_columns() {
    let (m, k, n) = (5, 40, 10);
    let mut a = values(&tensor(m, k, 1));
    a[k] = f32::INFINITY;
    a[2 * k + 39] = f32::NAN;
    let a = FlexTensor::from_data(TensorData::new(a, [m, k]));
    for b in [tensor(k, n, 2), tensor(n, k, 2).transpose(0, 1)] {
        let y = matmul_update(tensor(m, n, 3), 1.0, &a, &b);
        for (i, row) in values(&y).chunks(n).enumerate() {
            for v in row {
                assert_eq!(v.is_finite(), i != 1 && i != 2);
                assert_eq!(v.is_nan(), i == 2);
            }
        }
    }
}

#[test]
fn what_the_kernels_cannot_multiply_is_refused() {
    let (a, b) = (tensor(10, 20, 1), tensor(20, 30, 2));
    assert!(matmul(&a, &b).is_some());
    assert!(matmul(&a, &a).is_none());
    assert!(matmul(&a.narrow(1, 0, 0), &b.narrow(0, 0, 0)).is_none());
    let data: Vec<f64> = vec![0.0; 200];
    let doubles = FlexTensor::from_data(TensorData::new(data, [10, 20]));
    assert!(matmul(&doubles, &b).is_none());
    let square = tensor(2000, 2000, 3);
    assert!(matmul(&square, &square).is_none());
}

#[test]
fn an_update_is_rounded_as_a_product_and_a_sum() {
    // The rows are shorter than a vector, whole vectors, and whole vectors with a part of one.
    for columns in [7, 10, 16, 40, 100] {
        for (form, alpha) in [(PLAIN, -0.1), (TRANSPOSED, 0.3)] {
            let (a, b) = (operand(30, 20, form, 1), tensor(20, columns, 2));
            let y = tensor(30, columns, 3);
            let product = values(&matmul(&a, &b).unwrap());
            let expected: Vec<f32> = values(&y)
                .iter()
                .zip(product)
                .map(|(y, product)| y + alpha * product)
                .collect();
            let ours = values(&matmul_update(y, alpha, &a, &b));
            assert_eq!(ours, expected, "{columns} columns, {form:?}");
        }
    }
}

#[test]
fn an_update_by_no_terms_is_the_tensor() {
    let y = tensor(3, 4, 1);
    let a = tensor(3, 5, 2).narrow(1, 0, 0);
    let b = tensor(5, 4, 3).narrow(0, 0, 0);
    assert_eq!(values(&matmul_update(y.clone(), 2.0, &a, &b)), values(&y));
    // Here, the rows of the transpose are not contiguous either.
    let y = tensor(4, 3, 1).transpose(0, 1);
    let sum = matmul_update(y.clone(), 1.0, &tensor(3, 5, 2), &tensor(5, 4, 3));
    close(
        &sum,
        &naive(&values(&y), 1.0, &tensor(3, 5, 2), &tensor(5, 4, 3)),
        "view",
    );
}
