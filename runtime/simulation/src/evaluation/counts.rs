//! How a model's predictions are counted.

use fedround_data::text::PAD;

use super::Evaluation;

/// Counts of predictions.
pub(super) struct Counts {
    /// The sum of the cross-entropies.
    loss: f64,
    /// For each class, the number of correct predictions.
    right: Vec<u64>,
    /// For each class, the number of predictions.
    total: Vec<u64>,
    /// The predicted class of each example. Empty for a language model.
    predictions: Vec<u16>,
    /// As [`Evaluation::margins`].
    margins: Vec<f32>,
}

impl Counts {
    pub fn new(classes: usize) -> Self {
        Self {
            loss: 0.0,
            right: vec![0; classes],
            total: vec![0; classes],
            predictions: vec![],
            margins: vec![],
        }
    }

    /// Counts the predictions of a classifier: logits `[n, classes]` for `n` labels.
    pub fn labels(&mut self, logits: &[f32], labels: &[i32]) {
        let classes = self.right.len();
        for (row, &label) in logits.chunks(classes.max(1)).zip(labels) {
            let best = self.count(row, label as usize, label as usize);
            self.predictions
                .push(best.map_or(u16::MAX, |best| best as u16));
            if let &[first, second] = row {
                self.margins.push(second - first);
            }
        }
    }

    /// Counts the predictions of a language model: logits `[n, steps, vocabulary]` of each word's successor, for words
    /// `[n, steps]` of examples with these labels. Padding does not count.
    pub fn words(&mut self, logits: &[f32], words: &[i32], labels: &[i32]) {
        let vocabulary = logits.len() / words.len().max(1);
        let steps = words.len() / labels.len().max(1);
        let sentences = words.chunks(steps.max(1)).zip(labels);
        for ((words, &label), logits) in sentences.zip(logits.chunks((steps * vocabulary).max(1))) {
            let next = words.iter().skip(1).zip(logits.chunks(vocabulary.max(1)));
            for (&word, row) in next.filter(|(word, _)| **word != PAD) {
                self.count(row, word as usize, label as usize);
            }
        }
    }

    /// Counts one prediction under a class, and returns the index of its largest logit. Where a logit is not a number,
    /// there is none, and the prediction is wrong.
    fn count(&mut self, row: &[f32], expected: usize, class: usize) -> Option<usize> {
        let row: Vec<f64> = row.iter().map(|&z| f64::from(z)).collect();
        let mut best = 0;
        for (i, z) in row.iter().enumerate() {
            if *z > row[best] {
                best = i;
            }
        }
        let norm: f64 = row.iter().map(|z| (z - row[best]).exp()).sum();
        self.loss += norm.ln() + row[best] - row[expected];
        self.total[class] += 1;
        let best = (!row.iter().any(|z| z.is_nan())).then_some(best);
        self.right[class] += u64::from(best == Some(expected));
        best
    }

    pub fn add(&mut self, other: Self) {
        self.loss += other.loss;
        for (a, b) in self.right.iter_mut().zip(&other.right) {
            *a += b;
        }
        for (a, b) in self.total.iter_mut().zip(&other.total) {
            *a += b;
        }
        self.predictions.extend(other.predictions);
        self.margins.extend(other.margins);
    }

    pub fn evaluation(self) -> Evaluation {
        let total = self.total.iter().sum::<u64>() as f64;
        let classes = self.right.iter().zip(&self.total);
        Evaluation {
            loss: self.loss / total,
            accuracy: self.right.iter().sum::<u64>() as f64 / total,
            class_accuracy: classes.map(|(&r, &s)| r as f64 / s as f64).collect(),
            predictions: self.predictions,
            margins: self.margins,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_by_class() {
        let logits = [2.0, 0.0, 0.0, 2.0, 2.0, 0.0];
        let mut counts = Counts::new(2);
        counts.labels(&logits, &[0, 1, 1]);
        let e = counts.evaluation();
        assert!((e.accuracy - 2.0 / 3.0).abs() < 1e-12);
        assert_eq!(e.class_accuracy, [1.0, 0.5]);
        assert_eq!(e.predictions, [0, 1, 0]);
        assert_eq!(e.margins, [-2.0, 2.0, -2.0]);
        let (near, far) = ((1.0 + (-2f64).exp()).ln(), (1.0 + 2f64.exp()).ln());
        assert!((e.loss - (2.0 * near + far) / 3.0).abs() < 1e-12);
    }

    #[test]
    fn logits_that_are_no_numbers_are_wrong() {
        let mut counts = Counts::new(2);
        let nan = f32::NAN;
        counts.labels(&[nan, nan, nan, 1.0, 1.0, nan, 2.0, 1.0], &[0, 1, 0, 0]);
        let e = counts.evaluation();
        assert_eq!((e.accuracy, e.loss.is_nan()), (0.25, true));
        assert_eq!(e.predictions, [u16::MAX, u16::MAX, u16::MAX, 0]);
    }

    #[test]
    fn counts_words_but_not_what_fills_up() {
        let mut counts = Counts::new(2);
        let [yes, no] = [[0.0, 9.0, 0.0], [9.0, 0.0, 0.0]];
        // The start, 1 rightly, the padding; the start, 1 wrongly, 1 rightly.
        let logits = [yes, no, no, no, yes, no].concat();
        counts.words(&logits, &[2, 1, 0, 2, 1, 1], &[0, 1]);
        let e = counts.evaluation();
        assert!((e.accuracy - 2.0 / 3.0).abs() < 1e-12);
        assert_eq!(e.class_accuracy, [1.0, 0.5]);
        assert!(e.predictions.is_empty());
        let sure = (1.0 + 2.0 * (-9f64).exp()).ln();
        assert!((e.loss - (3.0 * sure + 9.0) / 3.0).abs() < 1e-12);
    }
}
