//! Imports burn's interpolation and adaptive pools.
//!
//! They are linear in the rows and in the columns of a plane, so they become two matrix products, `y = R x Cᵀ`.
//! `R: [oh, h]` and `C: [ow, w]` are constants that depend on the sizes only.

use std::sync::Arc;

use burn_ir::{InterpolateModeIr as Mode, ModuleOperationIr as Module, TensorIr};
use fedround_ir::tensor::{Constant, Op, Pool2d, TensorType, Val};

use super::{Import, ImportError, shape};

impl Import<'_> {
    pub(super) fn resample(&mut self, op: &Module) -> Result<(), ImportError> {
        match op {
            Module::Interpolate(o) => {
                let corners = o.options.align_corners;
                let weights: fn(usize, usize, bool) -> SparseMatrix = match o.options.mode {
                    Mode::Nearest => nearest,
                    Mode::NearestExact => nearest_exact,
                    Mode::Bilinear => bilinear,
                    Mode::Bicubic => bicubic,
                    _ => return self.unknown(op),
                };
                let x = self.value(&o.x)?;
                let y =
                    self.resample_planes(x, o.output_size, |from, to| weights(from, to, corners))?;
                self.bind(&o.out, y)
            }
            Module::AdaptiveAvgPool2d(o) => {
                let x = self.value(&o.x)?;
                self.adaptive_average(x, o.output_size, &o.out)
            }
            Module::AdaptiveAvgPool1d(o) => {
                let x = self.row(&o.x)?;
                self.adaptive_average(x, [1, o.output_size], &o.out)
            }
            other => self.unknown(other),
        }
    }

    /// The means of windows that cover the plane. It is an ordinary average pool if the sizes divide; otherwise
    /// neighbouring windows overlap.
    fn adaptive_average(
        &mut self,
        x: Val,
        to: [usize; 2],
        out: &TensorIr,
    ) -> Result<(), ImportError> {
        let side = |i: usize| self.graph.shape(x)[2 + i];
        let y = if (0..2).all(|i| side(i) % to[i] == 0) {
            let kernel = [side(0) / to[0], side(1) / to[1]];
            let options = Pool2d {
                kernel,
                stride: kernel,
                padding: [0, 0],
                dilation: [1, 1],
                count_include_pad: true,
            };
            self.push(Op::AvgPool2d(options), &[x])?
        } else {
            self.resample_planes(x, to, windows)?
        };
        let y = self.push(Op::Reshape(shape(out)), &[y])?;
        self.bind(out, y)
    }

    /// Resamples each plane to the size `to`. `weights(from, to)` is the matrix of one direction.
    fn resample_planes(
        &mut self,
        x: Val,
        to: [usize; 2],
        weights: impl Fn(usize, usize) -> SparseMatrix,
    ) -> Result<Val, ImportError> {
        let from = [self.graph.shape(x)[2], self.graph.shape(x)[3]];
        let rows = self.constant(weights(from[0], to[0]), [to[0], from[0]])?;
        let columns = self.constant(weights(from[1], to[1]), [to[1], from[1]])?;
        let columns = self.push(Op::Permute(vec![0, 1, 3, 2]), &[columns])?;
        let product = self.push(Op::MatMul, &[x, columns])?;
        self.push(Op::MatMul, &[rows, product])
    }

    /// A constant `[1, 1, rows, columns]` with the entries of a sparse matrix.
    fn constant(
        &mut self,
        entries: SparseMatrix,
        [rows, columns]: [usize; 2],
    ) -> Result<Val, ImportError> {
        let mut values = vec![0.0; rows * columns];
        for (i, j, w) in entries {
            values[i * columns + j] += w;
        }
        let constant = Constant {
            ty: TensorType::f32([1, 1, rows, columns]),
            values: Arc::from(values),
        };
        self.push(Op::Constant(constant), &[])
    }
}

/// The row, column and weight of each entry of a matrix `[to, from]`. Entries at the same place add up.
type SparseMatrix = Vec<(usize, usize, f64)>;

/// The weights of an adaptive average pool.
fn windows(from: usize, to: usize) -> SparseMatrix {
    let row = |i: usize| {
        let (start, end) = (i * from / to, ((i + 1) * from).div_ceil(to));
        (start..end).map(move |j| (i, j, 1.0 / (end - start) as f64))
    };
    (0..to).flat_map(row).collect()
}

fn nearest(from: usize, to: usize, _: bool) -> SparseMatrix {
    let at = |i: usize| (i as f64 * from as f64 / to as f64) as usize;
    (0..to).map(|i| (i, at(i).min(from - 1), 1.0)).collect()
}

fn nearest_exact(from: usize, to: usize, _: bool) -> SparseMatrix {
    let at = |i: usize| ((i as f64 + 0.5) * from as f64 / to as f64) as usize;
    (0..to).map(|i| (i, at(i).min(from - 1), 1.0)).collect()
}

/// The coordinate of the centre of output `i` in the input.
fn source_coordinate(i: usize, from: usize, to: usize, corners: bool) -> f64 {
    match corners {
        true if to > 1 => i as f64 * (from - 1) as f64 / (to - 1) as f64,
        true => 0.0,
        false => (i as f64 + 0.5) * from as f64 / to as f64 - 0.5,
    }
}

fn bilinear(from: usize, to: usize, corners: bool) -> SparseMatrix {
    let row = |i: usize| {
        let x = source_coordinate(i, from, to, corners).clamp(0.0, (from - 1) as f64);
        let (low, part) = (x.floor() as usize, x.fract());
        [(i, low, 1.0 - part), (i, (low + 1).min(from - 1), part)]
    };
    (0..to).flat_map(row).collect()
}

/// Keys' cubic convolution with a = −3/4. Pixels outside the image are those of its edge.
fn bicubic(from: usize, to: usize, corners: bool) -> SparseMatrix {
    const A: f64 = -0.75;
    let near = |t: f64| ((A + 2.0) * t - (A + 3.0)) * t * t + 1.0;
    let far = |t: f64| ((A * t - 5.0 * A) * t + 8.0 * A) * t - 4.0 * A;
    let row = move |i: usize| {
        let x = source_coordinate(i, from, to, corners);
        let (low, t) = (x.floor() as isize, x - x.floor());
        let weights = [far(t + 1.0), near(t), near(1.0 - t), far(2.0 - t)];
        let at = move |k: usize| (low - 1 + k as isize).clamp(0, from as isize - 1) as usize;
        (0..4).map(move |k| (i, at(k), weights[k]))
    };
    (0..to).flat_map(row).collect()
}
