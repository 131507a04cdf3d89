//! Pages about runs and comparisons, as a browser shows them.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::{Place, SMALL};

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
    place.success(&format!("{line} --set strong.mu=1 --quiet --out out"));
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
            "--set strong.mu=1 --out out",
        ],
    );
    assert!(page.contains("<polygon"), "no bands");
    shown(&place, "out/report.html");
}

#[test]
fn a_page_without_data_says_what_it_lacks() {
    let place = Place::new();
    place.success(&format!("run fedavg {SMALL} --quiet --out out"));
    std::fs::remove_dir_all(place.path("data")).unwrap();
    place.success("report out");
    let page = place.text("out/report.html");
    check(&page, &["The data could not be read here", "Curves"]);
    for folder in [".", "nowhere"] {
        let text = place.failure(&format!("report {folder}"), 1);
        assert!(text.contains("expected the folder of a run"), "{text}");
    }
}

/// Fails where a browser reports an error, or has to scroll sideways, on a desk or on a telephone.
fn shown(place: &Place, page: &str) {
    let Some(chromium) = chromium() else {
        eprintln!("SKIPPED: no chromium; install the Debian package chromium");
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
