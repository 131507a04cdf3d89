//! Coordinators of fedround with clients that are apps of Flower.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::time::Instant;

use fedround_data::load;
use fedround_flower::Fab;
use safetensors::SafeTensors;

use super::processes::Process;
use crate::superlink::{SuperLink, flower, free_port};
use crate::support::{Place, skipped, stderr};

/// One batch for all examples, so that no result depends on their order.
pub const SETTINGS: &str = "--data mnist --data-dir data --clients 2 --rounds 3 --set fraction=1 --set batch=1000 --set epochs=3";

/// With batch normalisation, steps amplify rounding: it shows whether weights and statistics cross as they
/// should, before one ReLU on the other side of zero has changed much.
const FEW_STEPS: &str = "--data mnist --data-dir data --clients 2 --rounds 2 --set fraction=1 --set batch=1000 --set epochs=1 --set lr=0.0001";

/// A process of Flower that ends with its test.
struct Flower(Child);

impl Drop for Flower {
    fn drop(&mut self) {
        _ = self.0.kill();
        _ = self.0.wait();
    }
}

fn app(place: &Place, name: &str, files: &[(&str, &[u8])]) -> String {
    let bundle = Fab::of_files(files).unwrap();
    place.write(name, bundle.content());
    name.to_owned()
}

fn numpy_app(place: &Place) -> String {
    let project = include_bytes!("flower_app/pyproject.toml");
    let code = include_bytes!("flower_app/app.py");
    app(
        place,
        "numpy.fab",
        &[("pyproject.toml", project), ("app.py", code)],
    )
}

/// The example's app, and the same with another model.
fn pytorch_apps(place: &Place) {
    macro_rules! file {
        ($name:literal) => {
            (
                $name,
                &include_bytes!(concat!("../../../../examples/flower-pytorch/", $name))[..],
            )
        };
    }
    let files = [
        file!("pyproject.toml"),
        file!("client_app.py"),
        file!("server_app.py"),
    ];
    app(place, "pytorch.fab", &files);
    let [project, (name, client), server] = files;
    let normed = [client, include_bytes!("flower_app/batch_norm.py")].concat();
    app(place, "normed.fab", &[project, (name, &normed), server]);
}

pub fn python(programs: &Path, script: &str, folder: &Path) -> bool {
    let mut command = Command::new(programs.join("python"));
    let command = command.args(["-c", script]).current_dir(folder);
    command.status().unwrap().success()
}

/// Writes a client's examples as the simulation deals them, to a file that Python reads.
fn write_examples(place: &Place, programs: &Path, client: usize) -> PathBuf {
    let data = load("mnist", Some(&place.path("data")), 0).unwrap();
    let partition = fedround::experiment::Settings::default().partition;
    let splits = partition.deal(&data, 2, 1).unwrap();
    let (mut x, mut y) = (vec![], vec![]);
    data.train
        .gather(&splits[client].train, &mut x, &mut y)
        .unwrap();
    place.write(
        "x",
        &x.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<u8>>(),
    );
    place.write(
        "y",
        &y.iter().flat_map(|y| y.to_le_bytes()).collect::<Vec<u8>>(),
    );
    let script = "import numpy as np; \
                  x = np.fromfile('x', '<f4').reshape(-1, 1, 28, 28); \
                  np.savez('own.npz', x=x, y=np.fromfile('y', '<i4'))";
    assert!(python(programs, script, &place.path("")));
    place.path("own.npz")
}

/// A model's numbers, tensor by tensor in the order of their names.
pub fn model(bytes: &[u8]) -> Vec<f32> {
    let tensors = SafeTensors::deserialize(bytes).unwrap();
    let mut tensors = tensors.tensors();
    tensors.sort_by(|(a, _), (b, _)| a.cmp(b));
    let numbers = tensors
        .iter()
        .flat_map(|(_, tensor)| tensor.data().chunks(4));
    numbers
        .map(|word| f32::from_le_bytes(word.try_into().unwrap()))
        .collect()
}

pub fn distance(a: &[f32], b: &[f32]) -> f32 {
    assert_eq!(a.len(), b.len());
    a.iter()
        .zip(b)
        .map(|(a, b)| (a - b).abs())
        .fold(0., f32::max)
}

/// One party of fedround and one SuperNode.
fn a_mixed_federation_equals_its_simulation(
    (place, server): (&Place, &SuperLink),
    (spec, settings): (&str, &str),
    app: &str,
) {
    place.success(&format!("run {spec} {settings} --quiet --out simulated"));
    let link = format!("--superlink http://{}", server.address());
    let party = Process::start(
        place,
        &format!("party {spec} {settings} {link} --state p --host 0 --heartbeat 10 --approve any"),
    );
    let line = format!(
        "coordinator {spec} {settings} {link} --state mixed --min-parties 2 --client-app {app}"
    );
    let output = Process::start(place, &line).end();
    let text = stderr(&output);
    assert!(output.status.success(), "{line}: {text}");
    assert!(
        text.contains("client 1: an app of Flower with 150"),
        "{text}"
    );
    let found = model(&place.read("mixed/model.safetensors"));
    let expected = model(&place.read("simulated/model.safetensors"));
    let far = distance(&found, &expected);
    eprintln!("{spec}, {app}: {far:e} from the simulation");
    let metrics = place.text("mixed/metrics.jsonl");
    assert!(!metrics.contains("failed"), "{metrics}\n{text}");
    assert!(far < 1e-4, "{spec}, {app}: {far}");
    let loss = |dir: &str| {
        let text = place.text(&format!("{dir}/metrics.jsonl"));
        let last: serde_json::Value = serde_json::from_str(text.lines().last().unwrap()).unwrap();
        last["train_loss"].as_f64().unwrap()
    };
    assert!((loss("mixed") - loss("simulated")).abs() < 1e-4);
    party.kill("-TERM");
    for folder in ["mixed", "simulated", "p"] {
        fs::remove_dir_all(place.path(folder)).unwrap();
    }
}

#[test]
fn apps_of_flower_take_part_in_plain_training_only() {
    let place = Place::new();
    let app = numpy_app(&place);
    let link = "--superlink http://127.0.0.1:9";
    let line =
        |spec: &str| format!("coordinator {spec} {SETTINGS} {link} --state s --client-app {app}");
    for spec in [
        "scaffold",
        "fedavg --set momentum=0.9",
        "fedprox(fedprox)",
        "dp-sgd",
        "fednova",
        "moon",
    ] {
        let line = line(spec);
        let line = match spec {
            // It draws examples, and all clients train.
            "dp-sgd" => line.replace(" --set fraction=1", ""),
            _ => line,
        };
        let text = place.failure(&line, 1);
        assert!(
            text.contains("apps of Flower cannot take part"),
            "{spec}: {text}"
        );
    }
    assert!(!place.path("s").exists());
}

#[test]
fn stock_supernodes_take_part() {
    let Some(programs) = flower() else { return };
    let place = Place::new();
    let data = write_examples(&place, &programs, 1);
    let server = SuperLink::open(&programs);
    let mut command = server.command("flower-supernode");
    command.args(["--insecure", "--superlink", &server.address(), "--port"]);
    let config = format!("partition-id=1 data=\"{}\"", data.display());
    command.args([&free_port().to_string(), "--node-config", &config]);
    let _supernode = Flower(command.spawn().unwrap());
    let scenario_of = |spec: &str, settings: &str, app: &str| {
        let start = Instant::now();
        a_mixed_federation_equals_its_simulation((&place, &server), (spec, settings), app);
        eprintln!("{spec} with {app}: {:.1} s", start.elapsed().as_secs_f64());
    };
    let scenario = |spec: &str, app: &str| scenario_of(spec, SETTINGS, app);
    let numpy = numpy_app(&place);
    scenario("fedavg --model logistic", &numpy);
    scenario("fedprox --model logistic --set mu=0.5", &numpy);
    let torch = "import importlib.util, sys; sys.exit(importlib.util.find_spec('torch') is None)";
    if !python(&programs, torch, &place.path("")) {
        let programs = programs.display();
        skipped(&format!(
            "apps in PyTorch, which is not installed beside Flower in {programs}"
        ));
        return;
    }
    pytorch_apps(&place);
    scenario("fedavg --model 2nn", "pytorch.fab");
    scenario("fedprox --model 2nn --set mu=0.5", "pytorch.fab");
    scenario_of("fedavg --model adcol-digits", FEW_STEPS, "normed.fab");
}
