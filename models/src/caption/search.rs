//! Finding a caption: greedy and beam search over a decoder's steps.

/// What a search needs to know of the words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Words {
    /// The word that every caption starts after.
    pub start: usize,
    /// The word that ends one.
    pub end: usize,
    /// Words of the longest caption.
    pub longest: usize,
}

/// A caption so far.
struct Hypothesis<S> {
    words: Vec<usize>,
    /// Log probability, in nats.
    score: f64,
    /// The decoder's state; none once the caption has ended.
    state: Option<S>,
}

/// The likeliest caption that a beam finds, without the start and end words. A beam of width 1 is
/// greedy search.
///
/// `step` takes last words with their states, and gives the log probabilities of all next words
/// with the next states, in the same order. A caption that ends leaves the beam, which narrows; the
/// search is over when none is left or the longest are too long. Among equals the one with the
/// smaller words wins.
///
/// # Examples
///
/// A decoder that knows two words beside the start (0) and the end (1), and says "2 3":
///
/// ```
/// use fedround_models::{Words, beam_search};
///
/// let words = Words { start: 0, end: 1, longest: 5 };
/// let next = |last: usize| [2, 1, 3, 1][last];
/// let caption = beam_search(words, 2, (), |last| {
///     let one_hot = |word| (0..4).map(|w| if w == word { -0.1f32 } else { -3.0 }).collect();
///     last.iter().map(|(word, ())| (one_hot(next(*word)), ())).collect()
/// });
/// assert_eq!(caption, [2, 3]);
/// ```
pub fn beam_search<S: Clone>(
    words: Words,
    width: usize,
    start: S,
    mut step: impl FnMut(Vec<(usize, S)>) -> Vec<(Vec<f32>, S)>,
) -> Vec<usize> {
    let mut beam = Beam::new(words, width, start);
    loop {
        let open = beam.open();
        if open.is_empty() {
            return beam.best();
        }
        beam.extend(step(open));
    }
}

/// A search that others may go on beside: [`beam_search`], step by step.
pub struct Beam<S> {
    words: Words,
    width: usize,
    steps: usize,
    hypotheses: Vec<Hypothesis<S>>,
}

impl<S: Clone> Beam<S> {
    /// A search that keeps this number of captions at most, and at least one.
    pub fn new(words: Words, width: usize, start: S) -> Self {
        Self {
            words,
            width: width.max(1),
            steps: 0,
            hypotheses: vec![Hypothesis {
                words: vec![],
                score: 0.0,
                state: Some(start),
            }],
        }
    }

    /// The last words of the captions that may go on, with their states: at most as many as the beam
    /// is wide, and none when the search is over.
    pub fn open(&self) -> Vec<(usize, S)> {
        if self.steps == self.words.longest {
            return vec![];
        }
        let open = self.hypotheses.iter().filter_map(|h| {
            let word = h.words.last().copied().unwrap_or(self.words.start);
            Some((word, h.state.clone()?))
        });
        open.collect()
    }

    /// Goes one word further: the log probabilities of all next words, with the next states, for each
    /// of the [open](Self::open) captions.
    pub fn extend(&mut self, scored: Vec<(Vec<f32>, S)>) {
        let all = std::mem::take(&mut self.hypotheses).into_iter();
        let (open, mut next): (Vec<_>, Vec<_>) = all.partition(|h| h.state.is_some());
        for (hypothesis, (log_probabilities, state)) in open.iter().zip(scored) {
            let (end, width) = (self.words.end, self.width);
            next.extend(extensions(
                hypothesis,
                &log_probabilities,
                &state,
                end,
                width,
            ));
        }
        next.sort_by(|a, b| {
            b.score
                .total_cmp(&a.score)
                .then_with(|| a.words.cmp(&b.words))
        });
        next.truncate(self.width);
        self.hypotheses = next;
        self.steps += 1;
    }

    /// The likeliest caption, without the start and end words.
    pub fn best(self) -> Vec<usize> {
        let best = self.hypotheses.into_iter().next();
        best.map_or_else(Vec::new, |h| h.words)
    }
}

/// The likeliest captions that are one word longer.
fn extensions<S: Clone>(
    from: &Hypothesis<S>,
    log_probabilities: &[f32],
    state: &S,
    end: usize,
    width: usize,
) -> Vec<Hypothesis<S>> {
    let mut order: Vec<usize> = (0..log_probabilities.len()).collect();
    order.sort_by(|a, b| log_probabilities[*b].total_cmp(&log_probabilities[*a]));
    let extended = order.into_iter().take(width.max(1)).map(|word| {
        let ends = word == end;
        let mut words = from.words.clone();
        words.extend((!ends).then_some(word));
        Hypothesis {
            words,
            score: from.score + f64::from(log_probabilities[word]),
            state: (!ends).then(|| state.clone()),
        }
    });
    extended.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const WORDS: Words = Words {
        start: 0,
        end: 1,
        longest: 4,
    };

    /// Probabilities of a next word by the word before. The likeliest first word (2) leads only to
    /// unlikely ends; 3 ends at once.
    fn decoder(last: Vec<(usize, usize)>) -> Vec<(Vec<f32>, usize)> {
        let row = |word| match word {
            0 => [0.0f32, 0.0, 0.6, 0.4],
            2 => [0.0, 0.4, 0.3, 0.3],
            _ => [0.0, 1.0, 0.0, 0.0],
        };
        let logs = |word| row(word).map(f32::ln).to_vec();
        last.into_iter()
            .map(|(word, n)| (logs(word), n + 1))
            .collect()
    }

    #[test]
    fn greedy_takes_the_likeliest_word() {
        assert_eq!(beam_search(WORDS, 1, 0, decoder), [2]);
    }

    #[test]
    fn a_beam_finds_a_likelier_caption() {
        // 0.4 for "3", 0.24 for "2".
        assert_eq!(beam_search(WORDS, 2, 0, decoder), [3]);
    }

    #[test]
    fn the_longest_caption_is_cut() {
        let forever = |last: Vec<(usize, ())>| {
            last.into_iter()
                .map(|_| (vec![-9.0, -9.0, -0.1, -9.0], ()))
                .collect()
        };
        assert_eq!(beam_search(WORDS, 3, (), forever), [2; 4]);
    }

    #[test]
    fn states_follow_their_captions() {
        let mut seen = vec![];
        beam_search(WORDS, 2, 0, |last| {
            seen.push(last.iter().map(|(_, n)| *n).collect::<Vec<_>>());
            decoder(last)
        });
        assert_eq!(seen, [vec![0], vec![1, 1]]);
    }
}
