//! Drawings of fed modules: FedAvg and FedProx, before and after linking.

use crate::specs::{Closure, FedAvg, FedProx, control_variates};
use crate::support::{check_dot, check_svg, parsed, rects, snapshot, spaceless, texts};
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

/// Clients train one after the other, in steps to which the server adds its own, as in split learning.
const TURNS: &str = r#"// fedround fed v1
fed.algorithm @turns(%steps: index = 10, %batch: index = 10) {
  fed.round(%w: params@server) {
    %0 = fed.all_clients : cohort@server
    %1 = fed.in_turn %0 with(%2, %3 = %w) {
      %4 = opt.repeat %steps with(%5 = %3) {
        %6 = fed.broadcast %5 to %2 : {params}@clients
        %7 = fed.map(%k, %8 = %6) {
          %9 = opt.batch %k, %batch : batch
          %10 = batch.x %9 : tensor
          %11 = nn.features %8, %10 : tensor
          %12 = priv.release "outputs of a layer in the middle of the network" %11 : tensor
          fed.yield %12 : tensor
        } : {tensor}@clients
        %13 = fed.gather %7 : {tensor}@server
        %14 = fed.concat %13 : tensor@server
        %15, %16 = opt.grad(%17 = %5) {
          %18 = nn.head %17, %14 : tensor@server
          %19 = tree.sq_norm %18 : f32@server
          opt.yield %19 : f32@server
        } : params@server, f32@server
        opt.yield %15 : params@server
      } : params@server
      opt.yield %4 : params@server
    } : params@server
    fed.yield %1 : params@server
  }
}
"#;

#[test]
fn a_loop_in_which_clients_take_part_stands_around_both_lanes() {
    let text = svg::module(&parsed(TURNS), Some(&two_nn));
    check_svg(&text);
    let rects = rects(&text);
    let lanes: Vec<_> = rects.iter().filter(|rect| rect.radius == 8.0).collect();
    let [server, clients] = lanes.as_slice() else {
        panic!("{lanes:?}");
    };
    let around: Vec<_> = rects.iter().filter(|rect| !rect.filled).collect();
    assert_eq!(around.len(), 2);
    for frame in around {
        assert!(server.x < frame.x && frame.x < server.right());
        assert!(clients.x < frame.right() && frame.right() < clients.right());
    }
    // The client's code is on the clients' lane, and what stands at a wire is between the lanes.
    let sheet = rects.iter().find(|rect| rect.radius == 6.0 && rect.filled);
    assert!(sheet.unwrap().x > clients.x, "{sheet:?}");
    let labels = texts(&text);
    let label = labels.iter().find(|text| text.contains("released: "));
    let narrowest = 4.0 * label.unwrap().chars().count() as f64;
    assert!(clients.x - server.right() > narrowest);
}

#[test]
fn collected_rows_carry_nothing_from_batch_to_batch() {
    let one = "%9 = opt.batch %k, %batch : batch
          %10 = batch.x %9 : tensor
          %11 = nn.features %8, %10 : tensor";
    let all = "%11 = opt.collect %k, %batch with(%9) {
            %10 = batch.x %9 : tensor
            %99 = nn.features %8, %10 : tensor
            opt.yield %99 : tensor
          } : tensor";
    let text = TURNS.replace(one, all);
    assert!(text != TURNS);
    let texts = spaceless(&svg::module(&parsed(&text), None));
    for part in ["collectzforbinbatches(1,batch)", "z←features(w2,b.x)"] {
        assert!(texts.iter().any(|t| t == part), "{part}: {texts:?}");
    }
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

/// A personal state under a claim of privacy.
const CLAIMED: &str = r#"// fedround fed v1
fed.algorithm @claimed() {
  fed.round(%w: params@server) {
    priv.claim "central"
    %0 = fed.all_clients : cohort@server
    %1 = fed.broadcast %w to %0 : {params}@clients
    %2 = fed.map(%k, %3 = %1) {
      %4 = fed.personal "claimed.norm" ["BatchNorm"] %k, %3 : params
      fed.set_client_state "claimed.norm" %k, %4
      fed.yield %4 : params
    } : {params}@clients
    %5 = fed.mean %2 : params@server
    fed.yield %w : params@server
  }
}
"#;

#[test]
fn states_have_their_names_and_claims_their_kind() {
    let module = parsed(CLAIMED);
    let text = svg::module(&module, None);
    check_svg(&text);
    let claim = "claim central differential privacy";
    assert!(texts(&text).iter().any(|t| t == claim), "{text}");
    let told = spaceless(&text);
    for part in ["v←personal(norm)orwt", "personal(norm)←v"] {
        assert!(told.iter().any(|t| t == part), "{part}: {told:?}");
    }
    let drawn = dot::module(&module);
    for part in [
        "fed.personal claimed.norm [BatchNorm]",
        "priv.claim central",
    ] {
        assert!(drawn.contains(part), "{part}: {drawn}");
    }
    let document = json::module(&module).to_string();
    for part in [
        r#""name":"claimed.norm""#,
        r#""parts":["BatchNorm"]"#,
        r#""trust":"central""#,
    ] {
        assert!(document.contains(part), "{part}: {document}");
    }
}
