//! Compares Winograd's convolutions with exact ones, on one thread: `cargo bench -p fedround-kernels --bench winograd`.
//!
//! The two take turns in one process, so that the load of the machine affects both. For each pass, a row of the table has the
//! fastest time of the exact kernel in microseconds, and its ratio to the time of Winograd's method. An argument selects the
//! rows that contain it.

use std::time::{Duration, Instant};

use burn_backend::{TensorData, TensorMetadata};
use burn_flex::FlexTensor;
use divan::black_box;
use fedround_kernels::{Conv2d, conv2d, conv2d_input_grad, conv2d_weight_grad};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// The numbers of images, channels and filters, the side of an image, and the side of a kernel.
const SHAPES: [[usize; 5]; 37] = [
    [1, 64, 64, 32, 3],
    [10, 64, 64, 32, 3],
    [50, 64, 64, 32, 3],
    [1, 128, 128, 16, 3],
    [10, 128, 128, 16, 3],
    [50, 128, 128, 16, 3],
    [1, 256, 256, 8, 3],
    [10, 256, 256, 8, 3],
    [50, 256, 256, 8, 3],
    [1, 512, 512, 4, 3],
    [2, 512, 512, 4, 3],
    [4, 512, 512, 4, 3],
    [6, 512, 512, 4, 3],
    [8, 512, 512, 4, 3],
    [2, 256, 256, 8, 3],
    [3, 256, 256, 8, 3],
    [1, 512, 512, 7, 3],
    [10, 512, 512, 4, 3],
    [50, 512, 512, 4, 3],
    [16, 64, 64, 56, 3],
    [16, 256, 256, 14, 3],
    [16, 512, 512, 7, 3],
    [10, 3, 32, 32, 3],
    [10, 3, 64, 32, 3],
    [10, 16, 16, 32, 3],
    [10, 32, 32, 32, 3],
    [10, 32, 32, 16, 3],
    [10, 64, 64, 9, 3],
    [10, 64, 64, 5, 3],
    [10, 64, 256, 14, 5],
    [40, 64, 256, 14, 5],
    [50, 64, 256, 14, 5],
    [10, 32, 64, 12, 5],
    [20, 32, 64, 12, 5],
    [50, 64, 64, 16, 5],
    [32, 64, 64, 32, 5],
    [10, 128, 128, 16, 5],
];

const TURNS: usize = 40;

fn main() {
    let wanted = std::env::args().skip(1).find(|arg| !arg.starts_with('-'));
    let wanted = wanted.unwrap_or_default();
    println!("| images, channels to filters, size, window | forward | | input | | weight | |");
    println!("|---|--:|--:|--:|--:|--:|--:|");
    for [batch, channels, filters, size, kernel] in SHAPES {
        let name = format!("{batch}, {channels} to {filters}, {size}x{size}, {kernel}x{kernel}");
        if !name.contains(&wanted) {
            continue;
        }
        print!("| {name} |");
        let x_shape = [batch, channels, size, size];
        let w_shape = [filters, channels, kernel, kernel];
        let (x, w) = (tensor(&x_shape), tensor(&w_shape));
        let [exact, fast] = [true, false].map(|exact| Conv2d {
            padding: [if kernel == 3 { 1 } else { 0 }; 2],
            exact,
            ..Conv2d::default()
        });
        let grad = tensor(&conv2d(&x, &w, None, &exact).shape());
        print_times(|exact_turn| {
            let options = if exact_turn { &exact } else { &fast };
            conv2d(black_box(&x), &w, None, options)
        });
        print_times(|exact_turn| {
            let options = if exact_turn { &exact } else { &fast };
            conv2d_input_grad(&w, black_box(&grad), x_shape, options)
        });
        print_times(|exact_turn| {
            let options = if exact_turn { &exact } else { &fast };
            conv2d_weight_grad(black_box(&x), &grad, w_shape, options)
        });
        println!();
    }
}

fn print_times(run: impl Fn(bool) -> FlexTensor) {
    let mut times: [Vec<Duration>; 2] = Default::default();
    for _ in 0..TURNS {
        for (times, exact) in times.iter_mut().zip([false, true]) {
            let start = Instant::now();
            black_box(run(exact));
            times.push(start.elapsed());
        }
    }
    let [fast, exact] = times.map(|mut times| {
        times.sort();
        times[0].as_secs_f64() * 1e6
    });
    print!(" {exact:.0} | {:.2} |", exact / fast);
}

fn tensor(shape: &[usize]) -> FlexTensor {
    let values: Vec<f32> = (0..shape.iter().product())
        .map(|i: usize| ((i * 7919) % 1000) as f32 / 500.0 - 1.0)
        .collect();
    FlexTensor::from_data(TensorData::new(values, shape.to_vec()))
}
