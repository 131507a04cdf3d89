//! Codecs of the attributes of tensor ops.

pub(super) use super::fused::Body;

use super::{Cmp, Constant, Conv2d, DType, Distribution as Draw, Pool2d};
use crate::text::attribute::{AttributeText, Codec, Piece, TextAttributes};
use crate::text::codecs::{Count, Real};
use crate::text::cursor::count;

/// A number. Snapshots print it if it is a small integer and `_` otherwise, so that they do not change
/// with sizes such as `1/N`.
pub(super) struct Literal;

impl Codec<f64> for Literal {
    fn write(value: &f64, _: &'static str, to: &mut AttributeText) {
        let small = value.fract() == 0.0 && value.abs() < 100.0;
        to.entries.push(match (small, to.exact) {
            (true, _) => value.to_string(),
            (false, true) => format!("{value:?}"),
            (false, false) => "_".to_owned(),
        });
    }

    fn read(label: &'static str, from: &mut TextAttributes) -> Result<f64, String> {
        let elided = from.plain(|piece| (*piece == Piece::Word("_")).then_some(()));
        if elided.is_some() {
            return Err("a number (snapshots leave it out, `--exact` prints it)".to_owned());
        }
        Real::read(label, from)
    }
}

/// `label 3`.
pub(super) struct Labelled;

impl Codec<usize> for Labelled {
    fn write(value: &usize, label: &'static str, to: &mut AttributeText) {
        to.entries.push(format!("{label} {value}"));
    }

    fn read(label: &'static str, from: &mut TextAttributes) -> Result<usize, String> {
        let value = from.labelled(label, |piece| match piece {
            Piece::Number(text) => count(text),
            _ => None,
        });
        value.ok_or_else(|| format!("`{label}` and a number"))
    }
}

/// A switch: its label if it is true, nothing if it is false.
pub(super) struct Flag;

impl Codec<bool> for Flag {
    fn write(value: &bool, label: &'static str, to: &mut AttributeText) {
        if *value {
            to.entries.push(label.to_owned());
        }
    }

    fn read(label: &'static str, from: &mut TextAttributes) -> Result<bool, String> {
        let set = from.plain(|piece| (*piece == Piece::Word(label)).then_some(()));
        Ok(set.is_some())
    }
}

/// All remaining attributes, as counts.
pub(super) struct Dims;

impl Codec<Vec<usize>> for Dims {
    fn write(value: &Vec<usize>, label: &'static str, to: &mut AttributeText) {
        for n in value {
            Count::write(n, label, to);
        }
    }

    fn read(label: &'static str, from: &mut TextAttributes) -> Result<Vec<usize>, String> {
        rest(from, |from| Count::read(label, from))
    }
}

/// All remaining attributes, as ranges `start..end`.
pub(super) struct Ranges;

impl Codec<Vec<(usize, usize)>> for Ranges {
    fn write(value: &Vec<(usize, usize)>, _: &'static str, to: &mut AttributeText) {
        let ranges = value.iter().map(|(start, end)| format!("{start}..{end}"));
        to.entries.extend(ranges);
    }

    fn read(_: &'static str, from: &mut TextAttributes) -> Result<Vec<(usize, usize)>, String> {
        rest(from, |from| {
            let range = from.plain(|piece| match piece {
                Piece::Range(start, end) => Some((count(start)?, count(end)?)),
                _ => None,
            });
            range.ok_or_else(|| "a range `start..end`".to_owned())
        })
    }
}

fn rest<T>(
    from: &mut TextAttributes,
    read: impl Fn(&mut TextAttributes) -> Result<T, String>,
) -> Result<Vec<T>, String> {
    let mut items = Vec::new();
    while from.rest().is_some() {
        items.push(read(from)?);
    }
    Ok(items)
}

/// A shape that is taken from the type of the result, and not written.
pub(super) struct ResultShape;

impl Codec<Vec<usize>> for ResultShape {
    fn write(_: &Vec<usize>, _: &'static str, _: &mut AttributeText) {}

    fn read(_: &'static str, from: &mut TextAttributes) -> Result<Vec<usize>, String> {
        let result = from.source().result;
        result.map_or_else(|| Err("a type".to_owned()), |ty| Ok(ty.shape.clone()))
    }
}

/// An element type that is taken from the type of the result, and not written.
pub(super) struct ResultDType;

impl Codec<DType> for ResultDType {
    fn write(_: &DType, _: &'static str, _: &mut AttributeText) {}

    fn read(_: &'static str, from: &mut TextAttributes) -> Result<DType, String> {
        let result = from.source().result;
        result.map_or_else(|| Err("a type".to_owned()), |ty| Ok(ty.dtype))
    }
}

/// The values of a constant, whose type is that of the result. Snapshots print `_`.
pub(super) struct ResultValues;

impl Codec<Constant> for ResultValues {
    fn write(value: &Constant, label: &'static str, to: &mut AttributeText) {
        if !to.exact {
            return to.entries.push("_".to_owned());
        }
        for x in &*value.values {
            Literal::write(x, label, to);
        }
    }

    fn read(label: &'static str, from: &mut TextAttributes) -> Result<Constant, String> {
        let values = rest(from, |from| Literal::read(label, from))?;
        let ty = from.source().result.ok_or("a type")?;
        Ok(Constant {
            ty: ty.clone(),
            values: values.into(),
        })
    }
}

/// The word for a comparison.
pub(super) struct Comparison;

impl Codec<Cmp> for Comparison {
    fn write(value: &Cmp, _: &'static str, to: &mut AttributeText) {
        to.entries.push(value.name().to_owned());
    }

    fn read(_: &'static str, from: &mut TextAttributes) -> Result<Cmp, String> {
        let value = from.plain(|piece| match piece {
            Piece::Word(word) => Cmp::ALL.into_iter().find(|cmp| cmp.name() == *word),
            _ => None,
        });
        value.ok_or_else(|| format!("one of {}", Cmp::ALL.map(Cmp::name).join(", ")))
    }
}

/// The name of a distribution and its parameters.
pub(super) struct Distribution;

impl Codec<Draw> for Distribution {
    fn write(value: &Draw, label: &'static str, to: &mut AttributeText) {
        let (name, parameters) = match value {
            Draw::Uniform(low, high) => ("uniform", vec![low, high]),
            Draw::Normal(mean, deviation) => ("normal", vec![mean, deviation]),
            Draw::Bernoulli(probability) => ("bernoulli", vec![probability]),
            Draw::GaussianNoise => ("gaussian_noise", vec![]),
            Draw::LaplaceNoise => ("laplace_noise", vec![]),
        };
        to.entries.push(name.to_owned());
        for x in parameters {
            Literal::write(x, label, to);
        }
    }

    fn read(label: &'static str, from: &mut TextAttributes) -> Result<Draw, String> {
        let name = from.plain(|piece| match piece {
            Piece::Word(word) => Some(*word),
            _ => None,
        });
        let mut next = || Literal::read(label, from);
        match name {
            Some("uniform") => Ok(Draw::Uniform(next()?, next()?)),
            Some("normal") => Ok(Draw::Normal(next()?, next()?)),
            Some("bernoulli") => Ok(Draw::Bernoulli(next()?)),
            Some("gaussian_noise") => Ok(Draw::GaussianNoise),
            Some("laplace_noise") => Ok(Draw::LaplaceNoise),
            _ => Err("uniform, normal, bernoulli, gaussian_noise or laplace_noise".to_owned()),
        }
    }
}

/// `label [vertical, horizontal]`.
fn write_pair(value: [usize; 2], label: &str, to: &mut AttributeText) {
    to.entries.push(format!("{label} {value:?}"));
}

fn pair(label: &str, from: &mut TextAttributes) -> Option<[usize; 2]> {
    from.labelled(label, |piece| match piece {
        Piece::List(items) => match items.as_slice() {
            [vertical, horizontal] => Some([count(vertical)?, count(horizontal)?]),
            _ => None,
        },
        _ => None,
    })
}

fn expect_pair(label: &str, from: &mut TextAttributes) -> Result<[usize; 2], String> {
    pair(label, from).ok_or_else(|| format!("`{label} [vertical, horizontal]`"))
}

/// Stride and padding, and also dilation and groups where they are not 1.
pub(super) struct Conv;

impl Codec<Conv2d> for Conv {
    fn write(value: &Conv2d, _: &'static str, to: &mut AttributeText) {
        write_pair(value.stride, "stride", to);
        write_pair(value.padding, "padding", to);
        if value.dilation != [1, 1] {
            write_pair(value.dilation, "dilation", to);
        }
        if value.groups != 1 {
            Labelled::write(&value.groups, "groups", to);
        }
    }

    fn read(_: &'static str, from: &mut TextAttributes) -> Result<Conv2d, String> {
        Ok(Conv2d {
            stride: expect_pair("stride", from)?,
            padding: expect_pair("padding", from)?,
            dilation: pair("dilation", from).unwrap_or([1, 1]),
            groups: Labelled::read("groups", from).unwrap_or(1),
        })
    }
}

/// Kernel and stride, and also padding, dilation and `excludes_pad` where they are not the default.
pub(super) struct Pool;

impl Codec<Pool2d> for Pool {
    fn write(value: &Pool2d, _: &'static str, to: &mut AttributeText) {
        write_pair(value.kernel, "kernel", to);
        write_pair(value.stride, "stride", to);
        if value.padding != [0, 0] {
            write_pair(value.padding, "padding", to);
        }
        if value.dilation != [1, 1] {
            write_pair(value.dilation, "dilation", to);
        }
        Flag::write(&!value.count_include_pad, EXCLUDES_PAD, to);
    }

    fn read(_: &'static str, from: &mut TextAttributes) -> Result<Pool2d, String> {
        Ok(Pool2d {
            kernel: expect_pair("kernel", from)?,
            stride: expect_pair("stride", from)?,
            padding: pair("padding", from).unwrap_or([0, 0]),
            dilation: pair("dilation", from).unwrap_or([1, 1]),
            count_include_pad: !Flag::read(EXCLUDES_PAD, from)?,
        })
    }
}

const EXCLUDES_PAD: &str = "excludes_pad";
