//! Tests fused programs against an interpreter that computes one element at a time, step by step.

use burn_backend::TensorData;
use burn_flex::FlexTensor;
use fedround_kernels::fused::{Binary, FusedError, FusedProgram, Reductions, Step, Unary};
use proptest::prelude::*;

fn tensor(values: Vec<f32>, shape: &[usize]) -> FlexTensor {
    FlexTensor::from_data(TensorData::new(values, shape.to_vec()))
}

/// Values in -4..4, some of them 0.
fn numbers(len: usize, seed: usize) -> Vec<f32> {
    (0..len)
        .map(|i| ((i * 7919 + seed * 104_729) % 1009) as f32 / 126.0 - 4.0)
        .map(|v| if v.abs() < 0.05 { 0.0 } else { v })
        .collect()
}

fn truth(holds: bool) -> f64 {
    f64::from(u8::from(holds))
}

fn unary(function: Unary, x: f64) -> f64 {
    match function {
        Unary::Neg => -x,
        Unary::Abs => x.abs(),
        Unary::Sign => {
            // The sign of -0 and of a NaN is 0.
            if x == 0.0 || x.is_nan() {
                0.0
            } else {
                x.signum()
            }
        }
        Unary::Floor => x.floor(),
        Unary::Sqrt => x.sqrt(),
        Unary::Exp => x.exp(),
        Unary::Log => x.ln(),
        Unary::Log1p => x.ln_1p(),
        Unary::Tanh => x.tanh(),
        Unary::Sigmoid => 1.0 / (1.0 + (-x).exp()),
        Unary::Erf => libm::erf(x),
        Unary::Sin => x.sin(),
        Unary::Cos => x.cos(),
        Unary::Relu => {
            if x <= 0.0 {
                0.0
            } else {
                x
            }
        }
        Unary::Clamp { min, max } => x.clamp(min.into(), max.into()),
        Unary::Powf(power) => x.powf(power.into()),
        Unary::Not => truth(x == 0.0),
    }
}

fn binary(function: Binary, a: f64, b: f64) -> f64 {
    match function {
        Binary::Add => a + b,
        Binary::Sub => a - b,
        Binary::Mul => a * b,
        Binary::Div => a / b,
        Binary::Pow => a.powf(b),
        Binary::Greater => truth(a > b),
        Binary::GreaterEqual => truth(a >= b),
        Binary::Less => truth(a < b),
        Binary::LessEqual => truth(a <= b),
        Binary::Equal => truth(a == b),
        Binary::NotEqual => truth(a != b),
        Binary::And => truth(a != 0.0 && b != 0.0),
        Binary::Or => truth(a != 0.0 || b != 0.0),
        Binary::ReluGrad => {
            if a <= 0.0 {
                0.0
            } else {
                b
            }
        }
    }
}

/// The value of every step for one element, each rounded to `f32`.
fn interpret(steps: &[Step], operands: impl Fn(usize) -> f32) -> Vec<f32> {
    let mut values: Vec<f32> = Vec::new();
    for step in steps {
        let at = |i: usize| f64::from(values[i]);
        values.push(match *step {
            Step::Operand(i) => operands(i),
            Step::Constant(value) => value,
            Step::Unary(function, x) => unary(function, at(x)) as f32,
            Step::Binary(function, a, b) => binary(function, at(a), at(b)) as f32,
            Step::MulAdd(a, x, y) => values[a] + values[x] * values[y],
            Step::MulSub(a, x, y) => values[a] - values[x] * values[y],
            Step::Select(mask, a, b) => values[if at(mask) != 0.0 { a } else { b }],
        });
    }
    values
}

/// Whether two numbers are equal, or equal up to rounding. A difference of two inexact and nearly equal numbers would have a
/// large relative error, so the random programs of the tests apply inexact functions to operands only.
fn close(ours: f32, exact: f32) -> bool {
    ours == exact
        || (ours.is_nan() && exact.is_nan())
        || (ours - exact).abs() <= 4e-7 * exact.abs().max(f32::MIN_POSITIVE)
}

const UNARY: [Unary; 21] = [
    Unary::Neg,
    Unary::Abs,
    Unary::Sign,
    Unary::Floor,
    Unary::Sqrt,
    Unary::Exp,
    Unary::Log,
    Unary::Log1p,
    Unary::Tanh,
    Unary::Sigmoid,
    Unary::Erf,
    Unary::Sin,
    Unary::Cos,
    Unary::Relu,
    Unary::Clamp {
        min: -1.5,
        max: 0.5,
    },
    Unary::Powf(1.0),
    Unary::Powf(2.0),
    Unary::Powf(3.0),
    Unary::Powf(-0.5),
    Unary::Powf(-2.0),
    Unary::Not,
];

const BINARY: [Binary; 14] = [
    Binary::Add,
    Binary::Sub,
    Binary::Mul,
    Binary::Div,
    Binary::Pow,
    Binary::Greater,
    Binary::GreaterEqual,
    Binary::Less,
    Binary::LessEqual,
    Binary::Equal,
    Binary::NotEqual,
    Binary::And,
    Binary::Or,
    Binary::ReluGrad,
];

#[test]
fn every_function_agrees_with_its_definition() {
    let (a, b) = (numbers(2500, 1), numbers(2500, 2));
    let mut steps = vec![Step::Operand(0), Step::Operand(1)];
    steps.extend(UNARY.map(|function| Step::Unary(function, 0)));
    steps.extend(BINARY.map(|function| Step::Binary(function, 0, 1)));
    steps.push(Step::Select(15, 0, 1));
    let outputs: Vec<usize> = (2..steps.len()).collect();
    let program = FusedProgram::new(steps.clone(), outputs.clone(), vec![]).unwrap();
    let operands = vec![tensor(a.clone(), &[2500]), tensor(b.clone(), &[2500])];
    let results = program.run(operands, &[2500]).unwrap().outputs;
    for i in 0..a.len() {
        let exact = interpret(&steps, |operand| [a[i], b[i]][operand]);
        for (result, value) in results.iter().zip(&outputs) {
            let ours = result.storage::<f32>()[i];
            assert!(
                close(ours, exact[*value]),
                "{:?} of {} and {}: {ours} and {}",
                steps[*value],
                a[i],
                b[i],
                exact[*value]
            );
        }
    }
}

/// A step of functions that are exact in `f32`, over any earlier values.
fn step() -> impl Strategy<Value = (usize, usize, usize, usize, usize)> {
    (0..4usize, 0..16usize, 0..100usize, 0..100usize, 0..100usize)
}

/// A random program that begins with four operands and a constant.
fn steps(drawn: &[(usize, usize, usize, usize, usize)]) -> Vec<Step> {
    let mut steps: Vec<Step> = (0..4).map(Step::Operand).collect();
    steps.push(Step::Constant(0.75));
    for (kind, function, a, b, c) in drawn {
        let n = steps.len();
        let exact = [
            Unary::Neg,
            Unary::Abs,
            Unary::Sign,
            Unary::Sqrt,
            Unary::Relu,
            Unary::Not,
        ];
        steps.push(match kind {
            0 => Step::Unary(exact[function % 6], a % n),
            1 => match function % 3 {
                0 => Step::MulAdd(a % n, b % n, c % n),
                1 => Step::MulSub(a % n, b % n, c % n),
                _ => Step::Select(a % n, b % n, c % n),
            },
            _ => {
                let function = BINARY[function % BINARY.len()];
                let function = if function == Binary::Pow {
                    Binary::Add
                } else {
                    function
                };
                Step::Binary(function, a % n, b % n)
            }
        });
    }
    steps
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn programs_agree_with_the_interpreter(
        drawn in prop::collection::vec(step(), 1..20),
        outputs in prop::collection::vec(0..100usize, 0..4),
        sums in prop::collection::vec(0..100usize, 0..4),
        leading in prop::collection::vec(0..100usize, 0..3),
        (m, n) in prop_oneof![
            (1..70usize, 1..90usize), (1..9usize, 120..300usize), (1..4usize, 900..1300usize),
        ],
        forms in [0..4usize, 0..4usize, 0..5usize, 0..5usize],
    ) {
        let steps = steps(&drawn);
        let outputs: Vec<usize> = outputs.into_iter().map(|o| o % steps.len()).collect();
        let sums: Vec<usize> = sums.into_iter().map(|o| o % steps.len()).collect();
        let leading: Vec<usize> = leading.into_iter().map(|o| o % steps.len()).collect();
        let reductions = Reductions {
            all: sums.clone(), leading: leading.clone(), channels: vec![],
        };
        let program = FusedProgram::with_reductions(
            steps.clone(), outputs.clone(), reductions,
        ).unwrap();
        // A program need not load all operands.
        let values: Vec<Vec<f32>> = (0..4).map(|i| numbers(m * n, i + 1)).collect();
        let operands: Vec<FlexTensor> = (0..4).map(|i| match forms[i] {
            0 | 4 => tensor(values[i].clone(), &[m, n]),
            1 => tensor(values[i][..1].to_vec(), &[1]),
            2 => tensor(values[i][..n].to_vec(), &[1, n]),
            _ => tensor(values[i][..m].to_vec(), &[m, 1]),
        }).collect();
        let at = |operand: usize, i: usize| values[operand][match forms[operand] {
            0 | 4 => i,
            1 => 0,
            2 => i % n,
            _ => i / n,
        }];
        // Some operands are shared, so that their buffers cannot be reused.
        let _kept: Vec<FlexTensor> = operands.iter().zip(forms)
            .filter(|(_, form)| *form == 4).map(|(t, _)| t.clone()).collect();
        let results = program.run(operands, &[m, n]).unwrap();
        let exact: Vec<Vec<f32>> = (0..m * n).map(|i| interpret(&steps, |o| at(o, i))).collect();
        for (result, value) in results.outputs.iter().zip(&outputs) {
            for (ours, exact) in result.storage::<f32>().iter().zip(&exact) {
                let exact = exact[*value];
                prop_assert!(*ours == exact || (ours.is_nan() && exact.is_nan()), "{} {}", ours, exact);
            }
        }
        // Rows are added one after another, as in burn-flex.
        for (ours, value) in results.leading_sums.iter().zip(&leading) {
            prop_assert_eq!(&ours.layout().shape()[..], &[1, n]);
            for (j, ours) in ours.storage::<f32>().iter().enumerate() {
                let column = (0..m).map(|i| exact[i * n + j][*value]);
                let exact = column.fold(0.0, |sum, v| sum + v);
                prop_assert!(*ours == exact || (ours.is_nan() && exact.is_nan()), "{} {}", ours, exact);
            }
        }
        for (ours, value) in results.sums.iter().zip(&sums) {
            let terms = || exact.iter().map(|values| f64::from(values[*value]));
            let (sum, size) = terms().fold((0.0, 0.0), |(s, z), v| (s + v, z + v.abs()));
            let same = (f64::from(*ours) - sum).abs() <= 1e-5 * size;
            // Sums that overflow or meet an infinity are not compared.
            prop_assert!(same || !sum.is_finite() || size > 1e37, "{} {}", ours, sum);
        }
    }
}

/// A constant has a register of its own from the first step on, even if an earlier step frees another register.
#[test]
fn a_constant_after_the_steps_that_free_a_register() {
    let steps = vec![
        Step::Operand(0),
        Step::Unary(Unary::Neg, 0),
        Step::Unary(Unary::Abs, 1),
        Step::Constant(0.5),
        Step::Binary(Binary::Mul, 2, 3),
    ];
    let program = FusedProgram::new(steps, vec![4], vec![]).unwrap();
    let results = program
        .run(vec![tensor(vec![1.0, 2.0], &[2])], &[2])
        .unwrap();
    assert_eq!(results.outputs[0].storage::<f32>(), [0.5, 1.0]);
}

/// Sums of an operand use its values, although an output overwrites its buffer.
#[test]
fn views_and_empty_tensors() {
    let steps = vec![
        Step::Operand(0),
        Step::Operand(1),
        Step::Binary(Binary::Sub, 0, 1),
    ];
    let program = FusedProgram::new(steps, vec![2], vec![2]).unwrap();
    let wide = tensor((0..24).map(|v| v as f32).collect(), &[4, 6]);
    let view = wide.narrow(0, 1, 2).narrow(1, 2, 3).transpose(0, 1);
    let tail = wide.narrow(0, 3, 1);
    let results = program
        .run(vec![view, tail.narrow(1, 4, 2)], &[3, 2])
        .unwrap();
    let expected = [-14.0, -9.0, -13.0, -8.0, -12.0, -7.0];
    assert_eq!(results.outputs[0].storage::<f32>(), expected);
    assert_eq!(results.sums, [-63.0]);
    // A part of a buffer is read in place.
    let results = program
        .run(vec![tail, tensor(vec![1.0], &[1])], &[1, 6])
        .unwrap();
    assert_eq!(results.sums, [117.0]);
    for (a, b, shape) in [(&[0, 3], &[1, 3], &[0, 3]), (&[2, 0], &[2, 1], &[2, 0])] {
        let len = |shape: &[usize; 2]| shape.iter().product::<usize>();
        let operands = vec![tensor(vec![1.0; len(a)], a), tensor(vec![1.0; len(b)], b)];
        let results = program.run(operands, shape).unwrap();
        assert_eq!(results.outputs[0].layout().shape()[..], shape[..]);
        assert_eq!(results.sums, [0.0]);
    }
}

#[test]
fn wrong_programs_and_operands_are_refused() {
    let order = FusedProgram::new(vec![Step::Unary(Unary::Neg, 0)], vec![0], vec![]);
    assert_eq!(order, Err(FusedError::Order { step: 0, value: 0 }));
    let missing = FusedProgram::new(vec![Step::Operand(0)], vec![], vec![1]);
    assert_eq!(missing, Err(FusedError::NoStep { value: 1, steps: 1 }));
    let program = FusedProgram::new(vec![Step::Operand(0)], vec![0], vec![]).unwrap();
    let run = |operands| program.run(operands, &[2, 3]).map(|_| ());
    let (expected, found) = (1, 0);
    assert_eq!(run(vec![]), Err(FusedError::Operands { expected, found }));
    let wrong = run(vec![tensor(vec![0.0; 2], &[2])]);
    assert!(matches!(wrong, Err(FusedError::Shape { operand: 0, .. })));
    let ints = FlexTensor::from_data(TensorData::new(vec![1i32; 6], [2, 3]));
    assert!(matches!(
        run(vec![ints]),
        Err(FusedError::Type { operand: 0, .. })
    ));
}

/// A scalar of a program is computed once, however often it is read.
#[test]
fn a_factor_that_is_squared_again_and_again() {
    let mut steps = vec![Step::Operand(0), Step::Operand(1), Step::Constant(1.0)];
    for last in 2..42 {
        steps.push(Step::Binary(Binary::Mul, last, last));
    }
    let factor = steps.len() - 1;
    steps.push(Step::Binary(Binary::Mul, factor, 1));
    steps.push(Step::Binary(Binary::Add, 0, factor + 1));
    let program = FusedProgram::new(steps, vec![factor + 2], vec![]).unwrap();
    let ones = || tensor(vec![1.0; 4], &[4]);
    let results = program.run(vec![ones(), ones()], &[4]).unwrap();
    assert_eq!(results.outputs[0].storage::<f32>(), [2.0; 4]);
}
