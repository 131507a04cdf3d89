//! Vocabularies: words and their token ids.

use std::collections::HashMap;
use std::hash::Hash;

/// The id that fills a sequence up to its length.
pub const PAD: i32 = 0;
/// The id that starts a sentence.
pub const START: i32 = 1;
/// The id that ends a sentence.
pub const END: i32 = 2;
/// The id of words that the vocabulary does not have.
pub const UNKNOWN: i32 = 3;

const SPECIAL: [&str; 4] = ["<pad>", "<start>", "<end>", "<unk>"];

/// Splits a text into words in lower case. A word is a run of letters and digits, with apostrophes, hyphens
/// and underscores inside it. All other characters separate words.
///
/// ```
/// let words: Vec<_> = fedround_data::text::words("A dog's T-shirt, \"wet\" .").collect();
/// assert_eq!(words, ["a", "dog's", "t-shirt", "wet"]);
/// ```
pub fn words(text: &str) -> impl Iterator<Item = String> {
    let joins = |c: char| matches!(c, '\'' | '-' | '_');
    text.split(move |c: char| !c.is_alphanumeric() && !joins(c))
        .map(move |word| word.trim_matches(joins).to_lowercase())
        .filter(|word| !word.is_empty())
}

/// The words of a corpus and their ids. Ids 0 to 3 are [`PAD`], [`START`], [`END`] and [`UNKNOWN`]. The
/// words follow by falling count, and in alphabetical order if counts are equal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Vocabulary {
    words: Vec<String>,
    ids: HashMap<String, i32>,
}

impl Vocabulary {
    /// The words that occur at least `min_count` times in `texts`.
    pub fn new<'a>(texts: impl IntoIterator<Item = &'a str>, min_count: usize) -> Self {
        let counted = by_count(texts.into_iter().flat_map(words)).into_iter();
        let kept = counted.take_while(|(_, count)| *count >= min_count);
        let special = SPECIAL.map(str::to_owned).into_iter();
        let words: Vec<_> = special.chain(kept.map(|(word, _)| word)).collect();
        let ids = words.iter().cloned().zip(0..).collect();
        Self { words, ids }
    }

    /// The words by their ids.
    pub fn words(&self) -> &[String] {
        &self.words
    }

    /// The number of ids.
    pub fn len(&self) -> usize {
        self.words.len()
    }

    /// Whether there are only the four special ids.
    pub fn is_empty(&self) -> bool {
        self.words.len() == SPECIAL.len()
    }

    /// The id of a word in lower case, or [`UNKNOWN`].
    pub fn id(&self, word: &str) -> i32 {
        self.ids.get(word).copied().unwrap_or(UNKNOWN)
    }

    /// The word of an id, or `<unk>` for an invalid id.
    pub fn word(&self, id: i32) -> &str {
        let index = usize::try_from(id).unwrap_or(usize::MAX);
        self.words.get(index).map_or(SPECIAL[3], String::as_str)
    }

    /// Appends the `length` ids of a sentence to `ids`: [`START`], its words, [`END`] and [`PAD`]s. A
    /// sentence that is too long loses its last words but keeps [`END`]. Returns the number of ids that
    /// are not padding.
    pub fn sentence(&self, text: &str, length: usize, ids: &mut Vec<i32>) -> usize {
        let words = words(text).map(|w| self.id(&w));
        let inner = words.take(length.saturating_sub(2));
        let all = std::iter::once(START).chain(inner).chain([END]);
        padded(all, length, ids)
    }

    /// Appends the `length` ids of a question to `ids`: [`PAD`]s, then its first words. Returns the number
    /// of ids that are not padding.
    ///
    /// Padding comes first because models read the last state of a recurrent network. After a dozen steps
    /// of padding, that state would have forgotten the words.
    pub fn question(&self, text: &str, length: usize, ids: &mut Vec<i32>) -> usize {
        let start = ids.len();
        let used = padded(words(text).map(|w| self.id(&w)), length, ids);
        ids[start..].rotate_left(used);
        used
    }

    /// The words of `ids`, separated by blanks, up to the first [`END`]. [`PAD`] and [`START`] are
    /// skipped.
    pub fn decode(&self, ids: &[i32]) -> String {
        let said = ids.iter().take_while(|&&id| id != END);
        let words = said.filter(|&&id| id != PAD && id != START);
        let words: Vec<_> = words.map(|&id| self.word(id)).collect();
        words.join(" ")
    }
}

/// Texts with their counts: by falling count, and in alphabetical order if counts are equal.
pub(super) fn by_count<T: Ord + Hash>(texts: impl Iterator<Item = T>) -> Vec<(T, usize)> {
    let mut counts = HashMap::<T, usize>::new();
    for text in texts {
        *counts.entry(text).or_default() += 1;
    }
    let mut counted: Vec<_> = counts.into_iter().collect();
    counted.sort_unstable_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    counted
}

fn padded(all: impl Iterator<Item = i32>, length: usize, ids: &mut Vec<i32>) -> usize {
    let start = ids.len();
    ids.extend(all.take(length));
    let used = ids.len() - start;
    ids.resize(start + length, PAD);
    used
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tiny() -> Vocabulary {
        Vocabulary::new(["A dog runs .", "a dog, a CAT", "the cat"], 2)
    }

    #[test]
    fn ids_are_by_count_then_alphabet() {
        let vocabulary = tiny();
        let words: Vec<_> = (0..7).map(|id| vocabulary.word(id)).collect();
        assert_eq!(
            words,
            ["<pad>", "<start>", "<end>", "<unk>", "a", "cat", "dog"]
        );
        assert_eq!((vocabulary.len(), vocabulary.id("runs")), (7, UNKNOWN));
        assert_eq!(
            (vocabulary.word(-1), vocabulary.word(99)),
            ("<unk>", "<unk>")
        );
    }

    #[test]
    fn sentences_are_padded_and_cut_before_their_end() {
        let mut ids = vec![9];
        assert_eq!(tiny().sentence("A dog barks!", 7, &mut ids), 5);
        assert_eq!(ids, [9, START, 4, 6, UNKNOWN, END, PAD, PAD]);
        ids.clear();
        assert_eq!(tiny().sentence("a cat a dog a", 4, &mut ids), 4);
        assert_eq!(ids, [START, 4, 5, END]);
        assert_eq!(tiny().decode(&ids), "a cat");
    }

    #[test]
    fn questions_end_with_their_words() {
        let mut ids = Vec::new();
        assert_eq!(tiny().question("a cat?", 3, &mut ids), 2);
        assert_eq!(tiny().question("a cat a dog?", 2, &mut ids), 2);
        assert_eq!(ids, [PAD, 4, 5, 4, 5]);
        assert_eq!(tiny().question("", 0, &mut ids), 0);
    }

    #[test]
    fn decoding_stops_at_the_end() {
        assert_eq!(tiny().decode(&[START, 6, 3, END, 4]), "dog <unk>");
    }
}
