//! Specs that compile, and specs that do not with what the user is told, by topic.

#[test]
fn ui() {
    let cases = trybuild::TestCases::new();
    cases.pass("cases/pass/*.rs");
    cases.compile_fail("cases/placement/*.rs");
    cases.compile_fail("cases/privacy/*.rs");
    cases.compile_fail("cases/gathered/*.rs");
    cases.compile_fail("cases/hooks/*.rs");
    cases.compile_fail("cases/control_flow/*.rs");
    cases.compile_fail("cases/hypers/*.rs");
}
