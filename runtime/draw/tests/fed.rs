//! Drawings of fed modules: FedAvg and FedProx, before and after linking.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test stops at its first error"
)]

#[path = "../../dsl/tests/common/mod.rs"]
#[allow(missing_docs)]
mod specs;
mod support;

use fedround::stage;
use fedround_draw::{dot, json, svg};
use fedround_ir::fed::Module;
use fedround_passes::fed::link;
use specs::{Closure, FedAvg, FedProx};
use support::{check_dot, check_svg, snapshot, texts};

fn linked(algorithm: &dyn fedround::Algorithm) -> Module {
    link(stage(algorithm).unwrap()).unwrap().module
}

fn fed_prox() -> FedProx {
    FedProx {
        base: FedAvg::default(),
        mu: 0.1,
    }
}

/// State on both sides, two broadcasts, two uploads.
fn control_variates(m: &mut fedround::Definer) {
    use fedround::__private::{for_each, hyper};
    use fedround::prelude::*;
    m.round(|server, w| {
        let s = server.everyone();
        let c = server.state("c");
        let (y_k, change_k) = w.broadcast(&s).zip(&c.broadcast(&s)).map(|k, (w, c)| {
            let c_k = k.state("c_k");
            let lr = hyper("lr", &0.1_f32);
            let (y,) = for_each(k.batches(1, 10), (w.clone(),), |b, (y,)| {
                let g = grad(&y, |y| cross_entropy(k.predict(y, &b.x), &b.y));
                (y - &lr * (g - &c_k + &c),)
            });
            let next = &c_k - &c + (w - &y) * 0.5;
            k.set_state("c_k", &next);
            (y, next - c_k)
        });
        server.set_state("c", &(c + change_k.mean()));
        y_k.mean()
    });
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

#[test]
fn svg_is_xml_and_nothing_overlaps() {
    for module in modules() {
        for parameters in [None, Some(199_210)] {
            let text = svg::module(&module, parameters);
            check_svg(&text);
            assert_eq!(text, svg::module(&module, parameters));
        }
    }
}

#[test]
fn svg_shows_the_round_and_its_wires() {
    let text = svg::module(&linked(&fed_prox()), Some(199_210));
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
        "fed_avg.linked.dot",
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
