//! The accuracy of visual question answering (Antol et al., "VQA: Visual Question Answering", ICCV 2015).
//! Answers are normalised as in the official evaluation code.

use crate::MetricError;

/// The accuracy of `answer`, given the answers of several people (`human`, ten in the data): the mean of
/// `min(equal answers / 3, 1)` over all subsets of the people that leave one of them out.
///
/// Answers are [normalised](normalise), unless all people give the same answer, as in the official code.
///
/// # Errors
/// There are fewer than two people.
pub fn accuracy<S: AsRef<str>>(answer: &str, human: &[S]) -> Result<f64, MetricError> {
    MetricError::too_few("answers of people", 2, human.len())?;
    let trimmed = human.iter().map(|h| h.as_ref().trim());
    let agreed = trimmed.clone().all(|h| h == human[0].as_ref().trim());
    let (answer, human): (String, Vec<String>) = if agreed {
        (
            answer.trim().to_owned(),
            trimmed.map(str::to_owned).collect(),
        )
    } else {
        (normalise(answer), trimmed.map(normalise).collect())
    };
    let equal = human.iter().filter(|h| **h == answer).count();
    let without = |equal: usize| (equal as f64 / 3.0).min(1.0);
    let sum = equal as f64 * without(equal.saturating_sub(1))
        + (human.len() - equal) as f64 * without(equal);
    Ok(sum / human.len() as f64)
}

/// Normalises an answer: removes punctuation, case and articles, replaces number words by digits, and
/// restores the apostrophes of contractions. For example, `"Two  dogs, isnt it?"` becomes
/// `"2 dogs isn't it"`.
pub fn normalise(answer: &str) -> String {
    let text = without_punctuation(answer.trim()).to_lowercase();
    let words = text.split_whitespace().map(digit);
    let words = words.filter(|word| !["a", "an", "the"].contains(word));
    let words: Vec<String> = words.map(contraction).collect();
    words.join(" ")
}

const PUNCTUATION: [char; 21] = [
    ';', '/', '[', ']', '"', '{', '}', '(', ')', '=', '+', '\\', '_', '-', '>', '<', '@', '`', ',',
    '?', '!',
];

/// Removes punctuation. A mark is deleted if it stands beside a space anywhere in the answer, or if the
/// answer has a comma between digits. Otherwise it becomes a space. Periods are deleted unless a digit
/// follows.
fn without_punctuation(answer: &str) -> String {
    let chars: Vec<char> = answer.chars().collect();
    let digit = |c: Option<&char>| c.is_some_and(|c| c.is_numeric());
    let comma_in_number = chars
        .windows(3)
        .any(|w| w[1] == ',' && digit(w.first()) && digit(w.last()));
    let beside_space = |mark: char| {
        let pairs = chars.windows(2);
        pairs
            .into_iter()
            .any(|w| w == [mark, ' '] || w == [' ', mark])
    };
    let mut text = String::with_capacity(answer.len());
    for (i, &c) in chars.iter().enumerate() {
        match c {
            '.' if !digit(chars.get(i + 1)) => {}
            mark if PUNCTUATION.contains(&mark) => {
                if !comma_in_number && !beside_space(mark) {
                    text.push(' ');
                }
            }
            c => text.push(c),
        }
    }
    text
}

fn digit(word: &str) -> &str {
    match word {
        "none" | "zero" => "0",
        "one" => "1",
        "two" => "2",
        "three" => "3",
        "four" => "4",
        "five" => "5",
        "six" => "6",
        "seven" => "7",
        "eight" => "8",
        "nine" => "9",
        "ten" => "10",
        word => word,
    }
}

/// Restores the apostrophe of a contraction.
fn contraction(word: &str) -> String {
    if word == "somebody'd" {
        // The official table has this one entry the wrong way round.
        return "somebodyd".to_owned();
    }
    let lacks_one = |whole: &str| {
        let mut apostrophes = whole.match_indices('\'');
        apostrophes
            .any(|(at, _)| word.split_at_checked(at) == Some((&whole[..at], &whole[at + 1..])))
    };
    let mut known = CONTRACTIONS.split_whitespace();
    known
        .find(|whole| lacks_one(whole))
        .unwrap_or(word)
        .to_owned()
}

const CONTRACTIONS: &str = "\
    'ow's'at 'twas ain't aren't can't could've couldn't couldn't've didn't doesn't don't hadn't \
    hadn't've hasn't haven't he'd he'd've he's how'd how'll how's isn't it'd it'd've it'll \
    ma'am might've mightn't mightn't've must've mustn't needn't not've o'clock oughtn't shan't \
    she'd've should've shouldn't shouldn't've somebody'd've somebody'll somebody's someone'd \
    someone'd've someone'll someone's something'd something'd've something'll that's there'd \
    there'd've there're there's they'd they'd've they'll they're they've wasn't we'd've we've \
    weren't what'll what're what's what've when's where'd where's where've who'd who'd've \
    who'll who's who've why'll why're why's won't would've wouldn't wouldn't've y'all \
    y'all'd've y'all'll you'd you'd've you'll you're you've \
    ";
