//! Cohorts that the server chooses, as text: what comes back, and what is refused.

use fedround_ir::fed::{difference, parse, print_exact, verify_linked};

const TEXT: &str = include_str!("texts/chosen.fed");

#[test]
fn choices_come_back() {
    let module = parse(TEXT).unwrap();
    assert_eq!(print_exact(&module), TEXT);
    let again = parse(&print_exact(&module)).unwrap();
    assert_eq!(difference(&module, &again), None);
}

/// What is said about the text in which `from` is `to`.
fn error(from: &str, to: &str) -> String {
    assert!(TEXT.contains(from), "{from}");
    let parsed = parse(&TEXT.replacen(from, to, 1));
    match parsed {
        Ok(module) => verify_linked(&module).unwrap_err().to_string(),
        Err(error) => error.to_string(),
    }
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
    for (from, to, said) in cases {
        let error = error(from, to);
        assert!(error.contains(said), "{to}: {error}");
    }
}
