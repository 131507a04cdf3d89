//! What is said of runs whose rounds train one of several clients.

use crate::support::{Place, SMALL, stderr};

const NOTE: &str =
    "note: each round trains 1 of 10 clients (fraction = 0.1); --set fraction=1 trains all\n";

#[test]
fn a_round_of_one_client_is_said_unless_it_was_chosen() {
    let place = Place::new();
    let said = |line: &str| {
        let output = place.output(line);
        let text = stderr(&output);
        assert!(output.status.success(), "{line}: {text}");
        text.matches("each round trains").count()
    };
    let text = stderr(&place.run("fedavg --out one"));
    assert!(text.contains(NOTE), "{text}");
    for line in [
        format!("run fedavg {SMALL} --set fraction=0.1 --out chosen"),
        format!("run fedavg {SMALL} --set fraction=1 --out all"),
        format!("run fedavg {SMALL} --quiet --out quiet"),
        // Its file says the fraction.
        "run --config one/config.toml --out again".to_owned(),
        "run fedavg --model logistic --clients 20 --rounds 1 --out two".to_owned(),
        // All of its clients train.
        format!("run solo {SMALL} --out solo"),
    ] {
        assert_eq!(said(&line), 0, "{line}");
    }
    // All algorithms of a comparison say the same once.
    let line = format!("compare fedavg fedprox {SMALL} --seeds 2 --out grid");
    assert_eq!(said(&line), 1);
    assert_eq!(said(&line.replace("--out grid", "--quiet --out other")), 0);
}
