//! Padding, as burn had it before it became an operation of its own: slices, joined or written into
//! a filled tensor.

use burn_ir::{PadModeIr, PadOpIr, TensorIr};
use fedround_ir::tensor::{Op, Val};

use super::{Import, ImportError, real};

impl Import<'_> {
    pub(super) fn pad(&mut self, o: &PadOpIr) -> Result<(), ImportError> {
        let x = self.value(&o.input)?;
        let padded = match o.mode {
            PadModeIr::Constant(value) => self.surround(x, &o.padding, real(value), &o.out)?,
            PadModeIr::Edge => self.extend(x, &o.padding, Self::edge)?,
            PadModeIr::Reflect => self.extend(x, &o.padding, Self::mirrored)?,
        };
        self.bind(&o.out, padded)
    }

    /// What padding at the two ends of the last sides leaves to a convolution: none where the ends
    /// differ, since the input is padded before.
    pub(super) fn even_padding<const N: usize>(
        &mut self,
        x: Val,
        ends: [(usize, usize); N],
        like: &TensorIr,
    ) -> Result<(Val, [usize; N]), ImportError> {
        if ends.iter().all(|(begin, end)| begin == end) {
            return Ok((x, ends.map(|(begin, _)| begin)));
        }
        let mut padding = vec![(0, 0); self.graph.shape(x).len() - N];
        padding.extend(ends);
        Ok((self.surround(x, &padding, 0.0, like)?, [0; N]))
    }

    /// One number around `x`, of the element type of `like`.
    fn surround(
        &mut self,
        x: Val,
        padding: &[(usize, usize)],
        value: f64,
        like: &TensorIr,
    ) -> Result<Val, ImportError> {
        let sides = self.graph.shape(x).iter().zip(padding);
        let (at, shape): (Vec<_>, Vec<_>) = sides
            .map(|(&n, &(begin, end))| ((begin, begin + n), begin + n + end))
            .unzip();
        let filled = self.full(value, shape, like)?;
        self.push(Op::SliceAssign(at), &[filled, x])
    }

    /// `x` between what `border` makes of it for both ends of each dimension.
    fn extend(
        &mut self,
        mut x: Val,
        padding: &[(usize, usize)],
        border: fn(&mut Self, Val, usize, [usize; 2]) -> Result<[Val; 2], ImportError>,
    ) -> Result<Val, ImportError> {
        for (d, &(begin, end)) in padding.iter().enumerate() {
            if begin + end == 0 {
                continue;
            }
            let [before, after] = border(self, x, d, [begin, end])?;
            let all = [(begin, before), (1, x), (end, after)].into_iter();
            let all: Vec<Val> = all.filter(|(n, _)| *n > 0).map(|(_, val)| val).collect();
            x = self.push(Op::Cat(d), &all)?;
        }
        Ok(x)
    }

    /// The first and the last element along a dimension, repeated.
    fn edge(&mut self, x: Val, d: usize, counts: [usize; 2]) -> Result<[Val; 2], ImportError> {
        let last = self.graph.shape(x)[d] - 1;
        let [begin, end] = [(0, 1), (last, last + 1)];
        let mut repeated = |range, n| {
            let slice = self.along(x, d, range)?;
            let mut shape = self.graph.shape(slice).to_vec();
            shape[d] = n;
            self.push(Op::Expand(shape), &[slice])
        };
        Ok([repeated(begin, counts[0])?, repeated(end, counts[1])?])
    }

    /// The elements beside the first and the last one along a dimension, the other way round.
    fn mirrored(&mut self, x: Val, d: usize, counts: [usize; 2]) -> Result<[Val; 2], ImportError> {
        let last = self.graph.shape(x)[d] - 1;
        let mut flipped = |range| {
            let slice = self.along(x, d, range)?;
            self.push(Op::Flip(vec![d]), &[slice])
        };
        Ok([
            flipped((1, 1 + counts[0]))?,
            flipped((last - counts[1], last))?,
        ])
    }

    fn along(&mut self, x: Val, d: usize, range: (usize, usize)) -> Result<Val, ImportError> {
        let shape = self.graph.shape(x);
        let mut ranges: Vec<_> = shape.iter().map(|&n| (0, n)).collect();
        ranges[d] = range;
        self.push(Op::Slice(ranges), &[x])
    }
}
