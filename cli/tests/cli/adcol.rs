//! ADCOL's plug-ins on the digits of several datasets.

use crate::support::{Place, SMALL, real, stderr};

/// The accuracy of the parties on their own domains' tests: 200 examples each, four rounds. `None` without the data.
fn accuracy(spec: &str, set: &str) -> Option<f64> {
    let data = real(&["mnist", "usps", "mnist_m"])?;
    let place = Place::new();
    // Drawn digits are the fourth domain; SVHN is one where it is there.
    let clients = 4 + usize::from(data.join("svhn").is_dir());
    let line = format!(
        "run {spec} --data digits --clients {clients} --partition domains:1:200 --model lenet5 --rounds 4 \
         --eval-every 4 --set epochs=5 --set batch=20 --set lr=0.02 --set momentum=0.9 \
         --set mu=0.1 {set} --quiet --out out"
    );
    let mut command = place.command(&line);
    let output = command.arg("--data-dir").arg(&data).output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    let summary = place.json("out/summary.json");
    let mean = summary["local_accuracy"]["mean"].as_f64();
    Some(mean.expect("no local accuracy"))
}

/// Seeds 1 to 4, without SVHN: 0.728, 0.739, 0.780, 0.759.
#[test]
fn a_shared_predictor_learns_digits() {
    if let Some(found) = accuracy("shared-head(adcol)", "") {
        assert!(found > 0.65, "{found}");
    }
}

/// Seeds 1 to 4, without SVHN: 0.723, 0.722, 0.729, 0.726.
#[test]
fn parties_of_a_noised_discriminator_learn_digits() {
    if let Some(found) = accuracy("dp-sgd(adcol)", "--set sigma=1.2") {
        assert!(found > 0.65, "{found}");
    }
}

/// Seeds 1 to 4, without SVHN: 0.710, 0.720, 0.755, 0.746.
#[test]
fn a_few_parties_at_a_time_learn_digits() {
    if let Some(found) = accuracy("fixed-parties(adcol)", "--set parties=2 --set dropped=2") {
        assert!(found > 0.65, "{found}");
    }
}

/// What FedAvg's clients train is for the server, which `fixed-parties` does not give it.
#[test]
fn a_plug_in_over_a_base_that_keeps_nothing_is_said_to_train_nothing() {
    let place = Place::new();
    let warning = "warning: the rounds of this algorithm train nothing";
    for (spec, expected) in [
        ("fixed-parties(fedavg)", true),
        ("fixed-parties(adcol)", false),
        ("solo", false),
        ("fedavg", false),
    ] {
        let settings = SMALL.replace("--rounds 4", "--rounds 1");
        let out = spec.replace(['(', ')'], "-");
        let output = place.output(&format!("run {spec} {settings} --out {out}"));
        let text = stderr(&output);
        assert!(output.status.success(), "{text}");
        assert_eq!(text.contains(warning), expected, "{spec}: {text}");
        assert!(
            !expected || text.contains("needs a base whose clients keep them"),
            "{text}"
        );
    }
    let settings = SMALL.replace("--rounds 4", "--rounds 1 --seeds 1 --quiet");
    let output = place.output(&format!(
        "compare fixed-parties(fedavg) fedavg {settings} --out both"
    ));
    let text = stderr(&output);
    assert!(output.status.success(), "{text}");
    assert_eq!(text.matches(warning).count(), 1, "{text}");
}
