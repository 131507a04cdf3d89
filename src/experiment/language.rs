//! Scores of models that describe images or answer questions: BLEU and VQA accuracy.

use std::sync::Arc;

use fedround_data::text::{Vocabulary, words};
use fedround_data::{Column, Dataset, Examples};
use fedround_dsl::Objective;
use fedround_metrics::bleu::{Corpus, Smoothing};
use fedround_metrics::vqa;
use fedround_simulation::{Evaluation, RunError, Search, Simulation};

use super::ExperimentError;

/// The captions or answers that people gave for the test examples, or their next characters.
pub(super) enum LanguageTest {
    Captions {
        search: Search,
        vocabulary: Arc<Vocabulary>,
        /// The words of each image's captions.
        references: Vec<Vec<Vec<String>>>,
    },
    /// The labels are the next characters of texts.
    Characters,
    Answers {
        /// The names of the classes.
        names: Vec<String>,
        human: Arc<[Vec<String>]>,
        /// Questions that no class answers.
        left_out: usize,
    },
}

/// The column of texts.
const TOKENS: &str = "tokens";

/// What a model says whose scores are no numbers: what nobody answers.
const NO_ANSWER: &str = "\u{fffd}";

/// How a model's captions or answers compare with them.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LanguageScores {
    /// BLEU-1 to BLEU-4 of captions.
    pub bleu: Option<[f64; 4]>,
    /// Over all test questions, of which those that no class answers are wrong; of the clients' own
    /// models together, by the mean of their logits, where they have any.
    pub vqa_accuracy: Option<f64>,
    /// How uncertain the model is of the next characters of texts: `e` to the power of their mean cross-entropy.
    pub perplexity: Option<f64>,
}

impl LanguageTest {
    /// The test of a model that describes images or answers questions; `None` for others.
    pub fn new(
        data: &Dataset,
        model: &str,
        objective: &Objective,
        beam: usize,
    ) -> Result<Option<Self>, ExperimentError> {
        let reads = objective.inputs.iter().any(|input| input == TOKENS);
        if reads && data.language.is_none() {
            return match data.test.column(TOKENS) {
                Some(_) => Ok(Some(Self::Characters)),
                None => Err(ExperimentError::NoText {
                    model: model.to_owned(),
                    data: data.name.clone(),
                }),
            };
        }
        // Inputs of such data are zeros.
        if data.language.is_none() && data.test.column(TOKENS).is_some() {
            return Err(ExperimentError::UnreadTexts {
                model: model.to_owned(),
                data: data.name.clone(),
            });
        }
        let captions = data.test.column("references").and(data.language.as_ref());
        match (&data.language, captions) {
            (_, Some(captions)) if objective.target != "y" => {
                let of = |text: &String| words(text).collect();
                let references = captions.human.iter();
                let sentence = data.test.column(&objective.target);
                let longest = sentence.map_or(0, Column::features);
                Ok(Some(Self::Captions {
                    search: Search {
                        beam,
                        // Without start and end.
                        longest: longest.saturating_sub(2),
                    },
                    vocabulary: captions.vocabulary.clone(),
                    references: references
                        .map(|said| said.iter().map(of).collect())
                        .collect(),
                }))
            }
            (Some(_), None) if objective.target != "y" => Err(ExperimentError::NoCaptions {
                model: model.to_owned(),
                data: data.name.clone(),
            }),
            (Some(questions), None) if !objective.inputs.is_empty() => Ok(Some(Self::Answers {
                names: data.class_names.clone(),
                human: questions.human.clone(),
                left_out: questions.left_out,
            })),
            _ => Ok(None),
        }
    }

    /// Scores the captions of the simulation's current model, or the answers of an evaluation on the
    /// test examples.
    pub fn score(
        &self,
        simulation: &Simulation,
        examples: &Examples,
        evaluation: &Evaluation,
    ) -> Result<LanguageScores, RunError> {
        Ok(match self {
            Self::Captions {
                search,
                vocabulary,
                references,
            } => {
                let said = simulation.captions(examples, *search)?;
                let said = said.iter().map(|ids| vocabulary.decode(ids));
                LanguageScores {
                    bleu: Some(bleu(said, references)),
                    ..LanguageScores::default()
                }
            }
            Self::Characters => LanguageScores {
                perplexity: Some(evaluation.loss.exp()),
                ..LanguageScores::default()
            },
            Self::Answers {
                names,
                human,
                left_out,
            } => {
                let said = evaluation.predictions.iter().map(|&class| {
                    names
                        .get(usize::from(class))
                        .map_or(NO_ANSWER, |name| &**name)
                });
                LanguageScores {
                    vqa_accuracy: Some(answers(said, human, *left_out)),
                    ..LanguageScores::default()
                }
            }
        })
    }
}

/// BLEU-1 to BLEU-4 without smoothing, as in FedAA; nothing said at all scores 0.
fn bleu(said: impl Iterator<Item = String>, references: &[Vec<Vec<String>>]) -> [f64; 4] {
    let mut corpus = Corpus::default();
    for (caption, references) in said.zip(references) {
        let caption: Vec<String> = caption.split_whitespace().map(str::to_owned).collect();
        // An image without references cannot be judged.
        let _ = corpus.add(&caption, references);
    }
    corpus.scores(Smoothing::None).unwrap_or_default()
}

/// The accuracy of answers as in VQA where several people answered, and whether they are the one
/// right answer where one did.
fn answers<'a>(said: impl Iterator<Item = &'a str>, human: &[Vec<String>], left_out: usize) -> f64 {
    let each = said.zip(human).map(|(answer, human)| match &human[..] {
        [right] => f64::from(u8::from(answer == right)),
        several => vqa::accuracy(answer, several).unwrap_or_default(),
    });
    each.sum::<f64>() / (human.len() + left_out) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(all: &[&str]) -> Vec<String> {
        all.iter().map(|text| (*text).to_owned()).collect()
    }

    #[test]
    fn captions_are_judged_by_their_words() {
        let reference = |text: &str| vec![words(text).collect::<Vec<_>>()];
        let references = [reference("A dog runs on grass."), reference("Two cats")];
        let said = texts(&["a dog runs on grass", "two cats"]);
        assert_eq!(bleu(said.into_iter(), &references), [1.0; 4]);
        let said = texts(&["a dog runs on <unk>", "two cats"]);
        let [one, .., four] = bleu(said.into_iter(), &references);
        assert!((one - 6.0 / 7.0).abs() < 1e-12 && four < 1.0 && four > 0.0);
        assert_eq!(bleu(texts(&["", ""]).into_iter(), &references), [0.0; 4]);
    }

    #[test]
    fn answers_are_judged_by_how_many_gave_them() {
        let one = [texts(&["red"]), texts(&["blue"])];
        assert_eq!(answers(["red", "red"].into_iter(), &one, 0), 0.5);
        assert_eq!(answers(["red", "blue"].into_iter(), &one, 2), 0.5);
        let ten = [[&["yes"; 3][..], &["no"; 7]].concat()].map(|all| texts(&all));
        let yes = answers(["yes"].into_iter(), &ten, 0);
        // Left out in turn, 2 or 3 of 3 are left.
        assert!((yes - (0.3 * 2.0 / 3.0 + 0.7)).abs() < 1e-12, "{yes}");
    }
}
