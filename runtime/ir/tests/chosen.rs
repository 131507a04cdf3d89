//! Cohorts that the server chooses, as text: what comes back, and what is refused.

use crate::altered_text::{are_refused, comes_back};

const TEXT: &str = include_str!("texts/chosen.fed");

#[test]
fn choices_come_back() {
    comes_back(TEXT);
}

#[test]
fn what_is_wrong_is_said() {
    let cases = [
        // Scores are those that the server has.
        (
            "fed.where %28",
            "fed.where %23",
            "expected operands ({f32}@server), found ({f32}@clients)",
        ),
        // The values of one cohort do not meet those of another.
        (
            "fed.restrict %23 of %29",
            "fed.restrict %23 of %10",
            "fed.weighted_sum",
        ),
        // A cohort is chosen for all clients at once.
        (
            "%8 = arith.add %6, %7 : f32@server",
            "%8 = arith.add %6, %7 : f32@server\n      %99 = fed.all_clients : cohort@server",
            "a `fed.map`",
        ),
        // The clock is the server's.
        (
            "%25 = fed.normal \"test.size\" %k",
            "%25 = fed.seconds %k",
            "runs on the server only",
        ),
        // A state that is read is set.
        (
            "fed.set_server_state \"test.second\" %32\n",
            "",
            "test.second",
        ),
    ];
    are_refused(TEXT, cases);
}
