//! Functions of images `[batch, channels, height, width]`.

use burn::tensor::{Distribution, Int, Tensor, TensorData};

/// Mean of squared differences of images `[batch, channels, height, width]`.
pub(super) fn image_mse(a: Tensor<4>, b: Tensor<4>) -> Tensor<1> {
    let d = a - b;
    (d.clone() * d).mean()
}

/// Uniform numbers in `[0, 1)` in the shape of images.
pub(super) fn uniform(x: Tensor<4>) -> Tensor<4> {
    let device = x.device();
    Tensor::random(x.dims(), Distribution::Uniform(0.0, 1.0), &device)
}

/// The images `a` and, below them, `b`.
pub(super) fn stacked(a: Tensor<4>, b: Tensor<4>) -> Tensor<4> {
    Tensor::cat(vec![a, b], 0)
}

/// One image of standard normal numbers, for each image of a batch the same.
pub(super) fn one_normal(x: Tensor<4>) -> Tensor<4> {
    of_all(&x, Distribution::Normal(0.0, 1.0))
}

/// One image of Laplace noise of scale 1, for each image of a batch the same: the inverse of its
/// distribution function at uniform numbers.
pub(super) fn one_laplace(x: Tensor<4>) -> Tensor<4> {
    let u = of_all(&x, Distribution::Uniform(-0.5, 0.5));
    // Above 0, where the logarithm is finite.
    let tail = u.clone().abs().mul_scalar(-2.0).add_scalar(1.0);
    u.sign() * tail.clamp_min(1e-7).log().neg()
}

fn of_all(x: &Tensor<4>, distribution: Distribution) -> Tensor<4> {
    let [batch, channels, height, width] = x.dims();
    let one: Tensor<4> = Tensor::random([1, channels, height, width], distribution, &x.device());
    one.expand([batch, channels, height, width])
}

/// All orders of four things.
fn orders() -> Vec<[usize; 4]> {
    let mut all = vec![];
    for code in 0..256 {
        let order = [code >> 6, (code >> 4) & 3, (code >> 2) & 3, code & 3];
        if (0..4).all(|i| order.contains(&i)) {
            all.push(order);
        }
    }
    all
}

/// Images cut into quadrants, which are put together in another order: the one of number `i mod 24`
/// for image `i`. An odd last row or column stays.
///
/// # Shapes
///
/// - `x`: `[batch, channels, height, width]`
/// - output: the same
pub(super) fn jigsaw(x: Tensor<4>) -> Tensor<4> {
    let [batch, channels, height, width] = x.dims();
    let (h, w) = (height / 2, width / 2);
    let corners = [[0, 0], [0, w], [h, 0], [h, w]];
    let orders = orders();
    let images = (0..batch).map(|i| {
        let image = x.clone().narrow(0, i, 1);
        let piece = |[top, left]: [usize; 2]| [0..1, 0..channels, top..top + h, left..left + w];
        let order = orders[i % orders.len()];
        let moved = corners.iter().zip(order);
        moved.fold(image.clone(), |out, (&to, from)| {
            out.slice_assign(piece(to), image.clone().slice(piece(corners[from])))
        })
    });
    Tensor::cat(images.collect(), 0)
}

/// Cross-entropy of telling the order of [`jigsaw`] from logits `[batch, 24]`.
pub(super) fn arrangement(logits: Tensor<2>) -> Tensor<1> {
    let [batch, orders] = logits.dims();
    let labels: Vec<i32> = (0..batch).map(|i| (i % orders) as i32).collect();
    let labels = TensorData::new(labels, [batch]);
    let labels = Tensor::<1, Int>::from_data(labels, &logits.device());
    crate::cross_entropy(logits, labels)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_order_leaves_an_image_and_the_last_turns_it() {
        let data: Vec<f32> = (0..24 * 16).map(|i| (i % 16) as f32).collect();
        let data = TensorData::new(data, [24, 1, 4, 4]);
        let x = Tensor::<4>::from_data(data, &Default::default());
        let out: Vec<f32> = jigsaw(x).into_data().try_to_vec().unwrap();
        let image: Vec<f32> = (0..16).map(|i| i as f32).collect();
        assert_eq!(out[..16], image);
        assert_eq!(out[23 * 16..23 * 16 + 2], [10.0, 11.0]);
        assert_eq!(out[23 * 16 + 10..23 * 16 + 12], [0.0, 1.0]);
    }
}
