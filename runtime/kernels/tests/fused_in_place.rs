//! Tests fused programs whose outputs take the buffers of operands.

use burn_backend::TensorData;
use burn_flex::FlexTensor;
use fedround_kernels::fused::{Binary, FusedProgram, Step, Unary};

fn tensor(values: Vec<f32>, shape: &[usize]) -> FlexTensor {
    FlexTensor::from_data(TensorData::new(values, shape.to_vec()))
}

fn numbers(len: usize, seed: usize) -> Vec<f32> {
    let value = |i: usize| ((i * 7919 + seed * 104_729) % 1009) as f32 / 126.0 - 4.0;
    (0..len).map(value).collect()
}

#[test]
fn a_buffer_that_nobody_shares_is_reused() {
    let program = FusedProgram::new(
        vec![
            Step::Operand(0),
            Step::Operand(1),
            Step::Binary(Binary::Add, 0, 1),
            Step::Binary(Binary::Sub, 0, 1),
        ],
        vec![2, 3],
        vec![],
    )
    .unwrap();
    // The second size does not fit in a cache.
    for len in [3000, 200_003] {
        let (a, b) = (
            tensor(numbers(len, 1), &[len]),
            tensor(numbers(len, 2), &[len]),
        );
        let at = [&a, &b].map(|t| t.storage::<f32>().as_ptr());
        let [x, y] = [&a, &b].map(|t| t.storage::<f32>().to_vec());
        let results = program.run(vec![a, b], &[len]).unwrap().outputs;
        assert_eq!([0, 1].map(|i| results[i].storage::<f32>().as_ptr()), at);
        for i in 0..len {
            assert_eq!(results[0].storage::<f32>()[i], x[i] + y[i]);
            assert_eq!(results[1].storage::<f32>()[i], x[i] - y[i]);
        }
        assert!(results.iter().all(FlexTensor::is_unique));

        let kept = results[0].clone();
        let shared = program.run(results, &[len]).unwrap().outputs;
        assert_eq!(kept.storage::<f32>()[7], x[7] + y[7]);
        assert_eq!(shared[0].storage::<f32>()[7], (x[7] + y[7]) + (x[7] - y[7]));
    }
}

#[test]
fn an_operand_that_is_an_output_keeps_its_values() {
    let steps = vec![Step::Operand(0), Step::Unary(Unary::Neg, 0)];
    let program = FusedProgram::new(steps, vec![1, 0], vec![0]).unwrap();
    let results = program
        .run(vec![tensor(vec![1.0, 2.0], &[2])], &[2])
        .unwrap();
    assert_eq!(results.outputs[0].storage::<f32>(), [-1.0, -2.0]);
    assert_eq!(results.outputs[1].storage::<f32>(), [1.0, 2.0]);
    assert_eq!(results.sums, [3.0]);
}
