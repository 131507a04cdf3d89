//! Tables and texts for people fit a terminal of 80 columns.

use crate::support::{Place, SMALL};

/// A measurement of a few steps.
const BENCH: &str = "--clients 8 --cohort 2 --examples 20 --rounds 2 --model logistic";

/// Commands whose results are tables. JSON, programs' texts, files' texts and help are as wide as they are.
#[test]
fn no_line_of_a_table_is_wider_than_a_terminal() {
    let place = Place::new();
    let line = |text: &str| text.to_owned();
    let commands = [
        line("list"),
        line("list fedfed"),
        line("data list"),
        line("data info mnist"),
        line("data partition mnist --partition shards:2 --clients 12"),
        line("doctor"),
        line("opt --list"),
        line("reproduce"),
        line("explain fedavg"),
        line("explain adcol"),
        line("explain fedfed --model logistic"),
        line("explain dp-sgd --model logistic"),
        format!("run fedavg {SMALL} --out run"),
        format!("run adcol {SMALL} --out own-models"),
        line("eval run"),
        format!("compare fedavg adcol {SMALL} --seeds 2 --out compared"),
        format!("sweep fedprox {SMALL} --grid mu=0.01,1 --grid lr=0.1,0.2 --seeds 2 --out swept"),
        format!("inspect fedavg {SMALL} --out inspected"),
        format!("bench {BENCH} --table"),
        format!("bench {BENCH} --sweep clients=4,8 --table"),
    ];
    for command in commands {
        let text = place.success(&command);
        let wide: Vec<&str> = text.lines().filter(|l| l.chars().count() > 80).collect();
        assert!(!text.is_empty() && wide.is_empty(), "{command}: {wide:#?}");
    }
}
