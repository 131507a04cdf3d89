//! Losses and gradients.

use fedround_ir::Loc;
use fedround_ir::fed::{OpKind, Value};

use crate::graph::{Graph, only};
use crate::wire::Wire;
use crate::{Features, Labels, Params, Scalar};

/// `∇f(w)`: the gradient of a function of parameters. The closure is run once, to record its ops.
#[track_caller]
pub fn grad(w: &Params, f: impl FnOnce(&Params) -> Scalar) -> Params {
    stage(w, f, Loc::caller()).0
}

/// `∇f(w)` and `f(w)`, in this order.
#[track_caller]
pub fn value_and_grad(w: &Params, f: impl FnOnce(&Params) -> Scalar) -> (Params, Scalar) {
    stage(w, f, Loc::caller())
}

fn stage(w: &Params, f: impl FnOnce(&Params) -> Scalar, loc: Loc) -> (Params, Scalar) {
    let graph = &w.graph;
    let args = graph.open(&graph.types(&[w.value]), graph.place());
    let value = f(&Params::bind(graph, only(&args)));
    let yields = vec![value.value_in(graph, loc)];
    let region = graph.close(yields, loc);
    let results: Vec<Value> = graph.op_with(OpKind::Grad, &[w.value], region, loc);
    let second = only(results.get(1..).unwrap_or_default());
    (
        Params::bind(graph, only(&results)),
        Scalar::bind(graph, second),
    )
}

/// The model's forward pass, where the code being staged runs.
pub(crate) fn predict(graph: &Graph, w: &Params, x: &Features, loc: Loc) -> Features {
    let operands = [w.value_in(graph, loc), x.stage(graph, loc)];
    Features::new(graph, graph.op(OpKind::Predict, &operands, loc))
}

/// Mean cross-entropy of logits against labels over a batch.
///
/// # Shapes
/// `logits`: `[examples, classes]`; `labels`: `[examples]`.
///
/// # Units
/// Nats.
#[track_caller]
pub fn cross_entropy(logits: Features, labels: &Labels) -> Scalar {
    staged_loss("cross_entropy", &logits, labels, Loc::caller())
}

/// A registered loss by name. A name that is not registered is reported when a program is compiled.
#[track_caller]
pub fn loss(name: &str, features: Features, labels: &Labels) -> Scalar {
    staged_loss(name, &features, labels, Loc::caller())
}

fn staged_loss(name: &str, features: &Features, labels: &Labels, loc: Loc) -> Scalar {
    let graph = features.graph();
    let operands = [features.stage(graph, loc), labels.stage(graph, loc)];
    Scalar::bind(
        graph,
        graph.op(OpKind::Loss(name.to_owned()), &operands, loc),
    )
}
