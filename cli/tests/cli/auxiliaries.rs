//! Networks beside the model, as `--aux` chooses them.

use crate::support::Place;

const RUN: &str = "run adcol --data mnist --data-dir data --clients 4 --model 2nn --rounds 2 \
                   --set batch=50 --set epochs=1 --quiet";

#[test]
fn a_run_adds_networks_and_keeps_their_variants() {
    let place = Place::new();
    place.success(&format!("{RUN} --out mlp"));
    let summary = place.text("mlp/summary.json");
    assert!(summary.contains("\"discriminator\": \"mlp\""));
    place.success(&format!("{RUN} --aux discriminator=linear --out linear"));
    let chosen = "[aux]\ndiscriminator = \"linear\"";
    assert!(place.text("linear/config.toml").contains(chosen));
    assert_ne!(
        place.text("linear/metrics.jsonl"),
        place.text("mlp/metrics.jsonl")
    );
    // The file of a run runs it again.
    place.success("run --quiet --config linear/config.toml --out again");
    for file in ["config.toml", "model.safetensors"] {
        let (again, first) = (format!("again/{file}"), format!("linear/{file}"));
        assert_eq!(place.read(&again), place.read(&first));
    }
    // A variant of a network that nothing needs is refused before anything is written.
    place.failure(&format!("{RUN} --aux generator=vae --out none"), 1);
    assert!(!place.path("none").exists());
}
