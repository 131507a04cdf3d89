//! Subcommands that only look: list, graph, explain, help.

use crate::support::{Place, in_one_line, stderr};

#[test]
fn list_has_everything_with_papers_and_defaults() {
    let place = Place::new();
    let text = place.success("list");
    assert!(
        text.lines().all(|line| line.chars().count() <= 80),
        "{text}"
    );
    // Long cells are broken.
    let text = in_one_line(&text);
    let parts = [
        "fedavg FedAvg. McMahan et al. 2017",
        "fedprox FedProx. Li et al. 2020",
        "fedavg if none is named",
        "`μ`",
        "0.01",
        "≥ 0",
        "[0, 1]",
        "lenet5",
        "pfl-cnn",
        "synth-digits",
        "cifar-10",
        "shards:N",
        "Yurochkin et al., ICML",
        "domains[:PARTS[:MAX]]",
    ];
    for part in parts {
        assert!(text.contains(part), "{part}: {text}");
    }
    let networks = place.success("list auxiliaries");
    for part in ["discriminator", "gives generate, code", "linear", "MINE"] {
        assert!(networks.contains(part), "{part}: {networks}");
    }
    let models = place.success("list models");
    assert!(
        models.contains("2nn") && !models.contains("shards:N"),
        "{models}"
    );
}

#[test]
fn graph_shows_four_stages() {
    let place = Place::new();
    let at = |stage: &str| place.success(&format!("graph fedprox --at {stage}"));
    let fed = at("fed");
    assert!(fed.starts_with("// fedround fed v1"), "{fed}");
    assert!(fed.contains("fed.super @regularizer"), "{fed}");
    let linked = at("linked");
    assert!(
        linked.contains("fed.broadcast") && !linked.contains("fed.super"),
        "{linked}"
    );
    assert_eq!(linked, place.success("graph fedprox"));
    let tensor = at("tensor");
    assert!(
        tensor.contains("features.fc1.weight") && tensor.contains("matmul"),
        "{tensor}"
    );
    assert!(at("plan").starts_with("// fedround plan v1"));
    let cnn = place.success("graph fedavg --at tensor --model cnn --set batch=7");
    assert!(
        cnn.contains("conv2d") && cnn.contains("f32[7x1x28x28]"),
        "{cnn}"
    );
}

#[test]
fn graph_has_four_formats() {
    let place = Place::new();
    for stage in ["fed", "linked", "tensor", "plan"] {
        let graph =
            |format: &str| place.success(&format!("graph fedavg --at {stage} --format {format}"));
        assert!(graph("dot").starts_with("digraph"), "{stage}");
        assert!(graph("svg").starts_with("<svg"), "{stage}");
        let json: serde_json::Value = serde_json::from_str(&graph("json")).unwrap();
        assert!(json["format"].as_str().unwrap().starts_with("fedround"));
        let plain = place.success(&format!("graph fedavg --at {stage}"));
        assert_eq!(graph("text"), plain);
    }
}

#[test]
fn drawings_have_every_phase_and_count_representations() {
    let place = Place::new();
    let text = place.success("graph fedfed --model lenet5 --data synth-digits-rgb --format svg");
    for phase in ["phase fedfed.distill, rounds 1 to 15", "from round 17 on"] {
        assert!(text.contains(phase), "{phase}");
    }
    assert_eq!(text.matches("<svg").count(), 1);
    assert_eq!(text.matches("Bytes for each client").count(), 3);
    let text = place.success("graph adcol --format svg");
    assert!(text.contains("1.7 MB down, 4F up"), "ADCOL's totals");
}

#[test]
fn costs_are_counted() {
    let place = Place::new();
    let table = place.success("graph fedavg --at tensor --costs");
    assert!(table.starts_with("cost @step0: 9.2 MFLOP"), "{table}");
    let text = place.success("explain fedavg --examples 30 --set epochs=2");
    for part in [
        "2·⌈n/10⌉× a round: 9.2 MFLOP",
        "a client, a round: 55.2 MFLOP",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn explain_says_which_loops_a_gpu_replays() {
    let place = Place::new();
    let text = in_one_line(&place.success("explain fedaa"));
    for part in [
        "Replay on GPUs (--graphs) step1, over batches at ",
        "op by op, because the loop's body is more than one segment",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(text.contains(": a step is replayed whole"), "{text}");
}

/// The setting is in the file of a run that may use it.
#[test]
fn settings_of_a_gpu_say_whether_steps_are_replayed() {
    let place = Place::new();
    let config = |rest: &str| place.success(&format!("config fedavg {rest}"));
    assert!(!config("").contains("graphs"));
    assert!(config("--device cuda").contains("graphs = \"auto\""));
    assert!(config("--device cpu,wgpu").contains("graphs = \"auto\""));
    assert!(config("--graphs off").contains("graphs = \"off\""));
    assert!(!config("--device cuda").contains("device_data"));
    assert!(config("--device-data 512MiB").contains("device_data = \"512MiB\""));
}

#[test]
fn cohorts_are_those_of_the_round() {
    let place = Place::new();
    // ADCOL draws by its own `share`, all by default, whatever the base would.
    for (spec, line) in [
        (
            "adcol",
            "100 of 100 clients, a round: 166.7 MB down, 100·4F up",
        ),
        (
            "adcol --set share=0.2 --clients 20",
            "4 of 20 clients, a round",
        ),
        (
            "fedavg",
            "10 of 100 clients, a round: 8.0 MB down, 8.0 MB up",
        ),
        ("scaffold --clients 20", "2 of 20 clients, a round"),
    ] {
        let text = place.success(&format!("explain {spec}"));
        assert!(text.contains(line), "{line}: {text}");
    }
    let text = place.success("explain adcol");
    assert!(
        text.contains("a client, a round: 1.7 MB down, 4F up"),
        "{text}"
    );
}

#[test]
fn training_with_noise_says_a_bound_the_usual_figure_and_what_they_rest_on() {
    let place = Place::new();
    // Without the ends of lines.
    let explain = |rest: &str| in_one_line(&place.success(&format!("explain dp-sgd {rest}")));
    // Four parties of 743 representations, over all of which a round goes once.
    let settings = "--model logistic --clients 4 --examples 743 --set rows=64";
    let text = explain(settings);
    for line in [
        "Gaussian noise of 1 on a batch's sum of values of norm at most 1",
        "proven of shuffled batches, passes over the rows in a round: 1",
        "after 1 round ε = 4.378, after 10 ε = 17.857, after 100 ε = 91.818; δ = 1e-5",
        "after 1 round ε = 2.318, after 10 ε = 11.614, after 100 ε = 72.367; δ = 1e-2",
        "the usual figure, no bound of shuffled batches: 47 steps at q = 0.0215 and σ = 1.0000",
        "N = 2,972 rows a round here, in batches of 64",
        "after 1 round ε = 1.681, after 10 ε = 3.319, after 100 ε = 10.739; δ = 1e-5",
        "after 1 round ε = 0.529, after 10 ε = 1.631, after 100 ε = 6.963; δ = 1e-2",
        "the server is honest",
    ] {
        assert!(text.contains(line), "{line}: {text}");
    }
    assert!(!text.contains("Of a release"), "{text}");
    // Four passes are as half the noise, and as four rounds.
    let text = explain(&format!("{settings} --set passes=4"));
    assert!(text.contains("after 1 round ε = 9.998"), "{text}");
    // A fifth of each party's 743, rounded up.
    let text = explain(&format!("{settings} --set sample=0.2"));
    for line in [
        "N = 596 rows",
        "10 steps at",
        "after 1 round ε = 4.378, after 10",
        "after 1 round ε = 3.785, after 10 ε = 8.497, after 100 ε = 29.747; δ = 1e-5",
    ] {
        assert!(text.contains(line), "{line}: {text}");
    }
    // Rows that are bounded and noised on their client are as many as were drawn there.
    let text = explain(&format!("{settings} --set noise=laplace"));
    for line in [
        "N = 2,972 rows",
        "Laplace noise of 0.4",
        "Of a release",
        "ε adds up",
    ] {
        assert!(text.contains(line), "{line}: {text}");
    }
    assert_eq!(text.matches("Of training with noise").count(), 1, "{text}");
    let text = stderr(&place.output("explain dp-sgd --set sigma=0"));
    assert!(text.contains("sigma"), "{text}");
    // A predictor that goes up as it is would be told by the server.
    let text = stderr(&place.output("explain dp-sgd(shared-head)"));
    assert!(
        text.contains("central differential privacy is claimed"),
        "{text}"
    );
}

#[test]
fn bundled_specs_mean_what_they_replace() {
    let place = Place::new();
    for spec in fedround::algorithms::registry().names() {
        let said = stderr(&place.output(&format!("explain {spec}")));
        // That 2NN has no normalisation for FedBN is another thing.
        for found in [
            "without calling it",
            "called by no layer",
            "nothing reads",
            "as they received them",
        ] {
            assert!(!said.contains(found), "{spec}: {said}");
        }
    }
    // Clients of FedAvg have no models of their own, of which a part could be shared.
    let said = stderr(&place.output("explain shared-head(fedavg)"));
    assert!(
        said.contains("give these parameters back as they received them"),
        "{said}"
    );
    // SCAFFOLD's round has steps of its own, which what FedFed does at each client is not in.
    let said = stderr(&place.output("explain fedfed(scaffold)"));
    assert!(
        said.contains("`client_update` of fedfed is called by no layer"),
        "{said}"
    );
}

#[test]
fn a_term_of_weight_zero_is_compiled_away() {
    let place = Place::new();
    let stage = |spec: &str| place.success(&format!("graph {spec} --at tensor"));
    assert_eq!(stage("fedavg"), stage("fedprox --set mu=0"));
    assert_ne!(stage("fedavg"), stage("fedprox"));
}

#[test]
fn explain_has_the_box_and_the_wire() {
    let place = Place::new();
    let text = place.success("explain fedprox --set mu=0.25");
    let parts = [
        "S ← sample(fraction)",
        "‖w − wᵗ‖²",
        "fedprox.mu = 0.25",
        "server → client",
        "4P + 4",
        "P = 199,210 parameters of 2nn",
        "796.8 kB",
        "10 of 100 clients",
    ];
    for part in parts {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn help_has_examples() {
    let place = Place::new();
    for line in ["--help", "run --help", "graph --help", "bench --help"] {
        let text = place.success(line);
        assert!(text.contains("Usage: fedround"), "{text}");
    }
    assert!(place.success("--help").contains("Exit codes"));
    assert!(place.success("run --help").contains("fedround run fedprox"));
    assert!(place.success("--version").starts_with("fedround "));
}
