//! Losses and their gradients, with respect to parameters or inputs.

use fedround_ir::Loc;
use fedround_ir::fed::{ExternalOp, OptOp, Value};

use crate::graph::{Graph, only};
use crate::inputs::Inputs;
use crate::tree::Tree;
use crate::wire::Wire;
use crate::{Labels, Params, Scalar, Tensor};

/// Values that a loss can be differentiated with respect to: [`Params`], or a [`Tensor`] such as the inputs
/// of a batch.
#[diagnostic::on_unimplemented(
    message = "cannot differentiate with respect to `{Self}`",
    label = "expected `&Params` or `&Tensor`",
    note = "the derivative by a number is a dot product: by `a`, that of a loss of `a·v + (1 − a)·w` is `g.dot(&(v - w))`, where `g` is the gradient at the mixture"
)]
pub trait Differentiable: Tree {}
impl Differentiable for Params {}
impl Differentiable for Tensor {}

/// `∇f(w)`: the gradient of a function of parameters or features. The closure is run once, to record its
/// ops. Values from outside of the closure are constants to it, including `w` itself.
#[track_caller]
pub fn grad<T: Differentiable>(w: &T, f: impl FnOnce(&T) -> Scalar) -> T {
    stage(w, f, Loc::caller()).0
}

/// `f(w)` and `∇f(w)`, in this order.
#[track_caller]
pub fn value_and_grad<T: Differentiable>(w: &T, f: impl FnOnce(&T) -> Scalar) -> (Scalar, T) {
    let (gradient, value) = stage(w, f, Loc::caller());
    (value, gradient)
}

fn stage<T: Differentiable>(w: &T, f: impl FnOnce(&T) -> Scalar, loc: Loc) -> (T, Scalar) {
    let (graph, value) = w.parts(loc);
    let args = graph.open(&graph.types(&[value]), graph.place());
    let yielded = f(&T::of(graph, only(&args)));
    let yields = vec![yielded.value_in(graph, loc)];
    let region = graph.close(yields, loc);
    let results: Vec<Value> = graph.op_with(OptOp::Grad, &[value], region, loc);
    let second = only(results.get(1..).unwrap_or_default());
    (T::of(graph, only(&results)), Scalar::bind(graph, second))
}

/// A function of the model, where the code being staged runs.
pub(crate) fn apply(
    graph: &Graph,
    function: &str,
    w: &Params,
    inputs: impl Inputs,
    loc: Loc,
) -> Tensor {
    let mut operands = vec![w.value_in(graph, loc)];
    operands.extend(inputs.stage(graph, loc));
    Tensor::of_op(
        graph,
        ExternalOp::Apply(function.to_owned()),
        &operands,
        loc,
    )
}

/// Mean cross-entropy of logits against labels over a batch.
///
/// # Shapes
/// `logits`: `[examples, classes]`; `labels`: `[examples]`.
///
/// # Units
/// Nats.
#[track_caller]
pub fn cross_entropy(logits: Tensor, labels: &Labels) -> Scalar {
    loss("cross_entropy", (&logits, labels))
}

/// Applies a registered function to one to four tensors, labels or numbers: `function("softmax", &z)`.
#[track_caller]
pub fn function(name: &str, inputs: impl Inputs) -> Tensor {
    let loc = Loc::caller();
    let graph = inputs.graph();
    let operands = inputs.stage(graph, loc);
    let op = ExternalOp::Function(name.to_owned());
    Tensor::of_op(graph, op, &operands, loc)
}

/// Applies a registered loss to one to four tensors, labels or numbers: `loss("mse", (&z, &b.x))`. A name
/// that is not registered is reported when the program is compiled.
#[track_caller]
pub fn loss(name: &str, inputs: impl Inputs) -> Scalar {
    let loc = Loc::caller();
    let graph = inputs.graph();
    let operands = inputs.stage(graph, loc);
    Scalar::of_op(graph, ExternalOp::Loss(name.to_owned()), &operands, loc)
}
