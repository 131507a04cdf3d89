//! Uses of finished runs: their clients' models, evaluation, prediction and export.

use safetensors::SafeTensors;
use serde_json::Value;

use crate::compare::grid;
use crate::support::{Place, SMALL, TEST, stderr};

/// A place with a run in `out`.
fn trained(line: &str) -> Place {
    let place = Place::new();
    let output = place.run(&format!("{line} --quiet --out out"));
    assert!(output.status.success(), "{}", stderr(&output));
    place
}

fn json(place: &Place, line: &str) -> Value {
    serde_json::from_str(&place.success(line)).unwrap()
}

fn tensors(place: &Place, file: &str) -> Vec<String> {
    let bytes = place.read(file);
    let file = SafeTensors::deserialize(&bytes).unwrap();
    let mut names: Vec<String> = file.names().iter().map(ToString::to_string).collect();
    names.sort_unstable();
    names
}

#[test]
fn an_evaluation_repeats_the_accuracy_of_the_run() {
    let place = trained("fedavg");
    let summary = place.json("out/summary.json");
    for batch in [7, 250] {
        let found = json(&place, &format!("eval out --json --batch {batch}"));
        assert_eq!(found["server"]["accuracy"], summary["test_accuracy"]);
        assert_eq!(found["server"]["class_accuracy"], summary["class_accuracy"]);
        let [found, expected] = [&found["server"]["loss"], &summary["test_loss"]];
        let apart = found.as_f64().unwrap() - expected.as_f64().unwrap();
        assert!(apart.abs() < 1e-6, "{found}, {expected}");
    }
    // All clients use the server's model.
    assert!(!place.path("out/clients").exists());
    let found = json(&place, "eval out --client all --json");
    assert_eq!(found["client_accuracy"], summary["client_accuracy"]);
    let text = place.success("eval out");
    assert!(
        text.contains("server's model on the test set of mnist, 60"),
        "{text}"
    );
    let text = place.failure("eval out --client 10", 1);
    assert!(
        text.contains("no client 10: the run has 10, from 0"),
        "{text}"
    );
    place.failure("eval out --client some", 2);
    let text = place.failure("eval absent", 1);
    assert!(text.contains("absent/config.toml"), "{text}");
}

/// Commands that take a run say which runs a comparison holds.
#[test]
fn the_folder_of_a_grid_is_no_run() {
    let place = Place::new();
    place.success(&grid("--out out --quiet"));
    for line in ["eval out", "predict out new.png", "export out --to new.pt"] {
        let text = place.failure(line, 1);
        for part in [
            "`out` holds the folders of 4 runs, expected the folder of a run",
            "help: name one of them, such as out/fedavg-seed1",
        ] {
            assert!(text.contains(part), "{line}: {text}");
        }
    }
    // Of a choice, the run with the chosen values.
    let line = format!("sweep fedprox {SMALL} --grid mu=0.01,100 --seeds 1 --out sweep --quiet");
    place.success(&line);
    let chosen = place.json("sweep/comparison.json")["algorithms"][0]["algorithm"].clone();
    let folder = chosen.as_str().unwrap().replace([' ', '=', '.'], "-");
    let text = place.failure("eval sweep", 1);
    let help = format!("name one of them: sweep/{folder}-seed1 has the chosen values");
    assert!(text.contains(&help), "{text}");
}

/// FedRep's clients keep their heads, of which the server's are as they were drawn.
#[test]
fn a_personalised_run_is_the_models_of_its_clients() {
    let place = Place::new();
    place.success(
        "run fedrep --set fraction=1 --data mnist --data-dir data --clients 10 --model 2nn --rounds 4 \
         --quiet --out out",
    );
    let summary = place.json("out/summary.json");
    assert_eq!(summary["accuracy_of"], "clients");
    assert_eq!(summary["accuracy"], summary["local_accuracy"]["mean"]);
    assert!(summary["test_accuracy"].is_null() && summary["test_loss"].is_null());
    assert!(summary["best_test_accuracy"].is_null());
    assert!(summary["best_accuracy"].as_f64() >= summary["accuracy"].as_f64());
    let lines = place.text("out/metrics.jsonl");
    let last: Value = serde_json::from_str(lines.lines().last().unwrap()).unwrap();
    assert_eq!(last["accuracy"], summary["accuracy"]);
    assert!(last["test_accuracy"].is_null());

    let head = ["head.bias", "head.weight"];
    for client in 0..10 {
        assert_eq!(
            tensors(&place, &format!("out/clients/{client}.safetensors")),
            head
        );
    }
    let server = tensors(&place, "out/model.safetensors");
    assert!(server.len() == 4 && server.iter().all(|name| name.starts_with("features.")));

    let found = json(&place, "eval out --json");
    assert!(found["server"].is_null());
    assert_eq!(found["client_accuracy"], summary["client_accuracy"]);
    assert_eq!(found["clients"], summary["local_accuracy"]);
    let one = json(&place, "eval out --client 3 --json");
    assert_eq!(
        one["client"]["own"]["accuracy"],
        summary["client_accuracy"][3]
    );
    for line in ["export out --to whole.pt", "predict out rows.csv"] {
        let text = place.failure(line, 1);
        let expected = "the server's model in out has parameters that were never trained: head.weight, head.bias";
        assert!(
            text.contains(expected) && text.contains("--client N"),
            "{text}"
        );
    }
    // What is trained on the server can be exported by itself.
    place.success("export out --part features --to features.pt");
    place.success("export out --client 3 --to client.pt");
}

/// A run that fails keeps no models of its earlier end, and nothing of the server's that only clients train.
#[test]
fn a_run_that_fails_keeps_no_model_that_nobody_trained() {
    let place = Place::new();
    let settings = SMALL.replace("logistic --rounds 4", "2nn --rounds 1 --quiet");
    let settings = format!("{settings} --set batch=100");
    // Both diverge in a few rounds.
    let rep = "fedprox(fedrep) --set mu=1e5 --set fraction=1 --set epochs=2 --set head_epochs=1";
    let solo = "solo --set weight_decay=1e6 --set epochs=1";
    for (name, run, trained) in [("rep", rep, 4), ("solo", solo, 0)] {
        place.success(&format!("run {run} {settings} --out {name}"));
        assert!(
            place
                .path(&format!("{name}/clients/0.safetensors"))
                .exists()
        );
        let text = place.failure(&format!("resume {name} --rounds 9 --quiet"), 1);
        assert!(text.contains("no client has a finite update"), "{text}");
        assert!(!place.path(&format!("{name}/clients")).exists());
        let model = format!("{name}/model.safetensors");
        match trained {
            0 => assert!(!place.path(&model).exists()),
            n => {
                let names = tensors(&place, &model);
                assert_eq!(names.len(), n, "{names:?}");
                assert!(names.iter().all(|name| name.starts_with("features.")));
            }
        }
    }
}

#[test]
fn tables_show_what_an_algorithm_trains() {
    let place = Place::new();
    let text = place.success(&format!("run solo {SMALL}"));
    assert!(text.contains("clients' own models"), "{text}");
    assert!(
        !text.contains("test loss") && !text.contains("server's model"),
        "{text}"
    );
    let text = place.success(&format!("run per-fedavg {SMALL}"));
    assert!(
        text.contains("clients' own models") && text.contains("server's model"),
        "{text}"
    );
    let text = place.success(&format!("compare fedavg solo {SMALL} --out grid"));
    // Words of a wide table stand below each other.
    assert!(text.contains("clients' own"), "{text}");
    // The accuracies are two measures, so what both have is compared.
    let grid = place.json("grid/comparison.json");
    assert_eq!(grid["target_of"], "local_accuracy");
    assert_eq!(grid["differences"][0]["of"], "local_accuracy");
    let first = &grid["algorithms"][0]["local_accuracy"]["mean"];
    assert_eq!(&grid["target"], first);
    assert!(text.contains("local accuracy"), "{text}");
    assert!(place.text("grid/accuracy.svg").contains("local accuracy"));
    let rows = place.json("grid/comparison.json")["algorithms"].clone();
    let own = place.json("grid/solo-seed1/summary.json");
    assert_eq!(rows[1]["accuracy"]["mean"], own["local_accuracy"]["mean"]);
    assert_eq!(rows[0]["accuracy_of"], "server");
    assert_eq!(rows[1]["accuracy_of"], "clients");
    assert!(rows[1]["test_accuracy"].is_null());
    // Solo trains nothing on the server.
    assert!(!place.path("grid/solo-seed1/model.safetensors").exists());
}

/// An exported file is one of weights to start from.
#[test]
fn exported_models_come_back() {
    let place = trained("fedavg");
    for (format, file) in [
        ("pytorch", "model.pt"),
        ("safetensors", "model.safetensors"),
    ] {
        place.success(&format!("export out --format {format} --to {file}"));
        let line =
            format!("fedavg --set lr=0.000000001 --weights {file} --quiet --out of-{format}");
        assert!(place.run(&line).status.success());
        let again = place.json(&format!("of-{format}/summary.json"));
        assert_eq!(
            again["test_accuracy"],
            place.json("out/summary.json")["test_accuracy"]
        );
        // Nothing is overwritten.
        let text = place.failure(&format!("export out --to {file}"), 1);
        assert!(text.contains("cannot create"), "{text}");
    }
    let bytes = place.read("model.safetensors");
    let file = SafeTensors::deserialize(&bytes).unwrap();
    assert_eq!(file.tensor("head.weight").unwrap().shape(), [10, 784]);
    let text = place.failure("export out --part body --to part.pt", 1);
    assert!(
        text.contains("no part `body`; its parts are head"),
        "{text}"
    );
}

#[test]
fn the_name_of_an_exported_file_says_its_kind() {
    let place = trained("fedavg");
    for (line, is_zip) in [
        ("m.safetensors", false),
        ("m.pt", true),
        ("m.PTH", true),
        ("m.bin --format pytorch", true),
        ("m.onnx --format safetensors", false),
    ] {
        place.success(&format!("export out --to {line}"));
        let file = line.split(' ').next().unwrap();
        assert_eq!(place.read(file).starts_with(b"PK"), is_zip, "{line}");
    }
    for (line, part) in [
        ("n.onnx", "expected a name that ends in .pt or .pth"),
        ("n", "or in .safetensors; with --format pytorch or"),
        (
            "n.pt --format safetensors",
            "found one of pytorch; leave --format out, or write .safetensors",
        ),
        (
            "n.safetensors --format pytorch",
            "--format pytorch and --to n.safetensors",
        ),
    ] {
        let text = place.failure(&format!("export out --to {line}"), 2);
        assert!(text.contains(part), "{line}: {text}");
        let file = line.split(' ').next().unwrap();
        assert!(!place.path(file).exists(), "{line}");
    }
}

#[test]
fn images_and_rows_are_classified() {
    let place = trained("fedavg");
    let images = place.read("data/mnist/t10k-images-idx3-ubyte");
    let labels = place.read("data/mnist/t10k-labels-idx1-ubyte");
    let images: Vec<&[u8]> = images[16..].chunks(784).collect();
    let row = |image: &&[u8]| {
        image
            .iter()
            .map(u8::to_string)
            .collect::<Vec<_>>()
            .join(",")
            + "\n"
    };
    place.write(
        "rows.csv",
        images.iter().map(row).collect::<String>().as_bytes(),
    );
    let found = json(&place, "predict out rows.csv");
    let found = found.as_array().unwrap();
    assert_eq!(found.len(), TEST);
    let right = found.iter().zip(&labels[8..]);
    let right = right.filter(|(prediction, label)| prediction["class"] == label.to_string());
    let accuracy = right.count() as f64 / TEST as f64;
    assert_eq!(
        json(&place, "eval out --json")["server"]["accuracy"],
        accuracy
    );
    let all = found[0]["probabilities"].as_object().unwrap().values();
    assert!((all.map(|p| p.as_f64().unwrap()).sum::<f64>() - 1.0).abs() < 1e-9);

    let image = image::GrayImage::from_raw(28, 28, images[4].to_vec()).unwrap();
    image.save(place.path("four.png")).unwrap();
    let of_image = json(&place, "predict out four.png");
    assert_eq!(of_image[0]["class"], found[4]["class"]);
    let [one, of_many] = [&of_image[0], &found[4]].map(|p| p["probability"].as_f64().unwrap());
    assert!((one - of_many).abs() < 1e-6, "{one}, {of_many}");
    assert!(of_image[0]["row"].is_null() && found[4]["row"] == 5);

    for (row, expected) in [
        ("1,2", "row 1: expected 784 numbers, found 2"),
        (
            &*vec!["300"; 784].join(","),
            "row 1: expected bytes from 0 to 255, found 300",
        ),
        (
            &*vec!["a"; 784].join(","),
            "row 1: expected a number, found `a`",
        ),
    ] {
        place.write("bad.csv", row.as_bytes());
        let text = place.failure("predict out bad.csv", 1);
        assert!(text.contains(expected), "{text}");
    }
    let text = place.failure("predict out rows.png", 1);
    assert!(text.contains("rows.png"), "{text}");
}
