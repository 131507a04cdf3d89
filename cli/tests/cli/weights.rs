//! Runs that start from given weights.

use std::fs;

use crate::interrupted::same;
#[cfg(unix)]
use crate::interrupted::{signal, start, wait_for};
use crate::support::{Place, SMALL, stderr};

fn names(value: &serde_json::Value) -> Vec<&str> {
    let all = value.as_array().unwrap().iter();
    all.map(|name| name.as_str().unwrap()).collect()
}

#[test]
fn a_run_starts_from_the_model_of_another() {
    let place = Place::new();
    assert!(place.run("fedavg --quiet --out first").status.success());
    let still = "fedavg --set lr=0.000000001 --out second --weights first";
    let output = place.run(still);
    assert!(output.status.success(), "{}", stderr(&output));
    let text = stderr(&output);
    assert!(
        text.contains("2 of the model's 2 tensors come from first"),
        "{text}"
    );
    // Next to nothing was trained: it is as accurate as the first one was, which learned the bars.
    let accuracy = |run: &str| place.json(&format!("{run}/summary.json"))["test_accuracy"].clone();
    assert_eq!(accuracy("second"), accuracy("first"));
    let loaded = place.json("second/summary.json")["weights"].clone();
    assert_eq!(names(&loaded["loaded"]), ["head.weight", "head.bias"]);
    assert!(names(&loaded["drawn"]).is_empty() && names(&loaded["left_over"]).is_empty());
    // The configuration repeats it.
    place.success("run --config second/config.toml --quiet --out third");
    assert_eq!(
        place.read("second/model.safetensors"),
        place.read("third/model.safetensors")
    );
}

/// A checkpoint has what a run took from files: the values that clients' own parts start from, too, the base of
/// adapters, and the states of the server.
#[test]
fn a_run_from_weights_goes_on_without_their_file() {
    let place = Place::new();
    let settings = SMALL.replace("logistic --rounds 4", "2nn --eval-every 1 --quiet");
    place.success(&format!("run fedavgm {settings} --rounds 2 --out first"));
    // A run's file has the whole path, which a resumed run names.
    let first = place.path("first").display().to_string();
    for (name, what) in [
        ("personal", "fedrep"),
        ("adapters", "fedavg --train lora:2"),
        ("velocity", "fedavgm --server-state"),
    ] {
        place.success(&format!(
            "run {what} {settings} --rounds 2 --out begun-{name} --weights {first}"
        ));
        place.success(&format!(
            "run {what} {settings} --rounds 5 --out whole-{name} --weights {first}"
        ));
    }
    fs::rename(place.path("first"), place.path("moved")).unwrap();
    for name in ["personal", "adapters", "velocity"] {
        let out = format!("begun-{name}");
        let text = stderr(&place.output(&format!("resume {out} --rounds 5")));
        assert!(text.contains("tensors come from"), "{text}");
        same(&place, &out, &format!("whole-{name}"));
        // So do checkpoints of runs that went on.
        place.success(&format!("resume {out} --rounds 6 --quiet"));
    }
    // Another file in its place changes nothing.
    fs::create_dir_all(place.path("first")).unwrap();
    place.write("first/model.safetensors", b"something else");
    place.success("resume whole-adapters --rounds 6 --quiet");
    same(&place, "whole-adapters", "begun-adapters");
}

/// The heads of clients that have not taken part yet begin as those of the weights.
#[cfg(unix)]
#[test]
fn a_cell_that_was_stopped_goes_on_with_the_weights_that_it_began_with() {
    let place = Place::new();
    let settings = SMALL.replace("logistic --rounds 4", "2nn --eval-every 1 --quiet");
    let first = |seed: u64| {
        place.success(&format!(
            "run fedavg {settings} --seed {seed} --rounds 1 --out first"
        ));
    };
    first(1);
    let line = |out: &str| {
        format!(
            "compare fedrep {settings} --set head_epochs=1 --seeds 1 --rounds 100 --weights first --out {out}"
        )
    };
    place.success(&line("whole"));
    let child = start(&place, &line("stopped"));
    wait_for(&place.path("stopped/fedrep-seed1/metrics.jsonl"), 3);
    let output = signal(child, "INT");
    assert_eq!(output.status.code(), Some(130), "{}", stderr(&output));
    let metrics = place.text("stopped/fedrep-seed1/metrics.jsonl");
    assert!(metrics.lines().count() < 100, "the run was not stopped");
    fs::rename(place.path("first"), place.path("moved")).unwrap();
    first(5);
    place.success(&line("stopped"));
    same(&place, "stopped/fedrep-seed1", "whole/fedrep-seed1");
}

/// A cell without a checkpoint needs it, and is not begun without it.
#[test]
fn a_cell_that_has_a_checkpoint_does_not_need_the_file_of_weights() {
    let place = Place::new();
    place.success(&format!("run fedavg {SMALL} --quiet --out first"));
    let line = |seeds: usize| {
        format!(
            "compare fedavg {SMALL} --seeds {seeds} --weights first/model.safetensors --out out"
        )
    };
    place.success(&line(1));
    let model = || place.read("out/fedavg-seed1/model.safetensors");
    let before = model();
    let manifest = place.path("out/fedavg-seed1/manifest.json");
    fs::remove_file(&manifest).unwrap();
    fs::rename(place.path("first"), place.path("moved")).unwrap();
    let text = place.failure(&line(2), 1);
    assert!(text.contains("cannot read "), "{text}");
    assert!(!text.contains("starts again: "), "{text}");
    assert!(!place.path("out/fedavg-seed2").exists());
    // That is known before the other goes on.
    assert!(!manifest.exists());
    place.success(&line(1));
    assert!(manifest.exists() && model() == before);
}

#[test]
fn weights_of_another_model_are_refused_with_both_shapes() {
    let place = Place::new();
    assert!(place.run("fedavg --quiet --out first").status.success());
    let line =
        "run fedavg --data mnist --data-dir data --clients 10 --rounds 1 --out out --weights";
    let text = place.failure(&format!("{line} first"), 1);
    assert!(
        text.contains("`head.weight` expected [200, 10], found [784, 10]"),
        "{text}"
    );
    let text = place.failure(&format!("{line} absent.pt"), 1);
    assert!(text.contains("cannot read absent.pt"), "{text}");
    let text = place.failure(&format!("{line} first --rename fc"), 2);
    assert!(text.contains("expected FROM=TO"), "{text}");
    assert!(place.files("out").is_empty());
}

#[test]
fn renamed_tensors_are_a_part_of_the_model() {
    let place = Place::new();
    assert!(place.run("fedavg --quiet --out first").status.success());
    let line = "fedavg --quiet --out out --weights first --rename head.bias=other";
    let output = place.run(line);
    assert!(output.status.success(), "{}", stderr(&output));
    let loaded = place.json("out/summary.json")["weights"].clone();
    assert_eq!(names(&loaded["loaded"]), ["head.weight"]);
    assert_eq!(names(&loaded["drawn"]), ["head.bias"]);
    assert_eq!(names(&loaded["left_over"]), ["head.bias (other)"]);
}

/// They are part of the model: a run that needs a discriminator starts from another run's.
#[test]
fn auxiliary_networks_come_with_the_weights() {
    let place = Place::new();
    let line = "run adcol --data mnist --data-dir data --clients 4 --rounds 1 --quiet";
    place.success(&format!("{line} --out first"));
    place.success(&format!("{line} --weights first --out next"));
    let weights = place.json("next/summary.json")["weights"].clone();
    let loaded = names(&weights["loaded"]);
    assert!(!loaded.is_empty());
    let auxiliary = |name: &&str| name.starts_with("discriminator.");
    assert!(loaded.iter().all(auxiliary), "{loaded:?}");
    let alike = |dir: &str| place.read(&format!("{dir}/model.safetensors"));
    assert!(alike("next") != alike("first"));
}

/// With full batches of all clients, rounds differ in the order of sums alone: a run that goes on with
/// another's model and velocity is as the later rounds of one run.
#[test]
fn states_of_the_server_come_with_the_weights() {
    let place = Place::new();
    let line = "fedavgm --set fraction=1 --set batch=1000 --set lr=0.1 --quiet --out";
    let run = |rest: &str, rounds: usize| {
        let settings = crate::support::SMALL.replace("--rounds 4", &format!("--rounds {rounds}"));
        let output = place.output(&format!("run {line} {rest} {settings}"));
        assert!(output.status.success(), "{}", stderr(&output));
    };
    run("whole", 5);
    run("first", 3);
    run("next --weights first --server-state", 2);
    run("anew --weights first", 2);
    let loss = |dir: &str| place.json(&format!("{dir}/summary.json"))["test_loss"].as_f64();
    let far = |dir: &str| (loss(dir).unwrap() - loss("whole").unwrap()).abs();
    assert!(far("next") < 1e-4, "{}", far("next"));
    assert!(far("anew") > 1e-2, "{}", far("anew"));
    let loaded = place.json("next/summary.json")["weights"].clone();
    assert_eq!(names(&loaded["server_states"]), ["fedavgm.v"]);
    assert!(
        place
            .text("next/config.toml")
            .contains("server_state = true")
    );
    assert_eq!(
        place.json("anew/summary.json")["weights"].get("server_states"),
        None
    );
    // It goes on from its own states.
    place.success("resume next --rounds 3 --quiet");
    assert_eq!(place.json("next/summary.json")["rounds"], 3);
}

#[test]
fn states_that_are_not_the_algorithms_are_refused_by_name() {
    let place = Place::new();
    assert!(place.run("fedavgm --quiet --out first").status.success());
    let settings = crate::support::SMALL;
    let fails = |what: &str, part: &str| {
        let text = place.failure(
            &format!("run {what} --server-state {settings} --out out"),
            1,
        );
        assert!(text.contains(part), "{what}: {text}");
        assert!(text.contains("help: "), "{text}");
        assert!(!place.path("out").exists());
    };
    fails(
        "fedavg --weights first",
        "the algorithm keeps no state on the server",
    );
    fails(
        "fedopt --weights first",
        "missing: fedopt.m, fedopt.v; left over: fedavgm.v",
    );
    assert!(
        place
            .run("fedavgm --checkpoint off --quiet --out bare")
            .status
            .success()
    );
    fails("fedavgm --weights bare", "`bare` has no checkpoint");
    place.write("alone.safetensors", &place.read("bare/model.safetensors"));
    fails(
        "fedavgm --weights alone.safetensors",
        "`.` has no checkpoint",
    );
    let best = "fedavgm --validation 0.2 --keep both --quiet --out best";
    assert!(place.run(best).status.success());
    fails(
        "fedavgm --weights best",
        "best/model.safetensors is the best model, but the stored server states are of the last round",
    );
    let line = format!(
        "run fedavgm --weights best/model-last.safetensors --server-state {settings} --quiet --out next"
    );
    place.success(&line);
    let text = place.failure(&format!("run fedavgm --server-state {settings}"), 2);
    assert!(text.contains("--weights"), "{text}");
}
