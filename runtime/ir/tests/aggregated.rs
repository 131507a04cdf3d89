//! Text forms of operations on the values of all clients at once: which are read back, and which are
//! refused.

use fedround_ir::fed::{Exposure, Privacy, parse, verify_linked};

use crate::altered_text::{are_refused, comes_back};

const TEXT: &str = include_str!("texts/aggregated.fed");

#[test]
fn aggregates_come_back() {
    comes_back(TEXT);
}

#[test]
fn what_is_wrong_is_said() {
    let cases = [
        // Order and distance are of all values, which the server has to have.
        (
            "fed.median %8",
            "fed.median %2",
            "expected operands ({params}@server), found ({params}@clients)",
        ),
        (
            "fed.trimmed_mean %8 by %beta",
            "fed.trimmed_mean %8 by %9",
            "expected operands ({params}@server, f32@server)",
        ),
        (
            "fed.sq_distances %8",
            "fed.sq_distances %9",
            "expected operands ({params}@server), found ({f32}@server)",
        ),
        (
            "fed.split %12 by %8 : {tensor}@server",
            "fed.split %12 by %8 : {params}@server",
            "expected results ({tensor}@server)",
        ),
        (
            "fed.split %12 by %8",
            "fed.split %9 by %8",
            "expected operands (tensor@server, {params}@server)",
        ),
        // Code for one client is not about all.
        (
            "%17 = tree.sq_norm %15",
            "%99 = fed.cosines %13 : tensor@server\n      %17 = tree.sq_norm %15",
            "runs on the server, for all clients at once only",
        ),
    ];
    are_refused(TEXT, cases);
}

#[test]
fn rows_are_split_for_their_cohort() {
    let other = TEXT.replacen(
        "%8 = fed.gather %2",
        "%97 = fed.sample %beta : cohort@server\n    %98 = fed.broadcast %w to %97 : {params}@clients\n    %99 = fed.gather %98 : {params}@server\n    %8 = fed.gather %2",
        1,
    );
    let other = other.replacen("fed.split %21 by %8", "fed.split %21 by %99", 1);
    let error = verify_linked(&parse(&other).unwrap()).unwrap_err();
    assert!(
        error.to_string().contains("values of two cohorts meet"),
        "{error}"
    );
}

#[test]
fn a_start_is_left_to_link() {
    let start = TEXT.replacen(
        "%10 = fed.median %8",
        "%99 = fed.start_params : params@server\n    %10 = fed.median %8",
        1,
    );
    let error = verify_linked(&parse(&start).unwrap()).unwrap_err();
    assert!(
        error.to_string().contains("is left after link-hooks"),
        "{error}"
    );
}

/// A median may be moved by one client further than by its clipped value.
#[test]
fn no_bound_is_claimed_of_an_order() {
    let privacy = |of: &str| {
        let text = format!(
            "// fedround fed v1
fed.algorithm @test() {{
  fed.round(%w: params@server) {{
    %0 = fed.all_clients : cohort@server
    %1 = fed.broadcast %w to %0 : {{params}}@clients
    %2 = fed.map(%k, %3 = %1) {{
      %4 = arith.const 1 : f32
      %5 = fed.client_state \"c\" %k : params
      %6 = priv.clip %5, %4 : params
      fed.set_client_state \"c\" %k, %6
      fed.yield %6 : params
    }} : {{params}}@clients
    %7 = fed.gather %2 : {{params}}@server
    %8 = {of} %7 : params@server
    fed.yield %8 : params@server
  }}
}}
"
        );
        let module = parse(&text).unwrap();
        let result = module.funcs[0].body.yields[0];
        Privacy::of(&module).exposure(result)
    };
    assert_eq!(privacy("fed.mean"), Exposure::Clipped);
    assert_eq!(privacy("fed.median"), Exposure::Raw);
}
