//! Accuracy and related metrics of classifiers.

use crate::{MetricError, Rows};

/// The class with the largest logit in each row of `logits`, `[examples, classes]`. The first of equally
/// large ones counts.
///
/// # Errors
/// There are more than 65,536 classes.
pub fn predictions(logits: Rows) -> Result<Vec<u16>, MetricError> {
    check_classes(logits.width())?;
    Ok(logits.iter().map(largest).collect())
}

/// The predictions of an ensemble: the class with the largest mean logit over `models`. The logits of a
/// model are `[examples, classes]`.
///
/// # Errors
/// There are no models, or they differ in the number of examples or classes.
///
/// # Paper
/// The "new test" of LG-FedAvg (Liang, Liu, et al., 2020): an example of an unknown device goes through
/// every local model, and the outputs are averaged.
pub fn ensemble_predictions(models: &[Rows]) -> Result<Vec<u16>, MetricError> {
    let Some(first) = models.first() else {
        return MetricError::too_few("models", 1, 0).map(|()| Vec::new());
    };
    check_classes(first.width())?;
    // The sum has the same largest logit as the mean.
    let mut sum = vec![0.0; first.values().len()];
    for logits in models {
        let classes = ("classes of a model", logits.width());
        MetricError::lengths(classes, ("those of the first", first.width()))?;
        let examples = ("examples of a model", logits.len());
        MetricError::lengths(examples, ("those of the first", first.len()))?;
        for (sum, &logit) in sum.iter_mut().zip(logits.values()) {
            *sum += f64::from(logit);
        }
    }
    Ok(sum.chunks_exact(first.width()).map(largest).collect())
}

fn check_classes(classes: usize) -> Result<(), MetricError> {
    if classes > usize::from(u16::MAX) + 1 {
        return Err(MetricError::Setting {
            what: "the number of classes",
            value: classes as f64,
            expected: "at most 65536",
        });
    }
    Ok(())
}

fn largest<T: PartialOrd + Copy>(row: &[T]) -> u16 {
    let mut best = 0;
    for (class, z) in row.iter().enumerate() {
        if *z > row[best] {
            best = class;
        }
    }
    best as u16
}

/// The fraction of correct predictions.
///
/// # Errors
/// There are no examples, or the numbers of predictions and labels differ.
pub fn accuracy(predictions: &[u16], labels: &[u16]) -> Result<f64, MetricError> {
    pairs(predictions, labels)?;
    let right = predictions.iter().zip(labels).filter(|(p, l)| p == l);
    Ok(right.count() as f64 / labels.len() as f64)
}

/// The recall of each class, `[classes]`: the fraction of correct predictions among its examples. `None` for
/// a class without examples.
///
/// # Errors
/// The errors of [`accuracy`], and a label that is not below `classes`.
pub fn class_accuracy(
    predictions: &[u16],
    labels: &[u16],
    classes: usize,
) -> Result<Vec<Option<f64>>, MetricError> {
    pairs(predictions, labels)?;
    let mut counts = vec![(0u64, 0u64); classes];
    for (index, (prediction, &class)) in predictions.iter().zip(labels).enumerate() {
        let Some((right, seen)) = counts.get_mut(usize::from(class)) else {
            return Err(MetricError::Class {
                index,
                class,
                classes,
            });
        };
        *right += u64::from(*prediction == class);
        *seen += 1;
    }
    let fraction = |(right, seen)| (seen > 0).then(|| right as f64 / seen as f64);
    Ok(counts.into_iter().map(fraction).collect())
}

/// The mean of [`class_accuracy`] over the classes that have examples.
///
/// # Errors
/// The errors of [`class_accuracy`].
pub fn balanced_accuracy(
    predictions: &[u16],
    labels: &[u16],
    classes: usize,
) -> Result<f64, MetricError> {
    let found: Vec<f64> = class_accuracy(predictions, labels, classes)?
        .into_iter()
        .flatten()
        .collect();
    Ok(found.iter().sum::<f64>() / found.len() as f64)
}

fn pairs(predictions: &[u16], labels: &[u16]) -> Result<(), MetricError> {
    MetricError::lengths(("predictions", predictions.len()), ("labels", labels.len()))?;
    MetricError::too_few("examples", 1, labels.len())
}

/// The area under the ROC curve: the probability that a positive example has a higher score than a negative
/// one, where ties count half (Mann and Whitney, 1947).
///
/// # Errors
/// The numbers of scores and labels differ, a score is not finite, or there is no positive or no negative
/// example.
pub fn roc_auc(scores: &[f64], positive: &[bool]) -> Result<f64, MetricError> {
    MetricError::lengths(("scores", scores.len()), ("labels", positive.len()))?;
    MetricError::finite(scores.iter().copied())?;
    let positives = positive.iter().filter(|&&p| p).count();
    let negatives = positive.len() - positives;
    MetricError::too_few("positive examples", 1, positives)?;
    MetricError::too_few("negative examples", 1, negatives)?;

    let mut order: Vec<usize> = (0..scores.len()).collect();
    order.sort_by(|&i, &j| scores[i].total_cmp(&scores[j]));
    let (mut wins, mut below) = (0.0, 0);
    for tied in order.chunk_by(|&i, &j| scores[i] == scores[j]) {
        let here = tied.iter().filter(|&&i| positive[i]).count();
        let against = tied.len() - here;
        wins += here as f64 * (below as f64 + against as f64 / 2.0);
        below += against;
    }
    Ok(wins / (positives as f64 * negatives as f64))
}
