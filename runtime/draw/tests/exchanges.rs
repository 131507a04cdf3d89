//! Drawings of what crosses: of dispatches, of what clients send to each other, of several cohorts, and the
//! order of operands.

use crate::support::{check_dot, check_svg, parsed, spaceless};
use fedround_draw::{dot, svg};
use fedround_passes::fed::Leaves;

/// The 2NN's parameters.
fn two_nn(_: &Leaves) -> usize {
    199_210
}

fn has(texts: &[String], parts: &[&str]) {
    for part in parts {
        assert!(texts.iter().any(|t| t == part), "{part}: {texts:?}");
    }
}

/// Updates that arrive one by one, with a hyper-parameter called as values without a name of their own are.
const ARRIVALS: &str = r#"// fedround fed v1
fed.algorithm @arriving(%in_flight: index = 4, %buffer: index = 2, %a: f32 = 0.5) {
  fed.round(%w: params@server) {
    %0 = fed.arrivals %in_flight, %buffer : cohort@server
    %1 = fed.dispatch %w to %0 : {params}@clients
    %2 = fed.map(%k, %3 = %1) {
      %4 = tree.scale %a, %3 : params
      fed.yield %4 : params
    } : {params}@clients
    %5 = fed.staleness %0 : {f32}@server
    %6 = fed.map(%k, %7 = %5) {
      %8 = arith.mul %a, %7 : f32@server
      fed.yield %8 : f32@server
    } : {f32}@server
    %9 = fed.mean %6 : f32@server
    %10 = fed.mean %2 : params@server
    %11 = tree.scale %9, %10 : params@server
    %12 = fed.server_state_or "arriving.v" %w : params@server
    %13 = tree.add %11, %12 : params@server
    fed.set_server_state "arriving.v" %13
    fed.yield %13 : params@server
  }
}
"#;

#[test]
fn a_dispatch_crosses_to_the_clients_that_arrive() {
    let text = svg::module(&parsed(ARRIVALS), None);
    check_svg(&text);
    let texts = spaceless(&text);
    has(
        &texts,
        &[
            "dispatchwttoS",
            "wtwhenkbegan",
            "foreachclientk∈S,inparallel",
            "foreachclientk∈S,ontheserver",
        ],
    );
    let wires = texts.iter().filter(|t| *t == "4Pbytes").count();
    assert_eq!(wires, 2, "{texts:?}");
}

#[test]
fn names_are_those_of_states_and_of_no_hyper_parameter() {
    let texts = spaceless(&svg::module(&parsed(ARRIVALS), None));
    has(&texts, &["v←state(v)orwt", "a2←1/mΣak2"]);
    assert!(!texts.iter().any(|t| t.starts_with("a←")), "{texts:?}");
}

/// Clients send to their neighbours.
const GOSSIP: &str = r#"// fedround fed v1
fed.algorithm @gossip() {
  fed.round(%w: params@server) {
    %0 = fed.all_clients : cohort@server
    %1 = fed.broadcast %w to %0 : {params}@clients
    %2 = fed.map(%k, %3 = %1) {
      %4 = fed.personal "gossip.x" [] %k, %3 : params
      fed.yield %4 : params
    } : {params}@clients
    %5 = fed.mix "ring" %2 : {params}@clients
    %6 = fed.map(%k, %7 = %5) {
      fed.set_client_state "gossip.x" %k, %7
      fed.yield %7 : params
    } : {params}@clients
    %8 = fed.consensus %6 : params@server
    fed.yield %8 : params@server
  }
}
"#;

#[test]
fn clients_send_to_each_other_on_their_lane() {
    let text = svg::module(&parsed(GOSSIP), Some(&two_nn));
    check_svg(&text);
    let texts = spaceless(&text);
    has(&texts, &["x←state(x)orwt", "wk2←mix_ring(wk)", "8P=1.6MB"]);
    let frames = texts.iter().filter(|t| t.contains("k∈allclients"));
    assert_eq!(frames.count(), 2, "{texts:?}");
    let footer = texts.iter().find(|t| t.starts_with("Bytes")).unwrap();
    assert!(footer.ends_with(",1.6MBtootherclients"), "{footer}");
}

/// Some clients go on from what all have made.
const COHORTS: &str = r#"// fedround fed v1
fed.algorithm @twice(%c: f32 = 0.5) {
  fed.round(%w: params@server) {
    %0 = fed.all_clients : cohort@server
    %1 = fed.broadcast %w to %0 : {params}@clients
    %2 = fed.map(%k, %3 = %1) {
      %4 = tree.scale %c, %3 : params
      fed.yield %4 : params
    } : {params}@clients
    %5 = fed.mean %2 : params@server
    %6 = fed.sample %c : cohort@server
    %7 = fed.broadcast %5 to %6 : {params}@clients
    %8 = fed.map(%k, %9 = %7) {
      %10 = tree.scale %c, %9 : params
      fed.yield %10 : params
    } : {params}@clients
    %11 = fed.mean %8 : params@server
    fed.yield %11 : params@server
  }
}
"#;

#[test]
fn bytes_are_added_up_cohort_by_cohort() {
    let text = svg::module(&parsed(COHORTS), Some(&two_nn));
    check_svg(&text);
    has(
        &spaceless(&text),
        &[
            "Bytesforeachclientineachround,P=199,210parameters",
            "ofcohort1:796.8kBdown,796.8kBup",
            "ofcohort2:796.8kBdown,796.8kBup",
        ],
    );
}

/// Ops that read constants and several values, and a region that yields a constant.
const ORDERED: &str = r#"// fedround fed v1
fed.algorithm @ordered() {
  fed.round(%w: params@server) {
    %0 = fed.all_clients : cohort@server
    %1 = fed.broadcast %w to %0 : {params}@clients
    %2, %3 = fed.map(%k, %4 = %1) {
      %5 = arith.const 1.0 : f32
      %6 = tree.sq_norm %4 : f32
      %7 = arith.sub %5, %6 : f32
      %8 = arith.div %7, %6 : f32
      %9 = arith.mul %8, %7 : f32
      %10 = tree.scale %9, %4 : params
      fed.yield %10, %5 : params, f32
    } : {params}@clients, {f32}@clients
    %11 = fed.weighted_mean %2 by %3 : params@server
    fed.yield %11 : params@server
  }
}
"#;

#[test]
fn dot_tells_the_order_of_operands() {
    let text = dot::module(&parsed(ORDERED));
    check_dot(&text);
    assert!(text.contains(r#"[label="arith.sub(1, ·)"]"#), "{text}");
    assert!(text.contains(r#"[label="yield(·, 1)""#), "{text}");
    // The edges that go into the only node whose label starts so.
    let into = |label: &str| -> Vec<&str> {
        let label = format!("[label=\"{label}");
        let node = text.lines().find(|line| line.contains(&label)).unwrap();
        let node = node.trim().split(' ').next().unwrap();
        let to = format!(" -> {node} [");
        let edges = text.lines().filter(|line| line.contains(&to));
        edges
            .map(|line| line.split_once(", ").map_or("", |(_, ends)| ends))
            .collect()
    };
    assert_eq!(into("arith.sub"), [""]);
    assert_eq!(
        into("arith.div"),
        [r#"headlabel="1"];"#, r#"headlabel="2"];"#]
    );
    assert_eq!(into("arith.mul"), ["", ""]);
    // The second of the arguments on entry, the client being the first.
    let entered = r#"taillabel="2", headlabel="2"];"#;
    assert_eq!(into("tree.scale"), [r#"headlabel="1"];"#, entered]);
    let means = [
        r#"taillabel="1", headlabel="1"];"#,
        r#"taillabel="2", headlabel="2"];"#,
    ];
    assert_eq!(into("fed.weighted_mean"), means);
}
