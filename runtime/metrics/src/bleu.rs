//! BLEU score of a corpus (Papineni et al., "BLEU: a Method for Automatic Evaluation of Machine
//! Translation", ACL 2002).
//!
//! The caller splits texts into tokens: words or ids, lower-cased if the task says so.
//!
//! ```
//! use fedround_metrics::bleu::{Corpus, Smoothing};
//!
//! # fn main() -> Result<(), fedround_metrics::MetricError> {
//! let words = |text: &'static str| text.split(' ').collect::<Vec<_>>();
//! let mut corpus = Corpus::default();
//! let references = [words("a dog runs on the beach"), words("the dog runs on a beach")];
//! corpus.add(&words("a dog runs on the beach"), &references)?;
//! assert_eq!(corpus.scores(Smoothing::None)?, [1.0; 4]);
//! # Ok(())
//! # }
//! ```

use std::collections::HashMap;
use std::hash::Hash;

use crate::MetricError;

/// The length of the longest n-grams.
const ORDER: usize = 4;

/// The value in place of a precision of 0. The choices are those of sacrebleu (Post, "A Call for Clarity
/// in Reporting BLEU Scores", 2018).
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Smoothing {
    /// No smoothing, as in FedAA: the score is 0 if there is no common n-gram of some length.
    None,
    /// `(matches + K) / (n-grams + K)` for n-grams of two or more words (Lin and Och, 2004).
    Add(f64),
    /// `1 / (2^i n-grams)` for the i-th length without a match, as in NIST's script. The default of
    /// sacrebleu.
    Exponential,
}

/// Counts of n-grams in a corpus. Sentences are added one at a time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Corpus {
    matches: [u64; ORDER],
    ngrams: [u64; ORDER],
    length: u64,
    reference_length: u64,
}

impl Corpus {
    /// Adds a hypothesis and its references, of which there must be at least one. The matches of an n-gram
    /// are clipped at its largest count in a reference. The brevity penalty uses the length of the reference
    /// that is closest in length, or the shorter of two equally close ones.
    ///
    /// # Errors
    /// There are no references.
    pub fn add<T: Eq + Hash, R: AsRef<[T]>>(
        &mut self,
        hypothesis: &[T],
        references: &[R],
    ) -> Result<(), MetricError> {
        let lengths = references.iter().map(|r| r.as_ref().len());
        let closest = lengths.min_by_key(|&l| (l.abs_diff(hypothesis.len()), l));
        let Some(closest) = closest else {
            return MetricError::too_few("references of a sentence", 1, 0);
        };
        self.length += hypothesis.len() as u64;
        self.reference_length += closest as u64;
        for n in 1..=ORDER {
            let references: Vec<_> = references.iter().map(|r| counts(r.as_ref(), n)).collect();
            for (ngram, count) in counts(hypothesis, n) {
                let most = references.iter().filter_map(|r| r.get(ngram)).max();
                self.ngrams[n - 1] += count;
                self.matches[n - 1] += count.min(most.copied().unwrap_or(0));
            }
        }
        Ok(())
    }

    /// BLEU-1 to BLEU-4, each in `[0, 1]`. BLEU-N is the geometric mean of the precisions of n-grams of 1 to
    /// N words, times the brevity penalty.
    ///
    /// # Errors
    /// There are no words, or `K` is negative or not finite.
    pub fn scores(&self, smoothing: Smoothing) -> Result<[f64; ORDER], MetricError> {
        MetricError::too_few("words", 1, usize::from(self.length > 0))?;
        if let Smoothing::Add(k) = smoothing
            && !(k.is_finite() && k >= 0.0)
        {
            return Err(MetricError::Setting {
                what: "the K of smoothing",
                value: k,
                expected: "a finite number of at least 0",
            });
        }
        let penalty = self.brevity_penalty();
        let mut logs = 0.0;
        let mut scores = [0.0; ORDER];
        for (n, precision) in self.precisions(smoothing).into_iter().enumerate() {
            logs += precision.ln();
            scores[n] = penalty * (logs / (n + 1) as f64).exp();
        }
        Ok(scores)
    }

    /// `exp(1 − r/h)` for hypotheses of `h` words and references of `r` words, but at most 1.
    fn brevity_penalty(&self) -> f64 {
        (1.0 - self.reference_length as f64 / self.length as f64)
            .min(0.0)
            .exp()
    }

    /// Without a common word, nothing is smoothed.
    fn precisions(&self, smoothing: Smoothing) -> [f64; ORDER] {
        if self.matches == [0; ORDER] {
            return [0.0; ORDER];
        }
        let mut halves = 1.0;
        std::array::from_fn(|n| {
            let (matches, ngrams) = (self.matches[n] as f64, self.ngrams[n] as f64);
            match smoothing {
                Smoothing::Add(k) if n > 0 && ngrams + k > 0.0 => (matches + k) / (ngrams + k),
                _ if ngrams == 0.0 => 0.0,
                Smoothing::Exponential if matches == 0.0 => {
                    halves /= 2.0;
                    halves / ngrams
                }
                _ => matches / ngrams,
            }
        })
    }
}

fn counts<T: Eq + Hash>(tokens: &[T], n: usize) -> HashMap<&[T], u64> {
    let mut counts = HashMap::new();
    for ngram in tokens.windows(n) {
        *counts.entry(ngram).or_default() += 1;
    }
    counts
}
