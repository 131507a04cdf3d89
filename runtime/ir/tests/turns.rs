//! Clients that take turns, as text: what comes back, and what is refused.

use fedround_ir::fed::{parse, verify_linked};

use crate::altered_text::{are_refused, comes_back};

const TEXT: &str = include_str!("texts/turns.fed");

#[test]
fn turns_come_back() {
    comes_back(TEXT);
}

#[test]
fn what_is_wrong_is_said() {
    let cases = [
        (
            "fed.in_turn %0 with(%4, %5 = %w)",
            "fed.in_turn %w with(%4, %5 = %w)",
            "expected operands (cohort@server, params@server), found (params@server, params@server)",
        ),
        // What is passed on is the server's in between.
        (
            "opt.yield %7 : params@server",
            "opt.yield %6 : {params}@clients",
            "expected yields (params@server), found ({params}@clients)",
        ),
        (
            "%11 = tree.exp %10 : params",
            "%11 = tree.exp %10 : params\n          fed.in_turn %0 with(%99) {\n            opt.yield\n          }",
            "`cohort@server` is captured by code that runs on clients",
        ),
    ];
    are_refused(TEXT, cases);
}

/// Values of a turn are of its client alone.
#[test]
fn a_turn_does_not_meet_the_cohort() {
    let zipped = TEXT
        .replacen("fed.in_turn %0", "fed.in_turn %2", 1)
        .replacen(
            "    %3 = fed.in_turn",
            "    %98 = fed.broadcast %w to %0 : {params}@clients\n    %3 = fed.in_turn",
            1,
        )
        .replacen("(%k, %10 = %6)", "(%k, %10 = %6, %97 = %98)", 1);
    let error = verify_linked(&parse(&zipped).unwrap()).unwrap_err();
    assert!(
        error.to_string().contains("values of two cohorts meet"),
        "{error}"
    );
}
