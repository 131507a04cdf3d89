use proptest::prelude::*;

use super::*;
use crate::Scale;

const VISIT: Visit = Visit {
    seed: 7,
    round: 3,
    client: 5,
    epoch: LocalEpoch { map: 0, epoch: 0 },
};

/// Some images of `[2, 6, 6]`.
fn images() -> Column {
    let bytes = fedround_random::StreamKey::root(4)
        .stream()
        .map(|w| w as u8)
        .take(8 * 72)
        .collect();
    Column::bytes("x", [2, 6, 6], bytes, Scale::Unit).unwrap()
}

fn gather(text: &str, indices: &[usize], visit: Visit) -> Vec<f32> {
    let augment: Augment = text.parse().unwrap();
    let size = augment
        .output_shape([2, 6, 6])
        .unwrap()
        .iter()
        .product::<usize>();
    let mut out = vec![f32::NAN; indices.len() * size];
    let mut scratch = Scratch::default();
    augment
        .gather_into(&images(), indices, visit, &mut scratch, &mut out)
        .unwrap();
    out
}

#[test]
fn steps_of_no_effect_change_nothing() {
    let plain = gather("none", &[2, 0, 7], VISIT);
    for text in [
        "crop:0",
        "rotate:0",
        "resize:6",
        "normalise:0:1",
        "crop:0,resize:6",
    ] {
        assert_eq!(gather(text, &[2, 0, 7], VISIT), plain, "{text}");
    }
}

#[test]
fn an_example_does_not_depend_on_its_batch() {
    let text = "crop:2,flip,rotate:30,resize:9,normalise:0.5:0.25";
    let all: Vec<usize> = (0..8).collect();
    let together = gather(text, &all, VISIT);
    for (&i, image) in all.iter().zip(together.chunks(2 * 81)) {
        assert_eq!(gather(text, &[i], VISIT), image);
    }
    let others = [
        Visit { seed: 8, ..VISIT },
        Visit { round: 4, ..VISIT },
        Visit { client: 6, ..VISIT },
        Visit {
            epoch: 1.into(),
            ..VISIT
        },
    ];
    for other in others {
        assert_ne!(gather(text, &all, other), together);
    }
}

#[test]
fn flips_are_mirrored_or_plain_half_the_time() {
    let visits = (0..100).map(|round| Visit { round, ..VISIT });
    let (plain, mut mirrored) = (gather("none", &[1], VISIT), 0);
    for visit in visits {
        let found = gather("flip", &[1], visit);
        if found != plain {
            let back = plain.chunks(6).flat_map(|row| row.iter().rev());
            assert!(back.eq(&found));
            mirrored += 1;
        }
    }
    assert!((35..65).contains(&mirrored), "{mirrored}");
}

#[test]
fn crops_move_the_image_and_let_black_in() {
    let plain = gather("none", &[1], VISIT);
    let mut places = std::collections::BTreeSet::new();
    for round in 0..200 {
        let found = gather("crop:1", &[1], Visit { round, ..VISIT });
        let place = (-1..=1).flat_map(|y| (-1..=1).map(move |x| [y, x]));
        let expected = |by| {
            let mut moved = vec![0.0; 72];
            let planes = plain.chunks(36).zip(moved.chunks_mut(36));
            planes.for_each(|(from, to)| pixels::shift(from, [6, 6], by, 0.0, to));
            moved
        };
        let place = place.into_iter().find(|&by| expected(by) == found);
        places.insert(place.expect("a shift of the image"));
    }
    assert_eq!(places.len(), 9);
    // Black is what the scale makes of a byte 0, after normalisation too.
    let black = gather(
        "normalise:0.5:0.25,crop:6",
        &[1],
        Visit { round: 9, ..VISIT },
    );
    assert!(black.contains(&-2.0));
}

#[test]
fn images_of_numbers_have_the_black_of_their_column() {
    let images = Column::floats("x", [1, 2, 2], vec![0.5; 8]).unwrap();
    // So far that nothing of the image is left.
    let moved = |images: &Column| {
        let crop: Augment = "crop:100".parse().unwrap();
        let (mut out, mut scratch) = ([f32::NAN; 4], Scratch::default());
        crop.gather_into(images, &[0], VISIT, &mut scratch, &mut out)
            .unwrap();
        out
    };
    assert_eq!(moved(&images), [0.0; 4]);
    let part = images.with_black(-1.0).subset(&[1_usize].into());
    assert_eq!(moved(&part), [-1.0; 4]);
}

#[test]
fn a_quarter_turn_is_exact() {
    let from: Vec<f32> = (0..9).map(|i| i as f32).collect();
    let mut to = vec![f32::NAN; 9];
    pixels::turn(&from, [3, 3], std::f32::consts::FRAC_PI_2, -1.0, &mut to);
    let expected = [2.0, 5.0, 8.0, 1.0, 4.0, 7.0, 0.0, 3.0, 6.0];
    let error = |(a, b): (&f32, &f32)| (a - b).abs();
    assert!(
        to.iter().zip(&expected).map(error).all(|e| e < 1e-5),
        "{to:?}"
    );
}

#[test]
fn doubling_puts_pixels_between_pixels() {
    let mut to = vec![f32::NAN; 4];
    let places = |old, new| pixels::places(old, new).collect::<Vec<_>>();
    pixels::resize(&[0.0, 1.0], [1, 2], &places(2, 4), &mut to);
    assert_eq!(to, [0.0, 0.25, 0.75, 1.0]);
    let mut half = vec![f32::NAN; 2];
    pixels::resize(&to, [1, 4], &places(4, 2), &mut half);
    assert_eq!(half, [0.125, 0.875]);
}

#[test]
fn slips_are_explained() {
    let error = |text: &str| text.parse::<Augment>().unwrap_err().to_string();
    assert!(error("crop:4,filp").starts_with("unknown step `filp` (did you mean `flip`?)"));
    assert_eq!(
        error("crop"),
        "bad step `crop`: expected at most 16384 pixels, as in crop:4"
    );
    assert_eq!(
        error("resize:16385"),
        "bad step `resize:16385`: expected 1 to 16384 pixels, as in resize:224"
    );
    assert!("crop:16384,resize:16384".parse::<Augment>().is_ok());
    assert_eq!(
        error("rotate:200"),
        "bad step `rotate:200`: expected degrees from 0 to 180, as in rotate:15"
    );
    for text in [
        "",
        "flip:1",
        "resize:0",
        "normalise:0.5",
        "normalise:1:0",
        "normalise:a:1",
    ] {
        assert!(text.parse::<Augment>().is_err(), "{text}");
    }
    let three: Augment = "normalise:1/2/3:1".parse().unwrap();
    assert_eq!(
        three.output_shape([2, 6, 6]).unwrap_err().to_string(),
        "`normalise:1/2/3:1` does not fit images with 2 channels; give one number for all, or one for each"
    );
    let rows = Column::floats("x", [4], vec![0.0; 4]).unwrap();
    let flip: Augment = "flip".parse().unwrap();
    let found = flip.gather_into(&rows, &[0], VISIT, &mut Scratch::default(), &mut [0.0; 4]);
    assert!(found.is_err());
}

fn steps() -> impl Strategy<Value = Transform> {
    let numbers = || proptest::collection::vec(0.1f32..9.0, 1..4);
    prop_oneof![
        (0usize..20).prop_map(|pad| Transform::Crop { pad }),
        Just(Transform::Flip),
        (0f32..=180.0).prop_map(|degrees| Transform::Rotate { degrees }),
        (1usize..300).prop_map(|side| Transform::Resize { side }),
        (numbers(), numbers()).prop_map(|(mean, std)| Transform::Normalise { mean, std }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn printing_and_parsing_agree(steps in proptest::collection::vec(steps(), 0..5)) {
        let augment = Augment { steps };
        prop_assert_eq!(augment.to_string().parse(), Ok(augment));
    }
}
