//! Drawings of fed modules: FedAvg and FedProx, before and after linking.

use crate::specs::{Closure, FedAvg, FedProx, control_variates};
use crate::support::{check_dot, check_svg, snapshot, texts};
use fedround::stage;
use fedround_draw::{dot, json, svg};
use fedround_ir::fed::Module;
use fedround_passes::fed::Leaves;
use fedround_passes::fed::link;
use fedround_passes::report::Count;

fn linked(algorithm: &dyn fedround::Algorithm) -> Module {
    link(stage(algorithm).unwrap()).unwrap().module
}

fn fed_prox() -> FedProx {
    FedProx {
        base: FedAvg::default(),
        mu: 0.1,
    }
}

fn modules() -> [Module; 5] {
    [
        stage(&FedAvg::default()).unwrap(),
        linked(&FedAvg::default()),
        stage(&fed_prox()).unwrap(),
        linked(&fed_prox()),
        linked(&Closure(control_variates)),
    ]
}

/// The 2NN's parameters.
fn two_nn(_: &Leaves) -> usize {
    199_210
}

#[test]
fn svg_is_xml_and_nothing_overlaps() {
    for module in modules() {
        for parameters in [None, Some(&two_nn as Count<'_>)] {
            let text = svg::module(&module, parameters);
            check_svg(&text);
            assert_eq!(text, svg::module(&module, parameters));
        }
    }
}

#[test]
fn svg_shows_the_round_and_its_wires() {
    let text = svg::module(&linked(&fed_prox()), Some(&two_nn));
    let texts = texts(&text);
    for part in [
        "Server",
        "Clients",
        "opt.for_batches",
        "loss.cross_entropy",
        "global parameters",
        "trained on local data",
        "count of examples",
        "4P = 796.8 kB",
        "4 B",
    ] {
        assert!(texts.iter().any(|t| t == part), "{part}: {texts:?}");
    }
    let frames = texts.iter().filter(|t| t.starts_with("for")).count();
    assert_eq!(frames, 2, "{texts:?}");
}

#[test]
fn a_wire_is_drawn_once() {
    let text = svg::module(&linked(&Closure(control_variates)), None);
    let wires = texts(&text).iter().filter(|t| *t == "4P bytes").count();
    assert_eq!(wires, 4);
}

#[test]
fn text_is_escaped() {
    let mut module = linked(&FedAvg::default());
    module.layers[0].name = "a<b>&\"c\"".to_owned();
    let text = svg::module(&module, None);
    check_svg(&text);
    assert!(texts(&text).iter().any(|t| t.starts_with("a<b>&\"c\"")));
    check_dot(&dot::module(&module));
}

#[test]
fn dot_declares_what_it_joins() {
    for module in modules() {
        check_dot(&dot::module(&module));
    }
    snapshot(
        "fedavg.linked.dot",
        &dot::module(&linked(&FedAvg::default())),
    );
}

#[test]
fn json_reads_back_and_every_value_is_listed() {
    for module in modules() {
        let value = json::module(&module);
        let read: serde_json::Value = serde_json::from_str(&value.to_string()).unwrap();
        assert_eq!(read, value);
        assert_eq!(value["linked"], module.is_linked());
        let values = value["values"].as_array().unwrap().len() as u64;
        let mut ops = 0;
        for function in value["functions"].as_array().unwrap() {
            walk(&function["body"], values, &mut ops);
        }
        assert!(ops > 5);
    }
}

/// Checks a region's ids and counts its ops.
fn walk(region: &serde_json::Value, values: u64, ops: &mut usize) {
    let check = |ids: &serde_json::Value| {
        let ids = ids.as_array().unwrap();
        assert!(ids.iter().all(|id| id.as_u64().unwrap() < values));
    };
    check(&region["arguments"]);
    check(&region["yields"]);
    for op in region["ops"].as_array().unwrap() {
        *ops += 1;
        assert!(op["op"].as_str().unwrap().contains('.'));
        assert!(op["location"]["line"].as_u64().unwrap() > 0);
        check(&op["operands"]);
        check(&op["results"]);
        for inner in op["regions"].as_array().unwrap() {
            walk(inner, values, ops);
        }
    }
}
