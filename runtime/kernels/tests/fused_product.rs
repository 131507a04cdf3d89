//! Tests a program with an added product against the program followed by the product.

use burn_backend::{TensorData, TensorMetadata};
use burn_flex::FlexTensor;
use fedround_kernels::fused::{Binary, FusedError, FusedProgram, Step};
use fedround_kernels::{ScaledProduct, matmul_update};

fn tensor(shape: [usize; 2], seed: usize) -> FlexTensor {
    let value = |i: usize| ((i * 7919 + seed) % 10_007) as f32 / 3e3 - 1.7;
    let values: Vec<f32> = (0..shape[0] * shape[1]).map(value).collect();
    FlexTensor::from_data(TensorData::new(values, shape))
}

/// `w - c (w - w0) + row` and `|w - w0|²`.
fn pull() -> FusedProgram {
    let steps = vec![
        Step::Operand(0),
        Step::Operand(1),
        Step::Operand(2),
        Step::Operand(3),
        Step::Binary(Binary::Sub, 0, 1),
        Step::Binary(Binary::Mul, 4, 2),
        Step::Binary(Binary::Sub, 0, 5),
        Step::Binary(Binary::Add, 6, 3),
        Step::Binary(Binary::Mul, 4, 4),
    ];
    FusedProgram::new(steps, vec![7], vec![8]).unwrap()
}

#[test]
fn rows_are_done_as_a_whole_is() {
    // The sizes give one part, several parts, rows longer than a block, and blocks that are not whole rows.
    for [m, n, k] in [
        [3, 1, 2],
        [130, 10, 9],
        [784, 200, 10],
        [200, 37, 5],
        [90, 2000, 3],
        [61, 1021, 4],
        [4, 5, 0],
        [0, 5, 2],
    ] {
        let (x, g) = (tensor([k, m], 1).transpose(0, 1), tensor([k, n], 2));
        let operands = || {
            let c = FlexTensor::from_data(TensorData::new(vec![0.3f32], [1, 1]));
            vec![tensor([m, n], 3), tensor([m, n], 4), c, tensor([1, n], 5)]
        };
        let apart = pull().run(operands(), &[m, n]).unwrap();
        let expected = matmul_update(apart.outputs[0].clone(), -0.1, &x, &g);
        let product = ScaledProduct::new(-0.1, &x, &g);
        let shared = operands();
        let kept = shared.clone();
        let before = kept[0].storage::<f32>().to_vec();
        for operands in [operands(), shared] {
            let at = operands[0].storage::<f32>().as_ptr();
            let in_place = operands[0].is_unique();
            let joint = pull().run_and_add(operands, &[m, n], &product).unwrap();
            let y = &joint.outputs[0];
            assert_eq!(y.shape()[..], [m, n]);
            assert_eq!(y.storage::<f32>(), expected.storage::<f32>(), "{m} {n} {k}");
            assert!(!in_place || m * n == 0 || y.storage::<f32>().as_ptr() == at);
            let (a, b) = (joint.sums[0], apart.sums[0]);
            assert!((a - b).abs() <= 1e-5 * b.abs(), "{a} and {b}");
        }
        assert_eq!(kept[0].storage::<f32>(), before);
    }
}

/// In place, the update is one loop. Otherwise, and with one more result, it is computed step by step.
#[test]
fn a_pull_has_the_bits_of_its_steps() {
    let steps = vec![
        Step::Operand(0),
        Step::Operand(1),
        Step::Operand(2),
        Step::Constant(-1.0),
        Step::Binary(Binary::Sub, 0, 1),
        Step::Binary(Binary::Mul, 2, 3),
        Step::Binary(Binary::Mul, 5, 4),
        Step::Binary(Binary::Add, 0, 6),
        Step::Binary(Binary::Mul, 4, 4),
    ];
    let loops = FusedProgram::new(steps.clone(), vec![7], vec![8]).unwrap();
    let stepped = FusedProgram::new(steps, vec![7, 4], vec![8]).unwrap();
    for shape in [[784, 200], [3, 21], [1, 1], [0, 4]] {
        let operands = || {
            let c = FlexTensor::from_data(TensorData::new(vec![0.3f32], [1]));
            vec![tensor(shape, 3), tensor(shape, 4), c]
        };
        let ours = loops.run(operands(), &shape).unwrap();
        let theirs = stepped.run(operands(), &shape).unwrap();
        let (a, b) = (&ours.outputs[0], &theirs.outputs[0]);
        assert_eq!(a.storage::<f32>(), b.storage::<f32>());
        assert_eq!(ours.sums, theirs.sums);
        let shared = operands();
        let copied = loops.run(shared.clone(), &shape).unwrap();
        assert_eq!(copied.outputs[0].storage::<f32>(), b.storage::<f32>());
        assert_eq!(copied.sums, ours.sums);
    }
}

/// The updates of FedProx and SCAFFOLD with an added product have the values of the two one after another, in place or not.
#[test]
fn an_update_with_a_product_has_the_bits_of_both() {
    let pull = vec![
        Step::Operand(0),
        Step::Operand(1),
        Step::Operand(2),
        Step::Binary(Binary::Sub, 0, 1),
        Step::Binary(Binary::Mul, 2, 3),
        Step::Binary(Binary::Sub, 0, 4),
        Step::Binary(Binary::Mul, 3, 3),
    ];
    let correction = vec![
        Step::Operand(0),
        Step::Operand(1),
        Step::Operand(2),
        Step::Constant(-1.0),
        Step::Binary(Binary::Mul, 2, 3),
        Step::Binary(Binary::Mul, 4, 1),
        Step::Binary(Binary::Add, 0, 5),
    ];
    let programs = [
        FusedProgram::new(pull, vec![5], vec![6]).unwrap(),
        FusedProgram::new(correction, vec![6], vec![]).unwrap(),
    ];
    // The sizes give several parts, a short last part, rows shorter than a vector and longer than a part, more terms than
    // are added at once, and a single row.
    for [m, n, k] in [
        [784, 200, 10],
        [131, 37, 50],
        [200, 10, 10],
        [3, 5000, 2],
        [40, 64, 130],
        [1, 16, 1],
    ] {
        let (x, g) = (tensor([k, m], 1).transpose(0, 1), tensor([k, n], 2));
        for program in &programs {
            let operands = || {
                let c = FlexTensor::from_data(TensorData::new(vec![0.3f32], [1]));
                vec![tensor([m, n], 3), tensor([m, n], 4), c]
            };
            let apart = program.run(operands(), &[m, n]).unwrap();
            let expected = matmul_update(apart.outputs[0].clone(), -0.1, &x, &g);
            let product = ScaledProduct::new(-0.1, &x, &g);
            let own = program.run_and_add(operands(), &[m, n], &product).unwrap();
            let kept = operands();
            let shared = program
                .run_and_add(kept.clone(), &[m, n], &product)
                .unwrap();
            assert_eq!(kept[0].storage::<f32>(), tensor([m, n], 3).storage::<f32>());
            assert_eq!(own.sums, shared.sums);
            for (sum, expected) in own.sums.iter().zip(&apart.sums) {
                assert!(
                    (sum - expected).abs() <= 1e-5 * expected,
                    "{sum}, {expected}"
                );
            }
            for run in [own, shared] {
                assert_eq!(run.outputs[0].storage::<f32>(), expected.storage::<f32>());
            }
        }
    }
}

#[test]
fn a_product_of_another_shape_is_refused() {
    let product = ScaledProduct::new(1.0, &tensor([3, 2], 0), &tensor([2, 4], 0));
    let operands = vec![
        tensor([4, 3], 0),
        tensor([4, 3], 1),
        tensor([1, 1], 2),
        tensor([1, 3], 3),
    ];
    let error = pull().run_and_add(operands, &[4, 3], &product).unwrap_err();
    let expected = vec![4, 3];
    assert_eq!(
        error,
        FusedError::Product {
            expected,
            found: [3, 4]
        }
    );
}
