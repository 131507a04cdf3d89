//! How one model does on test examples.

use fedround_data::Examples;
use fedround_metrics::classification::roc_auc;
use fedround_simulation::Evaluation;

use super::language::LanguageScores;

/// How one model does on test examples.
#[derive(Clone, Debug)]
pub struct ModelScores {
    /// Its loss, accuracy and predictions.
    pub evaluation: Evaluation,
    /// The area under the ROC curve of the second of two classes; `None` if there are not two, or if the examples are
    /// all of one class.
    pub auc: Option<f64>,
    /// BLEU-1 to BLEU-4 of the captions of a model that writes some.
    pub bleu: Option<[f64; 4]>,
    /// The VQA accuracy of a model that answers questions.
    pub vqa_accuracy: Option<f64>,
    /// The perplexity of a model that predicts next characters.
    pub perplexity: Option<f64>,
}

impl ModelScores {
    pub(super) fn new(
        evaluation: Evaluation,
        examples: &Examples,
        language: LanguageScores,
    ) -> Self {
        Self {
            auc: auc(&evaluation.margins, examples.labels()),
            bleu: language.bleu,
            vqa_accuracy: language.vqa_accuracy,
            perplexity: language.perplexity,
            evaluation,
        }
    }
}

/// The area under the ROC curve of the second of two classes; `None` where there is no such curve.
pub(super) fn auc(margins: &[f32], labels: &[u16]) -> Option<f64> {
    let scores: Vec<f64> = margins.iter().map(|z| f64::from(*z)).collect();
    let positive: Vec<bool> = labels.iter().map(|label| *label == 1).collect();
    roc_auc(&scores, &positive).ok()
}
