//! `tree.*`: parameters as vectors, leaf by leaf.

use super::arith::Math;
use crate::text::codecs::QuotedList;
use crate::text::ops;

/// An op on parameters or tensors, which may run anywhere and has no effect besides its results.
#[derive(Clone, Debug, PartialEq)]
pub enum TreeOp {
    /// `tree.add`: `(params, params) -> params`. Ops that work entry by entry also take tensors: here and
    /// below, `params` stands for either of the two, the same in the whole signature.
    Add,
    /// `tree.sub`: `(params, params) -> params`.
    Sub,
    /// `tree.scale`: `(f32, params) -> params`.
    Scale,
    /// `tree.dot`: `(params, params) -> f32`.
    Dot,
    /// `tree.sq_norm`: `(params) -> f32`.
    SqNorm,
    /// `tree.mul`: `(params, params) -> params`, entry by entry, as do the next five ops.
    Mul,
    /// `tree.div`.
    Div,
    /// `tree.sqrt` and kin: `(params) -> params`.
    Math(Math),
    /// `tree.add_scalar`: `(f32, params) -> params`.
    AddScalar,
    /// `tree.clamp`: `(f32 min, f32 max, params) -> params`.
    Clamp,
    /// `tree.select`: `(params c, params a, params b) -> params`; `a` where `c > 0`, else `b`.
    Select,
    /// `tree.choose`: `(f32 c, params a, params b) -> params`; all of `a` if `c > 0`, else all of `b`.
    Choose,
    /// `tree.layer_sum`: `(params) -> params`; every entry is the sum over its layer, buffers left
    /// out. A layer is all of a parameter's path but its last segment.
    LayerSum,
    /// `tree.replace_parts ["head"]`: `(params a, params b) -> params`; `a` with the named parts of
    /// `b`. A part is the first segment of a parameter's path: `head` of `head.weight`.
    ReplaceParts(Vec<String>),
}

ops! { TreeOp {
    "tree.add" = Add [];
    "tree.sub" = Sub [];
    "tree.scale" = Scale [];
    "tree.dot" = Dot [];
    "tree.sq_norm" = SqNorm [];
    "tree.mul" = Mul [];
    "tree.div" = Div [];
    "tree.sqrt" = Math (Math::Sqrt);
    "tree.exp" = Math (Math::Exp);
    "tree.log" = Math (Math::Log);
    "tree.cos" = Math (Math::Cos);
    "tree.floor" = Math (Math::Floor);
    "tree.layer_sum" = LayerSum [];
    "tree.add_scalar" = AddScalar [];
    "tree.clamp" = Clamp [];
    "tree.select" = Select [];
    "tree.choose" = Choose [];
    "tree.replace_parts" = ReplaceParts [parts: QuotedList];
} }
