//! Snapshots of the code that the macros emit, and of their errors on wrong input.
// A test's way to fail is to panic.
#![allow(clippy::expect_used, clippy::panic)]

mod support;

use support::{compile_errors, errors, expansions, fixture, parts, pretty};

fn assert_snapshot(name: &str, text: &str) {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("../../../snapshots/expand");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!(name, text));
}

#[test]
fn impls() {
    for name in [
        "fed_avg",
        "fed_prox",
        "nested_loops",
        "choices",
        "optimizers",
        "written_out",
    ] {
        let expanded = expansions(&fixture(name)).into_iter();
        let text: Vec<String> = expanded.map(|(_, output)| pretty(output)).collect();
        assert_snapshot(name, &text.join("\n"));
    }
}

/// An enum of words, and a field of that type.
#[test]
fn words() {
    let expanded = expansions(&fixture("words")).into_iter();
    let text: Vec<String> = expanded.map(|(_, output)| pretty(output)).take(1).collect();
    assert_snapshot("words", &text.join("\n"));
}

/// One snapshot for the fields' declarations, and one for each impl.
#[test]
fn derives() {
    for name in ["hyper_fed_avg", "hyper_fed_prox", "hyper_kinds"] {
        for (_, output) in expansions(&fixture(name)) {
            for (part, text) in parts(output) {
                // Neither says anything new: what a plug-in without a default base stands on, and
                // one more `match` over names.
                if part != "no_base" && (name, &*part) != ("hyper_kinds", "hyper") {
                    assert_snapshot(&format!("{name}.{part}"), &text);
                }
            }
        }
    }
}

#[test]
fn wrong_input() {
    for name in [
        "errors_item",
        "errors_signature",
        "errors_loops",
        "errors_conditions",
        "errors_expressions",
        "errors_variables",
        "errors_hyper",
        "errors_hyper_fields",
        "errors_words",
    ] {
        assert_snapshot(name, &errors(&fixture(name)));
    }
}

/// An editor completes from what the macro leaves, so that errors must not take the code away.
#[test]
fn wrong_impls_are_kept() {
    for name in ["errors_item", "errors_signature", "errors_loops"] {
        for (input, output) in expansions(&fixture(name)) {
            let (input, output) = (input.to_string(), output.to_string());
            assert!(output.contains(&input), "{output}");
        }
    }
}

/// What rustc sees of a wrong impl and of a wrong struct.
#[test]
fn fallbacks() {
    let wrong = [
        "#[federated(base = base)] impl<A: Algorithm> Algorithm for X<A> { fn regularizer(&self) {} }",
        "#[derive(Hyper)] struct X<A> { base: A, mu: f32 }",
    ];
    let texts = wrong.map(|text| {
        let expanded = expansions(text).into_iter();
        expanded
            .map(|(_, output)| pretty(output))
            .collect::<String>()
    });
    assert_snapshot("fallback_impl", &texts[0]);
    assert_snapshot("fallback_hyper", &texts[1]);
}

/// Code that does not parse yet is kept as well.
#[test]
fn half_typed_code_is_kept() {
    let half_typed = "impl Algorithm for X { fn regularizer(&self) -> Scalar { self. } }";
    let item: proc_macro2::TokenStream = half_typed.parse().expect("balanced");
    let output = fedround_macros_core::federated(Default::default(), item.clone());
    assert!(output.to_string().starts_with(&item.to_string()));
    assert!(output.to_string().contains("compile_error"));
}

/// Whatever the tokens, there is an expansion.
#[test]
fn nothing_panics() {
    for text in [
        "",
        "x",
        "impl",
        "impl X {}",
        "fn f() {}",
        "struct S;",
        "struct S {}",
        "1 + 1",
    ] {
        let tokens: proc_macro2::TokenStream = text.parse().expect("tokens");
        fedround_macros_core::federated(tokens.clone(), tokens.clone());
        fedround_macros_core::hyper(tokens);
    }
}

#[test]
fn one_wrong_line_is_one_error() {
    let text = "#[federated] impl Algorithm for X {
        fn regularizer(&self, k: &ClientCx, w: &Params) -> Scalar { loop {} }
    }";
    let [(_, output)] = &expansions(text)[..] else {
        panic!("one item");
    };
    assert_eq!(compile_errors(output).len(), 1);
}
