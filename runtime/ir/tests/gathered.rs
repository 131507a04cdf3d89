//! Text forms of the server's work for each client: which are read back, and which are refused.

use fedround_ir::fed::{parse, verify_linked};

use crate::altered_text::{are_refused, comes_back, error};

const TEXT: &str = include_str!("texts/gathered.fed");

#[test]
fn gathered_values_come_back() {
    comes_back(TEXT);
}

#[test]
fn what_is_wrong_is_said() {
    let cases = [
        // A map is at one place.
        (
            "%18 = %13)",
            "%18 = %3)",
            "expected operands ({params}@server, {tensor}@server)",
        ),
        // Only the server's code for a client reads what is around it.
        (
            "tree.add %5, %5",
            "tree.add %5, %w",
            "captured by code that runs on clients",
        ),
        // Code for one client is not about all.
        (
            "%20 = tree.sub %17, %w",
            "%99 = fed.all_clients : cohort@server\n      %20 = tree.sub %17, %w",
            "runs on the server, for all clients at once only, found in code of a `fed.map`",
        ),
        (
            "fed.set_server_state \"v\" %k, %21",
            "fed.set_server_state \"v\" %21",
            "a `fed.map`",
        ),
        // What clients hold is theirs, what the server holds its own.
        (
            "fed.gather %4 : {labels}@server",
            "fed.gather %4 : {labels}@clients",
            "{labels}@server",
        ),
        (
            "fed.gather %4 : {labels}",
            "fed.gather %13 : {labels}",
            "expected operands ({tensor}@clients), found ({tensor}@server)",
        ),
        (
            "fed.scatter %15",
            "fed.scatter %2",
            "expected operands ({params}@server)",
        ),
        (
            "fed.concat %13 : tensor",
            "fed.concat %12 : tensor",
            "expected operands ({tensor}@server)",
        ),
        // Features leave a client by a release, also to be gathered.
        (
            "fed.yield %11, %8, %10",
            "fed.yield %11, %7, %10",
            ".release(\"why\")",
        ),
        // What was visited is neither a cohort's nor kept.
        (
            "fed.gather %36 by %15",
            "fed.gather %36 by %24",
            "found ({f32}@clients, labels@server)",
        ),
        (
            "fed.scatter %15 to %0",
            "fed.scatter %15 to %12",
            "expected operands ({params}@server, cohort@server)",
        ),
        (
            "{labels}@server\n    %15",
            "{labels}@sever\n    %15",
            "expected `@clients` or `@server`",
        ),
    ];
    are_refused(TEXT, cases);
}

#[test]
fn a_gather_is_an_upload() {
    let claimed = TEXT.replacen("%0 =", "priv.claim \"local\"\n    %0 =", 1);
    let module = parse(&claimed).unwrap();
    let errors = verify_linked(&module).unwrap_err().to_string();
    let local = "fed.gather: local differential privacy is claimed";
    // The features and the labels; the models are the same on every client.
    assert_eq!(errors.matches(local).count(), 2, "{errors}");
}

#[test]
fn a_visit_ends_where_it_began() {
    assert!(verify_linked(&parse(TEXT).unwrap()).is_ok());
    let meets = "values of two cohorts meet";
    // Neither mixed with the values of those visited, nor with others on its way back.
    let mixed = error(TEXT, "%37 = %35) {", "%37 = %35, %99 = %30) {");
    assert!(mixed.contains(meets), "{mixed}");
    let elsewhere = error(TEXT, "fed.gather %36 by %15", "fed.gather %36");
    assert!(elsewhere.contains(meets), "{elsewhere}");
    let keeps = error(
        TEXT,
        "%38 = tree.sq_norm %37",
        "fed.set_client_state \"v\" %k, %37\n      %38 = tree.sq_norm %37",
    );
    assert!(
        keeps.contains("runs once for each visiting value"),
        "{keeps}"
    );
}
