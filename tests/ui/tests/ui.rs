//! Specs that compile, and specs that do not with what the user is told, by topic.

mod pass;

use trybuild::TestCases;

#[test]
fn specs_that_do_not_compile() {
    let cases = TestCases::new();
    for topic in [
        "control_flow",
        "gathered",
        "hooks",
        "hypers",
        "placement",
        "privacy",
    ] {
        cases.compile_fail(format!("cases/{topic}/*.rs"));
    }
}
