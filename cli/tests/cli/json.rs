//! `--json`: stdout is one JSON value, and `docs/json.md` names all of its keys.

use serde_json::Value;

use crate::support::{Place, SMALL, stderr};

/// Keys whose values are maps by names, which the page cannot list.
const MAPS: [&str; 10] = [
    "attributes",
    "probabilities",
    "server",
    "hyper",
    "class_accuracy",
    "auxiliaries",
    "aux",
    "variants",
    "options",
    "versions",
];

#[test]
fn stdout_is_json_that_the_page_describes() {
    let place = Place::new();
    let page = include_str!("../../../docs/json.md");
    let tiny = "--clients 8 --cohort 2 --examples 20 --rounds 2 --model logistic";
    let table = [
        ("`run`", format!("run fedprox {SMALL} --out run")),
        ("`run`", "resume run --rounds 5".to_owned()),
        ("`eval`", "eval run".to_owned()),
        (
            "`compare`",
            format!("compare fedavg fedprox {SMALL} --seeds 2"),
        ),
        (
            "`compare`",
            format!("sweep fedprox {SMALL} --grid mu=0.1,1 --seeds 1"),
        ),
        ("`reproduce`", "reproduce".to_owned()),
        ("`reproduce`", "reproduce adfl".to_owned()),
        ("`reproduce`", "reproduce adfl mnist --dry-run".to_owned()),
        (
            "`reproduce`",
            "reproduce adfl mnist --only AdFL --rounds 1 --seeds 1".to_owned(),
        ),
        (
            "`inspect`",
            format!("inspect fedavg {SMALL} --set fraction=1"),
        ),
        ("`list`", "list".to_owned()),
        ("`list`", "list datasets".to_owned()),
        ("`list`", "list fedprox(fedavg)".to_owned()),
        ("`explain`", "explain fedprox".to_owned()),
        ("`explain`", "explain adcol".to_owned()),
        ("`data`", "data list".to_owned()),
        ("`data`", "data info mnist".to_owned()),
        ("`data`", "data preview mnist --out sheet.png".to_owned()),
        (
            "`data`",
            "data partition mnist --partition iid --clients 3 --out who.svg".to_owned(),
        ),
        ("`export`", "export run --to model.pt".to_owned()),
        ("`predict`", "predict run sheet.png".to_owned()),
        ("`report`", "report run".to_owned()),
        (
            "`config`",
            "config fedprox --data mnist --seed 3".to_owned(),
        ),
        ("`opt --list`", "opt --list".to_owned()),
        ("`bench`", format!("bench {tiny}")),
        ("`bench`", format!("bench {tiny} --runs 1")),
        ("`doctor`", "doctor".to_owned()),
        ("`graph`", "graph fedprox".to_owned()),
        ("`graph`", "graph fedprox --at tensor".to_owned()),
        (
            "`graph`",
            "graph fedfed --at plan --model logistic".to_owned(),
        ),
        ("`graph`", "graph fedprox --costs".to_owned()),
        ("`new`", "new my-algorithm".to_owned()),
        ("`man`", "man pages".to_owned()),
        ("`data`", "data fetch synth-digits".to_owned()),
    ];
    for (heading, line) in table {
        let output = place.output(&format!("{line} --json"));
        assert!(output.status.success(), "{line}: {}", stderr(&output));
        let value: Value = serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|error| panic!("{line}: {error}"));
        let section = page.split("\n## ").find(|part| part.starts_with(heading));
        let section = section.unwrap_or_else(|| panic!("no section {heading}"));
        for key in keys(&value) {
            assert!(section.contains(&format!("`{key}`")), "{line}: `{key}`");
        }
    }
}

#[test]
fn results_are_on_stdout_and_the_rest_on_stderr() {
    let place = Place::new();
    // Progress and warnings are no results; what fails has none.
    let output = place.run("fedavg --json --out run");
    assert!(stderr(&output).contains("round 4/4"), "{}", stderr(&output));
    place.failure("run fedavg --data mnist --json --data-dir nowhere", 1);
    place.failure("explain fedprx --json", 1);
    place.failure("bench --json --markdown", 2);
    // The files are not the published ones, and fewer, which is always told.
    let quiet = place.run("fedavg --quiet --out quiet");
    let told = stderr(&quiet);
    let of_data =
        |line: &str| line.starts_with("note: data/mnist/") || line.starts_with("note: mnist: ");
    assert!(
        quiet.stdout.is_empty() && told.lines().all(of_data),
        "{told}"
    );
}

/// All keys of objects that are not maps.
fn keys(value: &Value) -> Vec<String> {
    match value {
        Value::Object(fields) => {
            let below = fields.iter().flat_map(|(key, value)| {
                let map = MAPS.contains(&key.as_str()) && value.is_object();
                let inner = if map { vec![] } else { keys(value) };
                [vec![key.clone()], inner].concat()
            });
            below.collect()
        }
        Value::Array(values) => values.iter().flat_map(keys).collect(),
        _ => vec![],
    }
}
