//! Values of other implementations (sacrebleu 2.6.0, scipy 1.17.1, scikit-learn 1.9.1, dcor 0.7)
//! and of hand.

use fedround_metrics::bleu::{Corpus, Smoothing};
use fedround_metrics::classification::*;
use fedround_metrics::correlation::*;
use fedround_metrics::features::*;
use fedround_metrics::{Rows, vqa};

fn close(found: f64, expected: f64) {
    assert!(
        (found - expected).abs() <= 1e-9 * expected.abs().max(1.0),
        "{found}, expected {expected}"
    );
}

#[test]
fn accuracies() {
    let (found, labels) = ([0, 0, 1, 1, 2], [0, 1, 1, 1, 0]);
    close(accuracy(&found, &labels).unwrap(), 0.6);
    let classes = class_accuracy(&found, &labels, 3).unwrap();
    assert_eq!(classes, [Some(0.5), Some(2.0 / 3.0), None]);
    close(balanced_accuracy(&found, &labels, 3).unwrap(), 7.0 / 12.0);
    assert_eq!(
        class_accuracy(&found, &labels, 1).unwrap_err().to_string(),
        "class 1 of example 1 is out of range, expected 0 to 0"
    );
    assert_eq!(
        accuracy(&found, &labels[..4]).unwrap_err().to_string(),
        "expected as many predictions as labels (4), found 5"
    );
    assert_eq!(
        accuracy(&[], &[]).unwrap_err().to_string(),
        "expected at least 1 examples, found 0"
    );
}

#[test]
fn an_ensemble_averages_logits() {
    let rows = |values| Rows::new(values, 2).unwrap();
    let (a, b) = (rows(&[2.0, 0.0, 0.0, 1.0]), rows(&[0.0, 1.0, 0.0, 3.0]));
    assert_eq!(predictions(b).unwrap(), [1, 1]);
    assert_eq!(ensemble_predictions(&[a, b]).unwrap(), [0, 1]);
    assert_eq!(predictions(rows(&[1.0, 1.0])).unwrap(), [0]);
    assert!(ensemble_predictions(&[]).is_err());
    let short = rows(&[0.0, 1.0]);
    assert_eq!(
        ensemble_predictions(&[a, short]).unwrap_err().to_string(),
        "expected as many examples of a model as those of the first (2), found 1"
    );
}

#[test]
fn auc() {
    let (no, yes) = (false, true);
    let plain = roc_auc(&[0.1, 0.4, 0.35, 0.8], &[no, no, yes, yes]);
    close(plain.unwrap(), 0.75);
    let tied = roc_auc(
        &[0.5, 0.5, 0.7, 0.7, 0.7, 0.1, 0.2],
        &[no, yes, yes, no, yes, no, yes],
    );
    close(tied.unwrap(), 0.625);
    close(roc_auc(&[0.3; 4], &[no, yes, yes, no]).unwrap(), 0.5);
    assert_eq!(
        roc_auc(&[0.3; 2], &[yes; 2]).unwrap_err().to_string(),
        "expected at least 1 negative examples, found 0"
    );
}

const HYPOTHESES: [&str; 4] = [
    "the cat sat on the mat",
    "a dog runs in the green park today",
    "two people are riding a horse",
    "a man",
];
const REFERENCES: [[&str; 2]; 4] = [
    ["the cat is on the mat", "there is a cat on the mat"],
    [
        "a dog is running in the park",
        "the dog runs in a park on a sunny day",
    ],
    [
        "two people ride a horse on the beach",
        "two people are riding a brown horse",
    ],
    ["a man is eating a large piece of food", "a man eating food"],
];

fn corpus<const R: usize>(hypotheses: &[&str], references: &[[&str; R]]) -> Corpus {
    let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
    let mut corpus = Corpus::default();
    for (hypothesis, references) in hypotheses.iter().zip(references) {
        corpus
            .add(&words(hypothesis), &references.map(words))
            .unwrap();
    }
    corpus
}

#[test]
fn bleu_is_that_of_sacrebleu() {
    let corpus = corpus(&HYPOTHESES, &REFERENCES);
    let plain = [
        0.7885869822437721,
        0.7211399693998978,
        0.5535199293043953,
        0.4096273492235394,
    ];
    let added = [
        0.7885869822437721,
        0.728402387952645,
        0.5786826552441183,
        0.45861158597138396,
    ];
    for (smoothing, expected) in [
        (Smoothing::None, plain),
        (Smoothing::Add(1.0), added),
        (Smoothing::Exponential, plain),
    ] {
        for (found, expected) in corpus.scores(smoothing).unwrap().into_iter().zip(expected) {
            close(found, expected);
        }
    }
}

#[test]
fn bleu_without_a_common_word_pair() {
    let corpus = corpus(
        &["a red bus drives"],
        &[["the red car drives fast now", "a bus stops here"]],
    );
    let bleu_4 = |smoothing| corpus.scores(smoothing).unwrap()[3];
    assert_eq!(bleu_4(Smoothing::None), 0.0);
    close(bleu_4(Smoothing::Add(1.0)), 0.45180100180492266);
    close(bleu_4(Smoothing::Exponential), 0.2259005009024613);
}

#[test]
fn bleu_without_a_common_word_and_of_short_sentences() {
    let nothing = corpus(&["a red bus drives"], &[["no such word there", "nor here"]]);
    for smoothing in [Smoothing::None, Smoothing::Add(1.0), Smoothing::Exponential] {
        assert_eq!(nothing.scores(smoothing).unwrap(), [0.0; 4]);
    }
    let short = corpus(&["a bus"], &[["a bus", "the bus"]]);
    assert_eq!(short.scores(Smoothing::Add(1.0)).unwrap(), [1.0; 4]);
    assert_eq!(short.scores(Smoothing::None).unwrap(), [1.0, 1.0, 0.0, 0.0]);
}

#[test]
fn bleu_needs_references_and_words() {
    let mut corpus = Corpus::default();
    assert_eq!(
        corpus
            .add::<u32, Vec<u32>>(&[1], &[])
            .unwrap_err()
            .to_string(),
        "expected at least 1 references of a sentence, found 0"
    );
    assert!(corpus.scores(Smoothing::None).is_err());
    corpus.add(&[1], &[vec![1]]).unwrap();
    assert!(corpus.scores(Smoothing::Add(-1.0)).is_err());
    assert_eq!(
        corpus.scores(Smoothing::None).unwrap(),
        [1.0, 0.0, 0.0, 0.0]
    );
}

#[test]
fn vqa_leaves_one_out() {
    let human = |same: usize| {
        let answer = |i| if i < same { "yes" } else { "no way" };
        (0..10).map(answer).collect::<Vec<_>>()
    };
    for (same, expected) in [(0, 0.0), (1, 0.3), (2, 0.6), (3, 0.9), (4, 1.0), (10, 1.0)] {
        close(vqa::accuracy("yes", &human(same)).unwrap(), expected);
    }
    // Answers on which all agree are compared as they are.
    close(vqa::accuracy("A dog.", &["a dog"; 10]).unwrap(), 0.0);
    assert!(vqa::accuracy("yes", &["yes"]).is_err());
}

#[test]
fn vqa_answers_are_normalised() {
    for (answer, expected) in [
        (" Two  dogs, isnt it? ", "2 dogs isn't it"),
        ("The cat and an apple", "cat and apple"),
        ("black/white", "black white"),
        ("black /white/grey", "black whitegrey"),
        ("1,000-ish", "1000ish"),
        ("3.5 in.", "3.5 in"),
        (
            "couldntve couldnt've couldn'tve",
            "couldntve couldn't've couldn't've",
        ),
        ("twas somebody'd ill", "'twas somebodyd ill"),
        ("None\tof\nthem", "0 of them"),
        ("café's", "café's"),
    ] {
        assert_eq!(vqa::normalise(answer), expected, "{answer:?}");
    }
}

const A: [f32; 15] = [
    1.0, 2.0, 0.5, 0.0, 1.0, -1.0, 2.0, 2.0, 1.0, 3.0, -1.0, 0.0, 0.5, 0.5, 2.0,
];
const B: [f32; 18] = [
    0.0, 1.0, 1.0, 1.0, 0.0, -2.0, 2.0, 3.0, 1.0, -1.0, -1.0, 0.0, 1.5, 2.0, 0.25, 4.0, 0.0, 1.0,
];

fn rows(values: &[f32], width: usize) -> Rows<'_> {
    Rows::new(values, width).unwrap()
}

#[test]
fn distance_correlation_of_hand() {
    let column = |y: &[f32], expected: f64| {
        let x: Vec<f32> = (0..y.len()).map(|i| i as f32).collect();
        let found = distance_correlation_squared(rows(&x, 1), rows(y, 1)).unwrap();
        assert!(
            (found - expected).abs() < 1e-6,
            "{found}, expected {expected}"
        );
    };
    column(&[0.0, 1.0], 1.0);
    column(&[0.0, 0.0, 1.0], 0.790569);
    column(&[0.0, 0.0, 1.0, 1.0], 0.832050);
    column(&[0.0, 1.0, 1.0, 0.0], 0.277350);
    column(&[3.0; 4], 0.0);
}

#[test]
fn distance_correlation_is_that_of_dcor() {
    let (a, b) = (rows(&A, 3), rows(&B[..15], 3));
    close(
        distance_correlation_squared(a, b).unwrap(),
        0.815948671311226,
    );
    assert!(distance_correlation_squared(a, rows(&B, 3)).is_err());
}

#[test]
fn frechet_distance_is_that_of_scipy() {
    let found = frechet_distance(rows(&A, 3), rows(&B, 3)).unwrap();
    close(found, 1.0101139872434581);
    // Singular covariances: fewer vectors than features.
    let few = frechet_distance(rows(&A[..6], 3), rows(&B[..9], 3)).unwrap();
    assert!((few - 2.784738212055145).abs() < 1e-6, "{few}");
    assert!(frechet_distance(rows(&A[..3], 3), rows(&B, 3)).is_err());
    assert!(frechet_distance(rows(&A, 3), rows(&B, 2)).is_err());
}

#[test]
fn principal_components_are_those_of_scikit_learn() {
    let check = |found: Vec<[f64; 2]>, expected: &[[f64; 2]], signs: [f64; 2]| {
        for (found, expected) in found.iter().zip(expected) {
            for k in 0..2 {
                let expected = expected[k] * signs[k];
                assert!((found[k] - expected).abs() < 1e-7, "{found:?}, {expected}");
            }
        }
    };
    let tall = [
        [1.01249039, 0.08034626],
        [0.77921424, -1.80716342],
        [0.40041513, 0.87497627],
        [-2.58821108, -0.21413953],
        [0.39609132, 1.06598042],
    ];
    check(
        principal_components(rows(&A, 3)).unwrap(),
        &tall,
        [-1.0, -1.0],
    );
    let wide = [
        [2.20340069, 1.12077496],
        [0.37034314, -1.81859572],
        [-2.57374383, 0.69782076],
    ];
    let values = [
        1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 2.0, 1.0, 0.0, 4.0, 5.0, 5.0, 0.0, 0.0, 1.0, 3.0, 3.0, 3.0,
    ];
    check(
        principal_components(rows(&values, 6)).unwrap(),
        &wide,
        [-1.0, -1.0],
    );
    let line = principal_components(rows(&[1.0, 3.0], 1)).unwrap();
    assert_eq!(line.iter().map(|p| p[1]).sum::<f64>(), 0.0);
    assert_eq!(
        principal_components(rows(&[2.0; 6], 3)).unwrap(),
        [[0.0; 2]; 2]
    );
}
