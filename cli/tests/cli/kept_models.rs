//! The models that a run keeps in its folder.

use burn::tensor::Device;
use burn_store::{ModuleSnapshot, SafetensorsStore};
use fedround::models::{Logistic, Task};
use safetensors::SafeTensors;
use serde_json::Value;

use crate::folder::{ALL, metrics};
use crate::support::{Place, SMALL};

#[test]
fn the_model_has_named_tensors() {
    let place = Place::new();
    assert!(place.run("fedavg --quiet --out out").status.success());
    let bytes = place.read("out/model.safetensors");
    let tensors = SafeTensors::deserialize(&bytes).unwrap();
    assert_eq!(tensors.tensor("head.weight").unwrap().shape(), [784, 10]);
    assert_eq!(tensors.tensor("head.bias").unwrap().shape(), [10]);
    assert_eq!(tensors.len(), 2);
}

#[test]
fn burn_reads_the_model() {
    let place = Place::new();
    assert!(place.run("fedavg --quiet --out out").status.success());
    let task = Task {
        input: [1, 28, 28],
        classes: 10,
    };
    let mut model = Logistic::new(task, &Device::default());
    let mut store = SafetensorsStore::from_file(place.path("out/model.safetensors"));
    model.load_from(&mut store).unwrap();
    let bytes = place.read("out/model.safetensors");
    let tensors = SafeTensors::deserialize(&bytes).unwrap();
    let bias = model.head.bias.unwrap().val().into_data();
    assert_eq!(
        *bias.as_bytes(),
        *tensors.tensor("head.bias").unwrap().data()
    );
}

#[test]
fn the_best_model_is_chosen_on_validation_examples() {
    let place = Place::new();
    let line = "fedavg --eval-every 1 --validation 0.2 --quiet";
    for keep in ["last", "best", "both"] {
        let line = format!("{line} --keep {keep} --out {keep}");
        assert!(place.run(&line).status.success());
    }
    let model = |path: &str| place.read(path);
    assert_eq!(
        model("both/model.safetensors"),
        model("best/model.safetensors")
    );
    assert_eq!(
        model("both/model-last.safetensors"),
        model("last/model.safetensors")
    );
    assert_eq!(place.files("best"), ALL);
    let (summary, lines) = (place.json("best/summary.json"), metrics(&place, "best"));
    let found = |line: &Value| line["validation_accuracy"].as_f64().unwrap();
    let most = lines.iter().map(found).fold(0.0, f64::max);
    let chosen = lines.iter().find(|line| found(line) == most).unwrap();
    assert_eq!(summary["chosen_round"], chosen["round"]);
    assert_eq!(
        summary["validation_accuracy"],
        chosen["validation_accuracy"]
    );
    assert_eq!(summary["chosen_test_accuracy"], chosen["test_accuracy"]);
    assert_eq!(summary["kept"], "best");
    // The file runs again.
    assert!(
        place
            .output("run --config best/config.toml --quiet --out again")
            .status
            .success()
    );
    assert_eq!(
        model("again/model.safetensors"),
        model("best/model.safetensors")
    );
    // Nothing to choose on.
    let text = place.failure(&format!("run fedavg {SMALL} --keep best --out none"), 1);
    assert!(text.contains("--validation 0.1"), "{text}");
}

#[test]
fn clients_models_are_kept_with_the_servers() {
    let place = Place::new();
    let line = "fedrep --eval-every 1 --validation 0.2 --set lr=0.5 --quiet";
    for keep in ["last", "best", "both"] {
        let line = format!("{line} --keep {keep} --out {keep}");
        assert!(place.run(&line).status.success());
    }
    let models = |dir: &str| {
        let files = place.files(dir).into_iter();
        let models: Vec<_> = files
            .map(|file| (place.read(&format!("{dir}/{file}")), file))
            .collect();
        assert_eq!(models.len(), 10);
        models
    };
    assert!(models("both/clients") == models("best/clients"));
    assert!(models("both/clients-last") == models("last/clients"));
    let chosen = place.json("best/summary.json")["chosen_round"].as_u64();
    let same = models("best/clients") == models("last/clients");
    assert_eq!(same, chosen == Some(4));
    assert!(!place.path("best/clients-last").exists());
    // The best ones come through a checkpoint.
    let line = format!("run {line} {SMALL} --keep best --out cut");
    assert!(
        place
            .output(&line.replace("--rounds 4", "--rounds 3"))
            .status
            .success()
    );
    assert!(
        place
            .output("resume cut --rounds 4 --quiet")
            .status
            .success()
    );
    assert!(models("cut/clients") == models("best/clients"));
}
