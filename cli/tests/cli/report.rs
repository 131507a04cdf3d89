//! Pages about runs and comparisons, as a browser shows them.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::{Place, SMALL, skipped, stderr};

/// What is in every page, and what would need a network or run code.
fn check(page: &str, parts: &[&str]) {
    for part in parts {
        assert!(page.contains(part), "{part}");
    }
    for outside in [
        "<script",
        "src=\"http",
        "href=\"",
        "url(",
        "@import",
        "onload",
    ] {
        assert!(!page.contains(outside), "{outside}");
    }
}

#[test]
fn a_run_has_a_page() {
    let place = Place::new();
    place.success(&format!(
        "run fedprox {SMALL} --eval-every 1 --quiet --out out"
    ));
    assert_eq!(place.success("report out"), "out/report.html\n");
    let page = place.text("out/report.html");
    check(
        &page,
        &[
            "<title>fedprox on mnist</title>",
            "10 clients by shards:2, seed 1, 4 of 4 rounds",
            "test accuracy of each class",
            "client 9",
            "300 training examples of mnist",
            "fedprox, round t",
            "data:image/svg+xml;base64,",
            "fedround run --config out/config.toml --out again",
            "mu = ",
        ],
    );
    shown(&place, "out/report.html");
}

#[test]
fn a_comparison_has_a_page_with_bands_and_differences() {
    let place = Place::new();
    let line = format!("compare fedavg strong=fedprox {SMALL} --eval-every 1 --seeds 2");
    place.success(&format!("{line} --set strong.mu=10 --quiet --out out"));
    place.success("report out");
    let page = place.text("out/report.html");
    check(
        &page,
        &[
            "<title>fedavg, strong on mnist</title>",
            "95 % intervals",
            "no difference shown",
            "Accuracy of each client on its own test examples with seed 1",
            "fedround compare fedavg strong=fedprox",
            "--set strong.mu=10 --out out",
        ],
    );
    assert!(page.contains("<polygon"), "no bands");
    shown(&place, "out/report.html");
}

#[test]
fn phases_and_the_losses_of_clients_are_in_the_page() {
    let place = Place::new();
    let small = SMALL.replace("logistic", "2nn");
    place.success(&format!(
        "run lg-fedavg --set warm_up=2 {small} --eval-every 1 --track-clients --quiet --out out"
    ));
    place.success("report out");
    let page = place.text("out/report.html");
    let phases: Vec<String> = place
        .text("out/metrics.jsonl")
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap())
        .map(|line| line["phase"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(phases[0], phases[1]);
    assert_ne!(phases[1], phases[2]);
    best_is_of_one_kind(&place, "out", "best");
    place.success(&format!(
        "run lg-fedavg --set warm_up=2 {small} --eval-every 1 --validation 0.2 --quiet --out chosen"
    ));
    best_is_of_one_kind(&place, "chosen", "chosen");
    // Upright names, in the charts of the page and in the file of curves.
    let curves = place.text("out/curves.svg");
    for text in [&page, &curves] {
        for phase in [&phases[1], &phases[2]] {
            let name = text.split("<text").find(|part| {
                let end = part.split("</text>").next().unwrap();
                end.contains("rotate(90") && end.trim_end().ends_with(phase.as_str())
            });
            assert!(name.is_some(), "{phase}");
        }
    }
    check(&page, &["and below it the loss in nats"]);
    let last = place.text("out/metrics.jsonl");
    let last: serde_json::Value = serde_json::from_str(last.lines().last().unwrap()).unwrap();
    let loss = last["clients"]["3"]["loss"].as_f64().unwrap();
    let tile = format!("<small>{loss:.3}</small><small>client 3</small>");
    check(&page, &[&tile]);
    // The loss of clients is drawn beside that of training: a name in both charts' legends.
    assert_eq!(page.matches("</svg>clients' own data").count(), 2);
    shown(&place, "out/report.html");

    // Of several algorithms, a phase says whose it is unless all of them have it.
    place.success(&format!(
        "compare fedavg lg-fedavg {small} --set warm_up=2 --seeds 1 --track-clients --eval-every 1 --quiet --out all"
    ));
    place.success("report all");
    let page = place.text("all/report.html");
    check(
        &page,
        &[
            "rotate(90",
            "Loss on clients' own test data",
            "The loss of the same, in nats.",
        ],
    );
    shown(&place, "all/report.html");
}

/// Checks that the best round and the chosen one have models of the same kind as the last round: the
/// clients' own, which the warm-up does not have.
fn best_is_of_one_kind(place: &Place, run: &str, key: &str) {
    let summary = place.json(&format!("{run}/summary.json"));
    let lines = place.text(&format!("{run}/metrics.jsonl"));
    let lines: Vec<serde_json::Value> = lines
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let whose: Vec<&str> = lines
        .iter()
        .map(|line| line["accuracy_of"].as_str().unwrap())
        .collect();
    assert_eq!((whose[0], whose[3]), ("server", "clients"));
    let round = summary[format!("{key}_round")].as_u64().unwrap() as usize;
    assert_eq!(whose[round - 1], "clients");
    let own = lines.iter().filter(|line| line["accuracy_of"] == "clients");
    let best = own
        .map(|line| line["accuracy"].as_f64().unwrap())
        .reduce(f64::max);
    assert_eq!(summary["best_accuracy"].as_f64(), best);
}

#[test]
fn the_privacy_that_was_spent_is_in_the_table_and_in_the_pages() {
    let place = Place::new();
    let output = place.output(&format!("run adaptive-clip {SMALL} --out out"));
    let table = String::from_utf8_lossy(&output.stdout).into_owned() + &stderr(&output);
    let spent = &place.json("out/summary.json")["privacy"];
    let epsilon = spent["epsilon"].as_f64().unwrap();
    let line = format!("ε = {epsilon} at δ = 1e-5");
    assert!(table.contains(&line), "{line}: {table}");
    place.success("report out");
    let fact = format!("<dt>ε at δ = 1e-5</dt><dd>{epsilon}</dd>");
    let row = format!("</td><td>{epsilon}</td><td>1e-5</td>");
    let parts = ["<h2>Privacy</h2>", "the system's generator", &fact, &row];
    check(&place.text("out/report.html"), &parts);
    shown(&place, "out/report.html");

    // Experiments draw their noise from the seed.
    place.success(&format!(
        "compare adaptive-clip fedavg {SMALL} --seeds 2 --quiet --out both"
    ));
    place.success("report both");
    let page = place.text("both/report.html");
    let row = format!("<td>adaptive-clip</td><td>{epsilon}</td><td>1e-5</td>");
    check(&page, &["<h2>Privacy</h2>", "keep nothing private", &row]);
    assert!(!page.contains("<td>fedavg</td><td>no bound"), "{page}");
    place.success(&format!("run fedavg {SMALL} --quiet --out plain"));
    place.success("report plain");
    assert!(!place.text("plain/report.html").contains("Privacy"));
}

#[test]
fn domains_are_in_the_page() {
    let place = Place::new();
    place.write_photos();
    place.success(
        "run fedavg --data images:photos --partition iid --clients 2 --model logistic --rounds 2 \
         --eval-every 1 --track-clients --quiet --out out",
    );
    place.success("report out");
    check(
        &place.text("out/report.html"),
        &[
            "<h2>Domains</h2>",
            "Domain chalk",
            "Domain ink",
            "<td>ink</td>",
        ],
    );
    shown(&place, "out/report.html");
}

#[test]
fn perplexity_is_in_the_page() {
    let place = Place::new();
    place.write_play("plays", ["abcd", "cdab"]);
    place.success(
        "run fedavg --data leaf:plays --partition natural --model gpt:1x16 --rounds 3 \
         --set lr=0.2 --set fraction=1 --eval-every 1 --quiet --out out",
    );
    place.success("report out");
    let perplexity = place.json("out/summary.json")["perplexity"]
        .as_f64()
        .unwrap();
    let fact = format!("<dt>perplexity</dt><dd>{perplexity:.3}</dd>");
    check(
        &place.text("out/report.html"),
        &[&fact, "Perplexity of the test set"],
    );
    shown(&place, "out/report.html");
}

#[test]
fn sweeps_and_reproductions_have_pages_that_fit() {
    let place = Place::new();
    place.success(&format!(
        "sweep fedprox {SMALL} --grid mu=0.01,0.1,1 --grid lr=0.05,0.1 --seeds 2 --validation 0.2 --eval-every 2 --quiet --out swept"
    ));
    check(&place.text("swept/report.html"), &["fedprox mu=1 lr=0.1"]);
    shown(&place, "swept/report.html");
    place.success(
        "reproduce adfl mnist --data-dir data --rounds 2 --seeds 1 --only AdFL --quiet --out table",
    );
    place.success("report table");
    let page = place.text("table/report.html");
    check(&page, &["<h2>Table of the paper</h2>", "time a round"]);
    // Nothing was to be reached.
    assert!(!page.contains("reached"), "{page}");
    shown(&place, "table/report.html");
}

#[test]
fn a_page_without_data_says_what_it_lacks() {
    let place = Place::new();
    place.success(&format!("run fedavg {SMALL} --quiet --out out"));
    std::fs::remove_dir_all(place.path("data")).unwrap();
    place.success("report out");
    let page = place.text("out/report.html");
    check(&page, &["The data could not be read here", "Curves"]);
    for (folder, found) in [(".", false), ("nowhere", true)] {
        let text = place.failure(&format!("report {folder}"), 1);
        assert!(text.contains("expected the folder of a run"), "{text}");
        assert_eq!(text.contains("found no such folder"), found, "{text}");
    }
}

/// Fails where a browser reports an error, or has to scroll sideways, on a desk or on a telephone.
fn shown(place: &Place, page: &str) {
    let Some(chromium) = chromium() else {
        skipped("no chromium; install the Debian package chromium");
        return;
    };
    let text = place.text(page);
    for width in [1280, 400] {
        let attribute = text.replace('&', "&amp;").replace('"', "&quot;");
        let frame = format!(
            "<iframe id=f style='width:{width}px;height:900px' srcdoc=\"{attribute}\"></iframe><pre id=o></pre>\
             <script>f.onload=()=>{{const e=f.contentDocument.documentElement;\
             const drawn=[...f.contentDocument.images].every(i=>i.naturalWidth>0);\
             o.textContent='measured '+(e.scrollWidth<=e.clientWidth)+' '+drawn}}</script>"
        );
        place.write("frame.html", frame.as_bytes());
        let mut command = Command::new(&chromium);
        command.args(["--headless", "--no-sandbox", "--disable-gpu", "--dump-dom"]);
        command.args(["--enable-logging=stderr", "--virtual-time-budget=5000"]);
        let profile = format!("--user-data-dir={}", place.path("browser").display());
        let file = format!("file://{}", place.path("frame.html").display());
        let output = command.args([profile, file]).output().unwrap();
        let (dom, log) = (
            String::from_utf8_lossy(&output.stdout).into_owned(),
            String::from_utf8_lossy(&output.stderr).into_owned(),
        );
        let end = dom.rfind("<pre id=\"o\">").map(|at| &dom[at..]);
        let measured = end.unwrap_or_default();
        assert!(
            measured.contains("measured true true"),
            "{width}: {measured}\n{log}"
        );
        assert!(!log.contains("CONSOLE"), "{log}");
    }
}

/// The browser, if there is one.
fn chromium() -> Option<PathBuf> {
    let paths = std::env::var_os("PATH")?;
    let names = ["chromium", "chromium-browser", "google-chrome"];
    let mut all = std::env::split_paths(&paths).flat_map(|dir| names.map(|name| dir.join(name)));
    all.find(|path: &PathBuf| Path::is_file(path))
}
