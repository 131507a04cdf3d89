//! Registered functions of tensors and labels. They have no parameters, and algorithms refer to them by name.

mod clusters;
mod columns;
mod images;
mod order;
mod words;

use burn::tensor::activation::{log_softmax, softmax as softmax_along, softplus as softplus_of};
use burn::tensor::{Int, Tensor};

use self::clusters::gap;
use self::columns::{scale_columns, shift_columns};
use self::images::{arrangement, image_mse, jigsaw, one_laplace, one_normal, stacked, uniform};
use self::order::{least_sum, ranks, simplex};
use self::words::{next_words, next_words_each, next_words_of};
use crate::Losses;
use crate::losses::{contrast, cross_entropy};

impl Default for Losses {
    /// The losses and functions of the bundled specs.
    fn default() -> Self {
        register(Losses::none())
    }
}

fn register(losses: Losses) -> Losses {
    losses
        .with("contrast", contrast)
        .with("cross_entropy", cross_entropy)
        .with("cross_entropy_sum", cross_entropy_sum)
        .with("cross_entropy_of", cross_entropy_of)
        .with("cross_entropy_of_two", cross_entropy_of_two)
        .with("identification", identification)
        .with("attributes", attributes)
        .with("kl_from_uniform", kl_from_uniform)
        .with("entropy", entropy)
        .with("softplus", softplus)
        .with("identified", identified)
        .with("told_apart", told_apart)
        .with("sum", sum)
        .with("least_sum", least_sum)
        .with("mse", mse)
        .with("image_mse", image_mse)
        .with("kl_to_normal", kl_to_normal)
        .with("mutual_information", mutual_information)
        .with("arrangement", arrangement)
        .with("gap", gap)
        .with("next_words", next_words)
        .with("next_words_of", next_words_of)
        .with_function("cross_entropy_each", cross_entropy_each)
        .with_function("next_words_each", next_words_each)
        .with_function("softmax", softmax)
        .with_function("correct", correct)
        .with_function("same", same)
        .with_function("among", among)
        .with_function("unit_rows", unit_rows)
        .with_function("uniform", uniform)
        .with_function("one_normal", one_normal)
        .with_function("one_laplace", one_laplace)
        .with_function("stacked", stacked)
        .with_function("flipped", flipped)
        .with_function("ranks", ranks)
        .with_function("simplex", simplex)
        .with_function("front", front)
        .with_function("back", back)
        .with_function("rolled", rolled)
        .with_function("shift_columns", shift_columns)
        .with_function("scale_columns", scale_columns)
        .with_function("jigsaw", jigsaw)
}

/// What sums of weights are divided by at least, so that nothing is divided by zero.
const TINY: f32 = 1e-30;

/// Cross-entropy as [`cross_entropy`](crate::cross_entropy), the sum over the batch.
fn cross_entropy_sum(logits: Tensor<2>, labels: Tensor<1, Int>) -> Tensor<1> {
    let [batch, _] = logits.dims();
    crate::cross_entropy(logits, labels).mul_scalar(batch as f64)
}

/// Cross-entropy as [`cross_entropy`](crate::cross_entropy), the mean by weights `[batch]`; 0 where
/// they are all 0.
fn cross_entropy_of(logits: Tensor<2>, labels: Tensor<1, Int>, weights: Tensor<1>) -> Tensor<1> {
    let [batch, _] = logits.dims();
    let each = log_softmax(logits, 1).gather(1, labels.reshape([batch, 1]));
    let total = weights.clone().sum().clamp_min(TINY);
    (each.reshape([batch]) * weights).sum().neg() / total
}

/// Cross-entropy of the first rows, with the labels `first`, plus `weight` times that of the others, with
/// the labels `second`, each as [`cross_entropy`](crate::cross_entropy).
///
/// # Shapes
///
/// - `logits`: `[n + m, classes]`
/// - `first`: `[n]`; `second`: `[m]`
/// - `weight`, output: `[1]`
fn cross_entropy_of_two(
    logits: Tensor<2>,
    first: Tensor<1, Int>,
    second: Tensor<1, Int>,
    weight: Tensor<1>,
) -> Tensor<1> {
    let ([n], [m]) = (first.dims(), second.dims());
    let below = crate::cross_entropy(logits.clone().narrow(0, n, m), second);
    crate::cross_entropy(logits.narrow(0, 0, n), first) + weight * below
}

/// The logits `[batch, classes]` with the classes in reverse order: their cross-entropy with labels `y`
/// is that of the logits with labels `classes − 1 − y`.
fn flipped(logits: Tensor<2>) -> Tensor<2> {
    logits.flip([1])
}

/// Cross-entropy of each example, `[batch]`.
fn cross_entropy_each(logits: Tensor<2>, labels: Tensor<1, Int>) -> Tensor<1> {
    let [batch, _] = logits.dims();
    let each = log_softmax(logits, 1).gather(1, labels.reshape([batch, 1]));
    each.reshape([batch]).neg()
}

/// Binary cross-entropy of telling a client's own images from others', each kind's mean:
/// `−E_own ln σ(s) − E_other ln(1 − σ(s))` (FedAA, Eq. (6)). A kind without images counts for
/// nothing.
///
/// # Shapes
///
/// - `s`: `[batch, 1]`, logits
/// - `own`: `[batch]`, 1 or 0
/// - output: `[1]`, in nats
fn identification(s: Tensor<2>, own: Tensor<1>) -> Tensor<1> {
    let [batch, _] = s.dims();
    let s = s.reshape([batch]);
    let mean = |each: Tensor<1>, of: Tensor<1>| {
        let total = of.clone().sum().clamp_min(1.0);
        (each * of).sum() / total
    };
    let other = own.clone().neg().add_scalar(1.0);
    mean(softplus_1(s.clone().neg()), own) + mean(softplus_1(s), other)
}

/// How often logits `[batch, 1]` above 0 tell a client's own images, 1 in `[batch]`, and others those of
/// others: the mean of the two kinds' shares, ½ of an identifier that knows nothing. A kind without images
/// is left out.
fn identified(s: Tensor<2>, own: Tensor<1>) -> Tensor<1> {
    let [batch, _] = s.dims();
    let told = s.greater_elem(0.0).float().reshape([batch]);
    let not = |x: Tensor<1>| x.neg().add_scalar(1.0);
    // Of a kind without images both are 0.
    let share = |right: Tensor<1>, of: Tensor<1>| {
        let count = of.clone().sum();
        (
            (right * of).sum() / count.clone().clamp_min(1.0),
            count.clamp_max(1.0),
        )
    };
    let (of_own, some_own) = share(told.clone(), own.clone());
    let (of_others, some_others) = share(not(told), not(own));
    (of_own + of_others) / (some_own + some_others).clamp_min(1.0)
}

/// Binary cross-entropy of attributes that are 0 or 1, the mean over batch and attributes, in nats.
///
/// # Shapes
///
/// - `logits`, `attributes`: `[batch, attributes]`
/// - output: `[1]`
fn attributes(logits: Tensor<2>, attributes: Tensor<2>) -> Tensor<1> {
    let each = softplus_of(logits.clone(), 1.0) - logits * attributes;
    each.mean()
}

fn softplus_1(s: Tensor<1>) -> Tensor<1> {
    softplus_of(s, 1.0)
}

/// `1/n Σ KL(u ‖ softmax(z))` with `u` uniform over the classes, in nats.
///
/// # Shapes
///
/// - `logits`: `[batch, classes]`
/// - output: `[1]`
fn kl_from_uniform(logits: Tensor<2>) -> Tensor<1> {
    let [_, classes] = logits.dims();
    log_softmax(logits, 1)
        .mean()
        .neg()
        .sub_scalar((classes as f64).ln())
}

/// `1/n Σ H(softmax(z))`, in nats, of logits `[batch, classes]`.
fn entropy(logits: Tensor<2>) -> Tensor<1> {
    let log = log_softmax(logits, 1);
    (log.clone().exp() * log).sum_dim(1).mean().neg()
}

/// Mean of `ln(1 + eˢ)` over all entries: `−ln σ(s)` of the negative, `−ln(1 − σ(s))` of `s`.
fn softplus(s: Tensor<2>) -> Tensor<1> {
    softplus_of(s, 1.0).mean()
}

/// Binary cross-entropy of telling `[n, 1]` logits of one kind, 1, from `[m, 1]` of another, 0, each
/// kind's mean: `2 ln 2` where they cannot be told.
fn told_apart(one: Tensor<2>, other: Tensor<2>) -> Tensor<1> {
    softplus(one.neg()) + softplus(other)
}

/// The sum of what there is for each example, `[batch]`.
fn sum(x: Tensor<1>) -> Tensor<1> {
    x.sum()
}

/// Mean of squared differences over all entries, of `[batch, features]`.
fn mse(a: Tensor<2>, b: Tensor<2>) -> Tensor<1> {
    let d = a - b;
    (d.clone() * d).mean()
}

/// `KL(N(μ, σ²) ‖ N(0, 1))`, the mean over batch and entries, of codes `[batch, 2 z]`, means and
/// then logarithms of variances.
fn kl_to_normal(code: Tensor<2>) -> Tensor<1> {
    let [_, both] = code.dims();
    let halves = code.split(both / 2, 1);
    let [mu, log] = [halves[0].clone(), halves[1].clone()];
    let each = log.clone().add_scalar(1.0) - mu.clone() * mu - log.exp();
    each.mean().mul_scalar(-0.5)
}

/// The bound of Donsker and Varadhan on mutual information, `E T(joint) − ln E e^{T(apart)}`, of
/// scores `[batch, 1]` (Belghazi et al. 2018, MINE).
fn mutual_information(joint: Tensor<2>, apart: Tensor<2>) -> Tensor<1> {
    let top = apart.clone().max_dim(0).max_dim(1);
    let top = crate::stop_gradient(top);
    let spread = (apart - top.clone()).exp().mean().log();
    joint.mean() - spread - top.reshape([1])
}

/// Class probabilities of logits, `[batch, classes]`.
fn softmax(logits: Tensor<2>) -> Tensor<2> {
    softmax_along(logits, 1)
}

/// The probability of the label where it is the largest, 0 elsewhere: `[batch]`.
fn correct(logits: Tensor<2>, labels: Tensor<1, Int>) -> Tensor<1> {
    let [batch, _] = logits.dims();
    let p = softmax_along(logits, 1);
    let top = p.clone().max_dim(1);
    let of_label = p.gather(1, labels.reshape([batch, 1]));
    let is_top = of_label.clone().greater_equal(top).float();
    (of_label * is_top).reshape([batch])
}

/// 1 where two labels are equal, 0 elsewhere: `[batch]`.
fn same(a: Tensor<1, Int>, b: Tensor<1, Int>) -> Tensor<1> {
    a.equal(b).float()
}

/// 1 for each label `[n]` that is among some distinct ones `[m]`, 0 for the others: `[n]`.
fn among(labels: Tensor<1, Int>, some: Tensor<1, Int>) -> Tensor<1> {
    let ([n], [m]) = (labels.dims(), some.dims());
    let equal = labels.reshape([n, 1]).equal(some.reshape([1, m]));
    equal.float().sum_dim(1).reshape([n])
}

/// Rows of the same direction whose entries have a mean square of 1; rows of zeros stay.
fn unit_rows(x: Tensor<2>) -> Tensor<2> {
    let size = (x.clone() * x.clone()).mean_dim(1).add_scalar(1e-12).sqrt();
    x / size
}

/// The first half of the columns, of `[batch, 2 d]`.
fn front(x: Tensor<2>) -> Tensor<2> {
    let [batch, both] = x.dims();
    x.slice([0..batch, 0..both / 2])
}

/// The second half of the columns, of `[batch, 2 d]`.
fn back(x: Tensor<2>) -> Tensor<2> {
    let [batch, both] = x.dims();
    x.slice([0..batch, both / 2..both])
}

/// Moves each row to the next row's position (the last to the first), so that pairing with the original rows
/// pairs different examples.
fn rolled(x: Tensor<2>) -> Tensor<2> {
    let [batch, width] = x.dims();
    if batch < 2 {
        return x;
    }
    let last = x.clone().slice([batch - 1..batch, 0..width]);
    Tensor::cat(vec![last, x.slice([0..batch - 1, 0..width])], 0)
}

#[cfg(test)]
mod tests;
