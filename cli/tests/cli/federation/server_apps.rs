//! Parties of fedround that train for a ServerApp of Flower.

use std::fs;
use std::path::Path;
use std::time::Duration;

use fedround_flower::{Control, Fab};
use fedround_models::{Layout, NamedValues, to_safetensors};

use super::mixed::{SETTINGS, distance, model, python};
use super::processes::Process;
use crate::superlink::{SuperLink, flower, until};
use crate::support::Place;

/// Initial weights, for both sides: as a file for simulations, and as arrays for a ServerApp.
fn write_initial(place: &Place, programs: &Path) {
    let number = |i: usize| (i * 2_654_435_761 % 1000) as f32 / 1e5 - 0.005;
    let bias: Vec<f32> = (0..10).map(number).collect();
    let weight: Vec<f32> = (0..7840).map(|i| number(i + 10)).collect();
    let named = |name, shape, values| NamedValues {
        name,
        shape,
        values,
    };
    let tensors = [
        named("head.bias", &[10][..], &bias[..]),
        named("head.weight", &[10, 784], &weight),
    ];
    let file = to_safetensors(&tensors, Layout::PyTorch).unwrap();
    place.write("initial.safetensors", &file);
    let numbers = bias.iter().chain(&weight).flat_map(|x| x.to_le_bytes());
    place.write("numbers", &numbers.collect::<Vec<u8>>());
    let script = "import numpy as np; w = np.fromfile('numbers', '<f4'); \
                  np.savez('initial.npz', **{'head.weight': w[10:].reshape(10, 784), 'head.bias': w[:10]})";
    assert!(python(programs, script, &place.path("")));
}

/// A ServerApp with a strategy of Flower's, and two parties of fedround. The ServerApp sets what the
/// parties' operators have configured otherwise.
fn a_server_app_equals_the_simulation(
    (place, server, programs): (&Place, &SuperLink, &Path),
    spec: &str,
    (configured, mu): (&str, f64),
) {
    let simulated = format!("run {spec} {SETTINGS} --model logistic --weights initial.safetensors");
    place.success(&format!("{simulated} --set lr=0.2 --quiet --out simulated"));
    place.success("export simulated --format safetensors --to expected");
    let name = spec.split_whitespace().next().unwrap();
    let link = format!("--superlink http://{} --heartbeat 10", server.address());
    let _parties = [0, 1].map(|client| {
        let own = format!("--host {client} --state p{client} --for-server-app --approve any");
        let line = format!("party {name} {SETTINGS} --model logistic {configured} {link} {own}");
        Process::start(place, &line)
    });
    let folder = place.path("");
    let project = format!(
        "{}\n[tool.flwr.app.config]\nlr = 0.2\nproximal-mu = {mu:?}\n\
         initial = \"{1}/initial.npz\"\nresult = \"{1}/result.npz\"\n",
        include_str!("flower_app/pyproject.toml"),
        folder.display()
    );
    let files: [(&str, &[u8]); 2] = [
        ("pyproject.toml", project.as_bytes()),
        ("app.py", include_bytes!("flower_app/app.py")),
    ];
    let control = Control::new(&server.connect());
    let run = control
        .start_run(&Fab::of_files(&files).unwrap(), "")
        .unwrap();
    until("the run is finished", || {
        std::thread::sleep(Duration::from_millis(300));
        control.run(run).unwrap().unwrap().status == "finished"
    });
    let info = control.run(run).unwrap().unwrap();
    let log = server.log_of("flower-superlink");
    assert_eq!(info.sub_status, "completed", "{info:?}\n{log}");
    let script = "import numpy as np; z = np.load('result.npz'); \
                  np.concatenate([z['head.bias'], z['head.weight'].ravel()]).astype('<f4').tofile('found')";
    assert!(python(programs, script, &folder));
    let found = place.read("found");
    let found: Vec<f32> = found
        .chunks(4)
        .map(|word| f32::from_le_bytes(word.try_into().unwrap()))
        .collect();
    let far = distance(&found, &model(&place.read("expected")));
    eprintln!("{spec} for a ServerApp: {far:e} from the simulation");
    assert!(far < 1e-5, "{spec}: {far}");
    fs::remove_dir_all(place.path("simulated")).unwrap();
    fs::remove_file(place.path("expected")).unwrap();
}

#[test]
fn parties_train_for_stock_server_apps() {
    let Some(programs) = flower() else { return };
    let place = Place::new();
    write_initial(&place, &programs);
    // With subprocess isolation, the SuperLink runs the ServerApp of the bundle.
    let dir = tempfile::tempdir().unwrap();
    let server = SuperLink::start(&programs, dir, &["--insecure"], false);
    let at = (&place, &server, &*programs);
    a_server_app_equals_the_simulation(at, "fedavg", ("--set lr=0.1", 0.0));
    let configured = "--set lr=0.1 --set mu=0.01";
    a_server_app_equals_the_simulation(at, "fedprox --set mu=0.5", (configured, 0.5));
}
