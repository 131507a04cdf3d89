//! Imports burn's padding. A constant border becomes a `slice_assign` into a filled tensor; edge and reflection
//! padding become a concatenation of slices.

use burn_ir::{PadModeIr, PadOpIr, TensorIr};
use fedround_ir::tensor::{Op, Val};

use super::{Import, ImportError, real};

impl Import<'_> {
    pub(super) fn pad(&mut self, o: &PadOpIr) -> Result<(), ImportError> {
        let x = self.value(&o.input)?;
        let padded = match o.mode {
            PadModeIr::Constant(value) => self.pad_constant(x, &o.padding, real(value), &o.out)?,
            PadModeIr::Edge => self.pad_from_border(x, &o.padding, false)?,
            PadModeIr::Reflect => self.pad_from_border(x, &o.padding, true)?,
        };
        self.bind(&o.out, padded)
    }

    /// The input and the padding of a convolution. The dialect's convolution pads both ends of a dimension alike.
    /// If burn's padding differs between the ends, the input is padded with zeros here, and the convolution gets
    /// no padding.
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
        Ok((self.pad_constant(x, &padding, 0.0, like)?, [0; N]))
    }

    /// `x` with a border of one number, of the element type of `like`.
    fn pad_constant(
        &mut self,
        x: Val,
        padding: &[(usize, usize)],
        value: f64,
        like: &TensorIr,
    ) -> Result<Val, ImportError> {
        let sides = self.graph.shape(x).iter().zip(padding);
        let (ranges, shape): (Vec<_>, Vec<_>) = sides
            .map(|(&n, &(begin, end))| ((begin, begin + n), begin + n + end))
            .unzip();
        let filled = self.full(value, shape, like)?;
        self.push(Op::SliceAssign(ranges), &[filled, x])
    }

    /// `x` with a border of its own elements: mirrored at the edge (which is not repeated), or the edge
    /// repeated.
    fn pad_from_border(
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
            let mut parts = vec![];
            if begin > 0 {
                parts.push(self.border(x, d, before, begin)?);
            }
            parts.push(x);
            if end > 0 {
                parts.push(self.border(x, d, after, end)?);
            }
            if parts.len() > 1 {
                x = self.push(Op::Cat(d), &parts)?;
            }
        }
        Ok(x)
    }

    /// A border of `n` elements along the dimension `d`: the elements of a range in reverse order, or the only
    /// element of the range repeated.
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
        let flip_or_repeat = match range.1 - range.0 {
            1 => Op::Expand(shape),
            _ => Op::Flip(vec![d]),
        };
        self.chain(x, [Op::Slice(ranges), flip_or_repeat])
    }
}
