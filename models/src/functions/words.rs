//! Losses of sentences. A sentence is a list of word ids that begins with a start word and is padded with 0.

use burn::tensor::activation::log_softmax;
use burn::tensor::{Int, Tensor};

/// What fills a sentence up.
const PAD: i32 = 0;

/// Cross-entropy of each word but the first, given those before it, and whether it counts: 1, or 0
/// of what fills up. Both are `[batch, steps − 1]`.
fn each_word(logits: Tensor<3>, words: Tensor<2, Int>) -> [Tensor<2>; 2] {
    let [batch, steps, _] = logits.dims();
    let next = words.slice([0..batch, 1..steps]);
    let logits = logits.narrow(1, 0, steps - 1);
    let losses = log_softmax(logits, 2).gather(2, next.clone().reshape([batch, steps - 1, 1]));
    let counts = next.not_equal_elem(PAD).float();
    [losses.neg().reshape([batch, steps - 1]), counts]
}

/// Mean over all words of all sentences of the cross-entropy of a word, given those before it.
///
/// # Shapes
///
/// - `logits`: `[batch, steps, vocabulary]`, of each word's successor
/// - `words`: `[batch, steps]`
/// - output: `[1]`, in nats
pub(super) fn next_words(logits: Tensor<3>, words: Tensor<2, Int>) -> Tensor<1> {
    let [losses, counts] = each_word(logits, words);
    (losses * counts.clone()).sum() / counts.sum().clamp_min(1.0)
}

/// The same, over the words of the sentences with the weights `[batch]`; 0 where they are all 0.
pub(super) fn next_words_of(
    logits: Tensor<3>,
    words: Tensor<2, Int>,
    weights: Tensor<1>,
) -> Tensor<1> {
    let [losses, counts] = each_word(logits, words);
    let counts = counts * weights.unsqueeze_dim(1);
    (losses * counts.clone()).sum() / counts.sum().clamp_min(super::TINY)
}

/// Each sentence's own mean: `[batch]`. FedAA, Eq. (3), looks for the smallest.
pub(super) fn next_words_each(logits: Tensor<3>, words: Tensor<2, Int>) -> Tensor<1> {
    let [losses, counts] = each_word(logits, words);
    let means = (losses * counts.clone()).sum_dim(1) / counts.sum_dim(1).clamp_min(1.0);
    means.squeeze_dim(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use burn::tensor::Device;

    fn values(x: Tensor<1>) -> Vec<f32> {
        x.into_data().try_to_vec().unwrap()
    }

    /// Two sentences over the words 0 to 2: one of two words after the start, one of a single word.
    fn sentences() -> (Tensor<3>, Tensor<2, Int>) {
        let device = Device::default();
        let even = [0.0f32; 3];
        let sure = [0.0, 0.0, 9.0];
        let logits = [[even, sure, sure], [sure, even, even]];
        let words = [[1, 1, 2], [1, 2, 0]];
        (
            Tensor::from_data(logits, &device),
            Tensor::from_data(words, &device),
        )
    }

    #[test]
    fn words_are_judged_by_those_before_and_padding_is_not() {
        let (logits, words) = sentences();
        let ln3 = 3f32.ln();
        let sure = (1.0 + 2.0 * (-9f32).exp()).ln();
        let own = values(next_words_each(logits.clone(), words.clone()));
        for (found, expected) in own.iter().zip([(ln3 + sure) / 2.0, sure]) {
            assert!((found - expected).abs() < 1e-5, "{own:?}");
        }
        let all = values(next_words(logits.clone(), words.clone()))[0];
        assert!((all - (ln3 + 2.0 * sure) / 3.0).abs() < 1e-5, "{all}");
        let of = |weights: [f32; 2]| {
            let weights = Tensor::from_data(weights, &Device::default());
            values(next_words_of(logits.clone(), words.clone(), weights))[0]
        };
        assert!((of([1.0, 1.0]) - all).abs() < 1e-6);
        assert!((of([0.0, 1.0]) - sure).abs() < 1e-5);
        assert_eq!(of([0.0, 0.0]), 0.0);
    }
}
