//! Clustering of texts by their words.

use std::collections::{HashMap, HashSet};

use fedround_random::{Purpose, SEED, StreamKey};

use super::vocabulary::words;

/// Spherical k-means over tf-idf (Dhillon and Modha, 2001).
///
/// A text is a unit vector of word weights, and a group's centre is the direction of the sum of its texts.
/// Each text belongs to the centre with the largest cosine. The weight of a word is its count in the text
/// times `ln(texts / texts that have it)`. Words that occur in a single text, or in more than half of the
/// texts, are ignored. The first centres are drawn as in k-means++ (Arthur and Vassilvitskii, 2007). The
/// result is a function of the texts and the seed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Topics {
    /// The number of groups, at least 1. There are fewer if there are fewer texts.
    pub groups: u16,
    /// The largest number of passes. The algorithm stops when no text changes its group.
    pub passes: usize,
    /// The seed of the first centres.
    pub seed: u64,
}

impl Default for Topics {
    fn default() -> Self {
        Self {
            groups: 20,
            passes: 50,
            seed: SEED,
        }
    }
}

/// The groups of some texts, or of the images that they describe.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Groups {
    /// The groups' names.
    pub names: Vec<String>,
    /// The group of each text.
    pub of: Vec<u16>,
}

/// A text: the weights of its words, by ascending word, with norm 1 or none at all.
type Text = Vec<(usize, f32)>;

impl Topics {
    /// The group of each text. A group is named by the three words with the largest weights in its
    /// centre.
    pub fn group(self, texts: &[String]) -> Groups {
        let (texts, vocabulary) = tf_idf(texts);
        let mut centres = self.first_centres(&texts, vocabulary.len());
        let mut of = vec![0; texts.len()];
        for _ in 0..self.passes.max(1) {
            let nearest: Vec<u16> = texts.iter().map(|t| nearest(t, &centres)).collect();
            let settled = nearest == of;
            of = nearest;
            move_centres(&mut centres, &texts, &of);
            if settled {
                break;
            }
        }
        let names = centres.iter().map(|c| name(c, &vocabulary)).collect();
        Groups { names, of }
    }

    /// Draws texts one after another, each with a probability in proportion to its distance, `1 - cosine`,
    /// from the nearest text drawn before.
    fn first_centres(self, texts: &[Text], words: usize) -> Vec<Vec<f32>> {
        let groups = usize::from(self.groups).clamp(1, texts.len().max(1));
        let mut draw = StreamKey::new(self.seed, Purpose::Topics).stream();
        let mut centres = Vec::with_capacity(groups);
        let mut distances = vec![1.0; texts.len()];
        while centres.len() < groups {
            let mut left = draw.unit() * distances.iter().sum::<f64>();
            let chosen = distances.iter().position(|distance| {
                left -= distance;
                left < 0.0
            });
            let mut centre = vec![0.0; words];
            if let Some(text) = chosen.and_then(|i| texts.get(i)) {
                text.iter()
                    .for_each(|&(word, weight)| centre[word] = weight);
            }
            for (distance, text) in distances.iter_mut().zip(texts) {
                *distance = distance.min(f64::from(1.0 - cosine(text, &centre)).max(0.0));
            }
            centres.push(centre);
        }
        centres
    }
}

/// The texts as vectors, and the words of the vectors.
fn tf_idf(texts: &[String]) -> (Vec<Text>, Vec<String>) {
    let texts: Vec<Vec<String>> = texts.iter().map(|t| words(t).collect()).collect();
    let mut having = HashMap::<&str, usize>::new();
    for text in &texts {
        for word in text.iter().collect::<HashSet<_>>() {
            *having.entry(word).or_default() += 1;
        }
    }
    having.retain(|_, count| *count > 1 && *count <= texts.len() / 2);
    let mut vocabulary: Vec<String> = having.keys().map(|&w| w.to_owned()).collect();
    vocabulary.sort_unstable();
    let index: HashMap<&str, usize> = vocabulary.iter().map(String::as_str).zip(0..).collect();
    let vector = |text: &Vec<String>| {
        let known = text.iter().filter_map(|w| index.get(w.as_str()).copied());
        let mut known: Vec<usize> = known.collect();
        known.sort_unstable();
        let runs = known.chunk_by(|a, b| a == b);
        let rarity = |word: usize| texts.len() as f32 / having[vocabulary[word].as_str()] as f32;
        let weigh = |run: &[usize]| (run[0], run.len() as f32 * rarity(run[0]).ln());
        unit(runs.map(weigh).collect())
    };
    let vectors = texts.iter().map(vector).collect();
    (vectors, vocabulary)
}

fn unit(mut text: Text) -> Text {
    let norm = text.iter().map(|(_, w)| w * w).sum::<f32>().sqrt();
    text.iter_mut().for_each(|(_, w)| *w /= norm);
    text
}

fn cosine(text: &Text, centre: &[f32]) -> f32 {
    text.iter()
        .map(|&(word, weight)| weight * centre[word])
        .sum()
}

/// The group of the nearest centre, the first of equally near ones.
fn nearest(text: &Text, centres: &[Vec<f32>]) -> u16 {
    let cosines = centres.iter().map(|centre| cosine(text, centre));
    let best = |best: (u16, f32), next: (u16, f32)| if next.1 > best.1 { next } else { best };
    (0..).zip(cosines).fold((0, f32::NEG_INFINITY), best).0
}

/// Moves each centre to the direction of the sum of its texts. A centre without texts stays.
fn move_centres(centres: &mut [Vec<f32>], texts: &[Text], of: &[u16]) {
    let mut sums = vec![vec![0.0; centres.first().map_or(0, Vec::len)]; centres.len()];
    for (text, &group) in texts.iter().zip(of) {
        for &(word, weight) in text {
            sums[usize::from(group)][word] += weight;
        }
    }
    for (centre, mut sum) in centres.iter_mut().zip(sums) {
        let norm = sum.iter().map(|w| w * w).sum::<f32>().sqrt();
        if norm > 0.0 {
            sum.iter_mut().for_each(|w| *w /= norm);
            *centre = sum;
        }
    }
}

fn name(centre: &[f32], vocabulary: &[String]) -> String {
    let mut weights: Vec<(usize, f32)> = centre.iter().copied().enumerate().collect();
    weights.sort_by(|a, b| b.1.total_cmp(&a.1));
    let heavy = weights.iter().take(3).filter(|(_, weight)| *weight > 0.0);
    let words: Vec<_> = heavy.map(|&(word, _)| vocabulary[word].as_str()).collect();
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts() -> Vec<String> {
        let about = [
            ["dog", "grass", "ball"],
            ["surf", "wave", "sea"],
            ["bike", "road", "helmet"],
        ];
        let pick = |i: usize| {
            let [a, b, c] = about[i % 3];
            let two = [(a, b), (b, c), (a, c)][i / 3 % 3];
            format!("the {} and the {}", two.0, two.1)
        };
        (0..18).map(pick).collect()
    }

    #[test]
    fn texts_of_the_same_words_meet() {
        let topics = Topics {
            groups: 3,
            ..Topics::default()
        };
        let groups = topics.group(&texts());
        for (i, group) in groups.of.iter().enumerate() {
            assert_eq!(*group, groups.of[i % 3], "text {i}");
        }
        let distinct: HashSet<_> = groups.of[..3].iter().collect();
        assert_eq!(distinct.len(), 3);
        let mut named: Vec<_> = groups.names[usize::from(groups.of[0])].split(' ').collect();
        named.sort_unstable();
        assert_eq!(named, ["ball", "dog", "grass"]);
    }

    #[test]
    fn groups_are_a_function_of_the_seed() {
        let group = |seed| {
            Topics {
                seed,
                ..Topics::default()
            }
            .group(&texts())
        };
        assert_eq!(group(1), group(1));
        assert!((2..20).any(|seed| group(seed).of != group(1).of));
    }

    #[test]
    fn odd_texts_do_no_harm() {
        let topics = Topics::default();
        assert_eq!(topics.group(&[]).of, [0; 0]);
        let same = topics.group(&["a".to_owned(), "a".to_owned(), String::new()]);
        assert_eq!(same.of.len(), 3);
    }
}
