//! Measurements of what clients share of their images in `fedround inspect`, and attacks on it.

use serde_json::Value;

use crate::inspect::{number, report};
use crate::support::{Place, SMALL};

#[test]
fn shared_images_are_measured_and_attacked() {
    let place = Place::of(100, 40);
    let line = "fedfed --clients 4 --model logistic --rounds 3 --set distill=1 --set distill_share=1 \
                --aux generator=resnet --attack";
    let found = report(&place, line);
    let phases = found["phases"].as_array().unwrap();
    let named: Vec<_> = phases.iter().map(|p| p["rounds"].as_u64()).collect();
    assert_eq!(named, [Some(1); 3]);
    // 100 images of 784 numbers and a label each, once up, and all of them to each client.
    assert_eq!(phases[1]["bytes_up"], 100 * 785 * 4);
    let shared = &found["shared"][0];
    assert!(number(&shared["images"]["psnr"]) < 20.0);
    assert!(number(&shared["images"]["frechet"]) > 0.0);
    // Of all, noise tells least of the images.
    let r2 = |i: usize| number(&found["correlations"][i]["r2"]);
    assert!(
        (0..4).all(|i| i == 1 || r2(1) < r2(i)),
        "{}",
        found["correlations"]
    );
    let psnr = |i: usize, of: &str| number(&found["inversion"][i][of]);
    // What hides best is hardest to rebuild, and all are better than as they were given.
    assert!(
        psnr(1, "rebuilt") > psnr(0, "rebuilt"),
        "{}",
        found["inversion"]
    );
    assert!((0..3).all(|i| psnr(i, "rebuilt") > psnr(i, "given")));
    assert_eq!(found["membership"]["told"].as_array().unwrap().len(), 3);
    assert!(place.path("out/inversion.png").exists());
}

/// Images of noise with labels of chance, which can only be learned by heart.
fn noise(place: &Place) {
    let mut state = 1_u64;
    let mut byte = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (state >> 56) as u8
    };
    for (split, n) in [("train", 120_u32), ("t10k", 120)] {
        let images = [0x803, n, 28, 28].map(u32::to_be_bytes).concat();
        let pixels: Vec<u8> = (0..n * 784).map(|_| byte()).collect();
        let labels = [0x801, n].map(u32::to_be_bytes).concat();
        let classes: Vec<u8> = (0..n).map(|_| byte() % 10).collect();
        let name = |what: &str| format!("data/mnist/{split}-{what}-ubyte");
        place.write(&name("images-idx3"), &[images, pixels].concat());
        place.write(&name("labels-idx1"), &[labels, classes].concat());
    }
}

/// Members are the examples of the two clients, of four, that trained in the only round of the last
/// phase, with 30 each. One of them has a label of which there are too few test examples.
#[test]
fn what_was_learned_by_heart_is_told() {
    let place = Place::new();
    noise(&place);
    let line = "fedfed --clients 4 --partition iid --model 2nn --rounds 3 --set distill=1 \
                --set distill_share=1 --aux generator=resnet --set fraction=0.5 --set epochs=30 \
                --set lr=0.1 --attack";
    let found = report(&place, line);
    let membership = &found["membership"];
    assert_eq!(membership["members"], 59, "{membership}");
    assert!(number(&membership["auc"]) > 0.9, "{membership}");
    let told = membership["told"].as_array().unwrap();
    assert!(
        told.iter().all(|told| number(&told["recall"]) > 0.9),
        "{membership}"
    );
}

/// What clients share of resized and normalised images is measured against these.
#[test]
fn changed_images_are_compared_with_changed_ones() {
    let place = Place::of(100, 40);
    let line =
        "fedfed --clients 4 --model logistic --rounds 2 --set distill=1 --set distill_share=1";
    let resized = "--augment resize:16,normalise:0.5:0.5 --attack";
    let found = report(&place, &format!("{line} {resized}"));
    let shared = &found["shared"][0];
    assert_eq!(shared["shape"], serde_json::json!([1, 16, 16]));
    assert!(number(&shared["images"]["psnr"]) > 0.0);
    // Nobody has trained on them yet.
    assert_eq!(found["membership"], Value::Null);
    // Noise of 0.15 on pixels of almost -1 to 1; on those of 0 to 1 it were 16.5 dB.
    let given = number(&found["inversion"][1]["given"]);
    assert!((20.0..22.5).contains(&given), "{given}");
}

#[test]
fn images_that_change_at_random_are_not_compared() {
    let place = Place::of(100, 40);
    let line = "inspect fedfed --clients 2 --model logistic --rounds 2 --set distill=1 \
                --set distill_share=1 --aux generator=resnet --data mnist --data-dir data --quiet \
                --out out --augment flip";
    let text = place.failure(&format!("{line} --attack"), 1);
    assert!(text.contains("changed at random"), "{text}");
    assert!(!place.path("out").exists());
    let text = place.success(line);
    assert!(text.contains("is not measured"), "{text}");
    let found = place.json("out/report.json");
    assert_eq!(found["shared"][0]["images"], Value::Null);
    assert_eq!(found["correlations"].as_array().unwrap().len(), 2);
}

#[test]
fn nothing_shared_is_nothing_to_attack() {
    let place = Place::new();
    let line = format!("inspect fedavg {SMALL} --quiet --attack --out out");
    let text = place.failure(&line, 1);
    // It is known before anything is trained.
    assert!(!place.path("out").exists());
    assert!(
        text.contains("at least two clients that share images"),
        "{text}"
    );
    assert!(text.contains("help: "), "{text}");
}
