use super::*;

fn small() -> SynthDigits {
    SynthDigits {
        seed: 9,
        train: 60,
        test: 20,
        ..SynthDigits::default()
    }
}

fn pixels(examples: &Examples) -> Vec<u8> {
    let images = (0..examples.len()).flat_map(|i| examples.image(i).unwrap());
    images.copied().collect()
}

fn everything() -> SynthDigits {
    let styles = Style::ALL.iter().map(|&s| (s, 1.0)).collect();
    SynthDigits {
        styles,
        train: 300,
        ..small()
    }
}

#[test]
fn threads_make_no_difference() {
    let draw = |threads, rgb| {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        let data = pool.install(|| {
            SynthDigits {
                rgb,
                ..everything()
            }
            .generate()
        });
        [
            (pixels(&data.train), data.train.labels().to_vec()),
            (pixels(&data.test), data.test.labels().to_vec()),
        ]
    };
    for rgb in [false, true] {
        assert!(draw(1, rgb) == draw(3, rgb));
    }
}

#[test]
fn more_examples_keep_the_first_ones() {
    let (few, many) = (
        small().examples(Split::Train, 25),
        small().examples(Split::Train, 60),
    );
    assert!(pixels(&many).starts_with(&pixels(&few)));
    assert!(many.labels().starts_with(few.labels()));
}

#[test]
fn seeds_and_splits_differ() {
    let base = small().generate();
    let other = SynthDigits {
        seed: 10,
        ..small()
    }
    .generate();
    assert_ne!(pixels(&base.train), pixels(&other.train));
    assert_ne!(base.train.image(0), base.test.image(0));
}

#[test]
fn classes_are_balanced() {
    let data = small().generate();
    for digit in 0..10 {
        let count = |labels: &[u16]| labels.iter().filter(|&&l| l == digit).count();
        assert_eq!(
            (count(data.train.labels()), count(data.test.labels())),
            (6, 2)
        );
    }
    let first: Vec<u16> = (0..20).map(|i| small().label_of(Split::Train, i)).collect();
    assert_eq!(first, data.train.labels()[..20]);
    assert_ne!(
        first[..10],
        first[10..],
        "labels should not repeat in a fixed order"
    );
}

#[test]
fn images_have_ink_and_paper() {
    let data = small().generate();
    for i in 0..data.train.len() {
        let image = data.train.image(i).unwrap();
        let bright = image.iter().filter(|&&u| u > 128).count();
        assert!(
            (15..300).contains(&bright),
            "example {i} has {bright} bright pixels"
        );
        assert_eq!(image[0], 0, "plain paper is black");
    }
}

#[test]
fn styles_occur_as_often_as_their_weights() {
    let data = SynthDigits {
        styles: vec![
            (Style::Inverted, 3.0),
            (Style::Thin, 0.0),
            (Style::Plain, 1.0),
        ],
        ..small()
    };
    let styles: Vec<Style> = (0..2000).map(|i| data.style_of(Split::Train, i)).collect();
    let inverted = styles.iter().filter(|&&s| s == Style::Inverted).count();
    assert!((1400..1600).contains(&inverted), "{inverted} of 2000");
    assert!(!styles.contains(&Style::Thin));
    // Paper is bright where the style says so.
    let train = data.examples(Split::Train, 40);
    for (i, style) in styles[..40].iter().enumerate() {
        assert_eq!(
            train.image(i).unwrap()[0] > 128,
            *style == Style::Inverted,
            "example {i}"
        );
    }
    let none = SynthDigits {
        styles: Vec::new(),
        ..small()
    };
    assert_eq!(none.style_of(Split::Test, 3), Style::Plain);
}

#[test]
fn a_style_does_not_change_the_shape() {
    let look = |style| {
        SynthDigits {
            styles: vec![(style, 1.0)],
            ..small()
        }
        .examples(Split::Train, 5)
    };
    let (plain, inverted) = (look(Style::Plain), look(Style::Inverted));
    let (plain, inverted) = (pixels(&plain), pixels(&inverted));
    let pairs = plain.iter().zip(&inverted);
    let opposite = pairs.filter(|(a, b)| (**a > 128) == (**b < 90)).count();
    assert!(opposite > 5 * 784 * 95 / 100, "{opposite} of {}", 5 * 784);
}

#[test]
fn every_style_has_its_own_look() {
    let mean = |style| {
        let data = SynthDigits {
            styles: vec![(style, 1.0)],
            ..small()
        }
        .examples(Split::Train, 50);
        let pixels = pixels(&data);
        let sum: u64 = pixels.iter().map(|&u| u64::from(u)).sum();
        sum as f64 / pixels.len() as f64
    };
    let [plain, thin, thick, inverted, _, textured, noisy] = Style::ALL.map(mean);
    assert!(thin < plain && plain < thick && thick < inverted);
    assert!(textured > plain && noisy > plain);
}

#[test]
fn colour_is_in_three_channels() {
    let data = SynthDigits {
        train: 10,
        test: 0,
        ..SynthDigits::rgb()
    }
    .generate();
    assert_eq!((data.train.shape(), data.test.len()), (&[3, 32, 32][..], 0));
    let image = data.train.image(0).unwrap();
    assert_ne!(image[..1024], image[1024..2048]);
    assert_eq!(data.name, "synth-digits-rgb");
}
