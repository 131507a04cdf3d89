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
            PadModeIr::Edge => self.extend(x, &o.padding, false)?,
            PadModeIr::Reflect => self.extend(x, &o.padding, true)?,
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

    /// `x` between its own elements: mirrored at the edge, or the edge repeated.
    fn extend(
        &mut self,
        mut x: Val,
        padding: &[(usize, usize)],
        mirrored: bool,
    ) -> Result<Val, ImportError> {
        for (d, &(begin, end)) in padding.iter().enumerate() {
            let last = self.graph.shape(x)[d] - 1;
            let [before, after] = match mirrored {
                true => [(1, 1 + begin), (last - end, last)],
                false => [(0, 1), (last, last + 1)],
            };
            let mut all = vec![];
            if begin > 0 {
                all.push(self.border(x, d, before, begin)?);
            }
            all.push(x);
            if end > 0 {
                all.push(self.border(x, d, after, end)?);
            }
            if all.len() > 1 {
                x = self.push(Op::Cat(d), &all)?;
            }
        }
        Ok(x)
    }

    /// `n` elements along a dimension: those of a range the other way round, or its only one
    /// repeated.
    fn border(
        &mut self,
        x: Val,
        d: usize,
        range: (usize, usize),
        n: usize,
    ) -> Result<Val, ImportError> {
        let mut shape = self.graph.shape(x).to_vec();
        let mut ranges: Vec<_> = shape.iter().map(|&n| (0, n)).collect();
        ranges[d] = range;
        shape[d] = n;
        let turned = match range.1 - range.0 {
            1 => Op::Expand(shape),
            _ => Op::Flip(vec![d]),
        };
        self.chain(x, [Op::Slice(ranges), turned])
    }
}
