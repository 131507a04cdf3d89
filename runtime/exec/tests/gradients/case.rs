//! A test case: a function at a point, and the checks of its value and its gradients there.

use std::sync::Once;

use burn::tensor::{DType, Device, FloatDType, IntDType, Tensor, TensorData};
use fedround_exec::executor::{Plan, Slots};
use fedround_ir::Loc;
use fedround_ir::tensor::{Graph, Val};
use fedround_passes::autodiff::grad;
use fedround_passes::tensor::{fuse, fuse_elementwise, optimize};
use fedround_trace::trace_function;

use crate::gradients::differences::{component, direction, slope};

pub type Function<'a> = &'a dyn Fn(&[Tensor<4>]) -> Tensor<1>;

/// burn's CPU device. Tensors that a function creates without a type are `f64` there, like its inputs.
pub fn device() -> Device {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let floats = (FloatDType::F64, IntDType::I32);
        Device::default().configure(floats).unwrap();
        _ = Device::default().autodiff().configure(floats);
    });
    Device::default()
}

/// A smooth scalar of a tensor that weighs each element differently: `Σ cᵢ yᵢ + ½ yᵢ²`. An
/// element that is swapped with another changes it, and it has a second derivative.
pub fn weigh<const D: usize>(y: Tensor<D>) -> Tensor<1> {
    let n = y.shape().num_elements();
    let y = y.reshape([n]);
    let weights: Vec<f64> = (0..n).map(|i| (1.0 + i as f64).cos()).collect();
    let options = (&y.device(), y.dtype());
    let weights = Tensor::<1>::from_data(TensorData::new(weights, [n]), options);
    (y.clone() * weights).sum() + (y.clone() * y).sum().mul_scalar(0.5)
}

/// The values of all inputs, in the order of their elements.
pub type Point = Vec<Vec<f64>>;

/// A function's name and the point that it is checked at.
pub struct Case {
    name: String,
    seed: u64,
    shapes: Vec<[usize; 4]>,
    point: Point,
}

impl Case {
    pub fn new(name: &str, seed: u32) -> Self {
        Self {
            name: name.to_owned(),
            seed: u64::from(seed),
            shapes: vec![],
            point: vec![],
        }
    }

    /// The values of the inputs.
    pub fn point(&self) -> &Point {
        &self.point
    }

    /// An input of evenly spaced values in a random order: no two are so close that a difference
    /// swaps a maximum, and none is 0 where `low + high` is an odd number of tenths.
    pub fn input(mut self, shape: [usize; 4], low: f64, high: f64) -> Self {
        let n: usize = shape.iter().product();
        let seed = self.seed + self.shapes.len() as u64;
        let order = fedround_random::permutation(n, fedround_random::StreamKey::root(seed));
        let value = |i: usize| low + (high - low) * (i as f64 + 0.5) / n as f64;
        // The values are rounded to `f32`, so that all sides start from the same point.
        let value = |i: usize| f64::from(value(i) as f32);
        self.point.push(order.into_iter().map(value).collect());
        self.shapes.push(shape);
        self
    }

    /// Checks, of the function as traced, imported, differentiated and run on Flex in `f32`:
    ///
    /// - its value against burn's in `f64`, to 1e-5 of it or of 1;
    /// - its gradient against burn's autodiff in `f64`, to 1e-4 of the largest element, and a few
    ///   elements against central differences of burn's value;
    /// - the gradient of `⟨gradient, v⟩` against central differences of burn's gradient along `v`,
    ///   to 1e-3 of the largest element.
    ///
    /// Differences are taken in `f64` with a step of 1e-5, where they are good to 1e-8; so the
    /// tolerances are those of `f32` arithmetic alone.
    pub fn check(&self, f: Function<'_>) {
        let first = |point: &Point| self.burns(f, point).1;
        let ours = self.first_order(f, first);
        let steps = |k: usize, n: usize| [0, n / 2, n - 1].map(|i| (k, i));
        for (k, i) in (0..ours.len()).flat_map(|k| steps(k, ours[k].len())) {
            let d = self.partial(f, &self.point, k, i);
            let scale = ours[k].iter().fold(1e-2f64, |m, x| m.max(x.abs()));
            let close = (ours[k][i] - d).abs() <= 1e-4 * scale;
            let name = &self.name;
            assert!(
                close,
                "{name}: {} at {k}[{i}], differences give {d}",
                ours[k][i]
            );
        }
        self.second_order(f, 1e-5, first);
    }

    /// The same without burn's autodiff, for functions whose gradient it gets wrong or lacks:
    /// differences of values in every element, and of those with a wider step.
    pub fn check_by_differences(&self, f: Function<'_>) {
        let first = |point: &Point| -> Point {
            let partials =
                |k: usize| (0..point[k].len()).map(move |i| self.partial(f, point, k, i));
            (0..point.len()).map(|k| partials(k).collect()).collect()
        };
        self.first_order(f, first);
        self.second_order(f, 1e-3, first);
    }

    /// Value and gradient alone against burn's: for functions with stopped gradients, which
    /// differences do not know of, or that burn computes in `f32`, which is too coarse for them.
    pub fn check_first_order(&self, f: Function<'_>) {
        self.first_order(f, |point| self.burns(f, point).1);
    }

    fn first_order(&self, f: Function<'_>, expected: impl Fn(&Point) -> Point) -> Point {
        let (value, ours, _) = self.ours(f);
        self.close("value", &[value], &[self.value(f, &self.point)], 1e-5, 1.0);
        for (k, (ours, expected)) in ours.iter().zip(&expected(&self.point)).enumerate() {
            self.close(
                &format!("gradient of input {k}"),
                ours,
                expected,
                1e-4,
                1e-2,
            );
        }
        ours
    }

    fn second_order(&self, f: Function<'_>, step: f64, first: impl Fn(&Point) -> Point) {
        let (_, _, ours) = self.ours(f);
        let along: Point = self.shapes.iter().map(|s| direction(s)).collect();
        let expected = slope(&self.point, &along, step, first);
        for (k, (ours, expected)) in ours.iter().zip(&expected).enumerate() {
            self.close(
                &format!("second gradient of input {k}"),
                ours,
                expected,
                1e-3,
                1e-2,
            );
        }
    }

    /// The central difference of the value in one element.
    fn partial(&self, f: Function<'_>, point: &Point, k: usize, i: usize) -> f64 {
        let mut along: Point = point.iter().map(|p| vec![0.0; p.len()]).collect();
        along[k][i] = 1.0;
        slope(point, &along, 1e-5, |point| {
            vec![vec![self.value(f, point)]]
        })[0][0]
    }

    pub fn trace(&self, f: Function<'_>) -> Graph {
        trace_function(&self.name, &self.shapes, f).unwrap()
    }

    /// Runs a graph over the case's inputs.
    pub fn run(&self, graph: &Graph) -> Vec<Vec<f64>> {
        let data = |(shape, v): (&[usize; 4], &Vec<f64>)| TensorData::new(v.clone(), *shape);
        run_graph(graph, self.shapes.iter().zip(&self.point).map(data))
    }

    /// As the CPU runs them, fused: value, gradient, and gradient of the gradient's component along [`direction`].
    fn ours(&self, f: Function<'_>) -> (f64, Point, Point) {
        let mut graph = self.trace(f);
        let wrt: Vec<Val> = graph.inputs.iter().map(|(_, v)| *v).collect();
        let loss = graph.outputs[0].1;
        let first = grad(&mut graph, loss, &wrt, Loc::caller()).unwrap();
        let along = component(&mut graph, &first);
        let second = grad(&mut graph, along, &wrt, Loc::caller()).unwrap();
        for (i, g) in first.into_iter().chain(second).enumerate() {
            graph.outputs.push((format!("d{i}"), g));
        }
        graph.verify().unwrap();
        let plain = optimize(graph).unwrap();
        let fused = fuse(&plain).and_then(|g| fuse_elementwise(&g)).unwrap();
        let outputs = self.run(&fused);
        for (fused, plain) in outputs.iter().zip(self.run(&plain)) {
            self.close("fused", fused, &plain, 1e-4, 1e-2);
        }
        let mut outputs = outputs.into_iter();
        let value = outputs.next().unwrap()[0];
        let first = outputs.by_ref().take(wrt.len()).collect();
        (value, first, outputs.collect())
    }

    fn value(&self, f: Function<'_>, point: &Point) -> f64 {
        f(&self.tensors(&device(), point)).into_scalar()
    }

    /// The value and the gradient by burn, in `f64`.
    pub fn burns(&self, f: Function<'_>, point: &Point) -> (f64, Point) {
        let device = device().autodiff();
        let tensors: Vec<Tensor<4>> = self.tensors(&device, point);
        let tensors: Vec<Tensor<4>> = tensors.into_iter().map(Tensor::require_grad).collect();
        let loss = f(&tensors);
        let value = loss.clone().into_scalar();
        let grads = loss.backward();
        let grad = |t: &Tensor<4>| match t.grad(&grads) {
            Some(g) => g.into_data().iter::<f64>().collect(),
            None => vec![0.0; t.shape().num_elements()],
        };
        (value, tensors.iter().map(grad).collect())
    }

    fn tensors(&self, device: &Device, point: &Point) -> Vec<Tensor<4>> {
        let tensor = |(shape, v): (&[usize; 4], &Vec<f64>)| {
            Tensor::from_data(TensorData::new(v.clone(), *shape), (device, DType::F64))
        };
        self.shapes.iter().zip(point).map(tensor).collect()
    }

    /// Whether two lists agree within a fraction of the largest element, or of `least` if that is larger.
    pub fn close(&self, what: &str, ours: &[f64], expected: &[f64], tolerance: f64, least: f64) {
        assert_eq!(ours.len(), expected.len(), "{}: {what}", self.name);
        let scale = expected.iter().fold(least, |m, x| m.max(x.abs()));
        for (i, (a, b)) in ours.iter().zip(expected).enumerate() {
            let (name, shapes) = (&self.name, &self.shapes);
            let close = (a - b).abs() <= tolerance * scale;
            assert!(
                close,
                "{name}: {what}[{i}] of {shapes:?} is {a}, expected {b}"
            );
        }
    }
}

/// Runs a graph in `f32`.
pub fn run_graph(graph: &Graph, inputs: impl Iterator<Item = TensorData>) -> Vec<Vec<f64>> {
    let device = device();
    let tensor = |data: TensorData| match data.shape().as_slice().len() {
        4 => Tensor::<4>::from_data(data, (&device, DType::F32)).into_dispatch(),
        5 => Tensor::<5>::from_data(data, (&device, DType::F32)).into_dispatch(),
        rank => panic!("an input of rank {rank}"),
    };
    let outputs = Plan::new(graph)
        .run(
            device.as_dispatch(),
            inputs.map(tensor),
            &mut Slots::default(),
        )
        .unwrap();
    let ranks = graph.outputs.iter().map(|(_, v)| graph.shape(*v).len());
    let read = |(t, rank)| match rank {
        1 => Tensor::<1>::from_dispatch(t).into_data(),
        2 => Tensor::<2>::from_dispatch(t).into_data(),
        4 => Tensor::<4>::from_dispatch(t).into_data(),
        5 => Tensor::<5>::from_dispatch(t).into_data(),
        rank => panic!("an output of rank {rank}"),
    };
    let data = outputs.into_iter().zip(ranks).map(read);
    data.map(|d| d.iter::<f64>().collect()).collect()
}

/// A function of one tensor: its name, itself, and the range of values that it is checked on.
pub type Unary = (&'static str, fn(Tensor<4>) -> Tensor<1>, f64, f64);

/// Checks functions of one tensor, each at a point of its range.
pub fn check_all(functions: &[Unary], shape: [usize; 4], seed: u32) {
    for &(name, f, low, high) in functions {
        let case = Case::new(name, seed).input(shape, low, high);
        case.check(&|x| f(x[0].clone()));
    }
}

/// The same by differences alone, see [`Case::check_by_differences`].
pub fn check_all_by_differences(functions: &[Unary], shape: [usize; 4], seed: u32) {
    for &(name, f, low, high) in functions {
        let case = Case::new(name, seed).input(shape, low, high);
        case.check_by_differences(&|x| f(x[0].clone()));
    }
}

/// The settings of all property tests of this binary.
pub fn few_cases() -> proptest::prelude::ProptestConfig {
    proptest::prelude::ProptestConfig {
        cases: 6,
        failure_persistence: None,
        rng_seed: proptest::test_runner::RngSeed::Fixed(7),
        ..Default::default()
    }
}
