//! Drawings of a training step of a dense layer.

use crate::support::{check_dot, check_svg, snapshot, texts};
use fedround_draw::{Phase, Sheet, dot, json, svg};
use fedround_ir::Loc;
use fedround_ir::tensor::{Graph, Op, TensorType, Val};
use fedround_passes::autodiff::grad;
use fedround_passes::tensor::{fuse, optimize};

/// `w ← w − lr ∇ mean((x w)²)`, on four examples.
fn step() -> Sheet {
    let mut g = Graph::default();
    let at = Loc::caller();
    let w = g.input("in0.weight", TensorType::f32([3, 2]));
    let x = g.input("x", TensorType::f32([4, 3]));
    let lr = g.input("lr", TensorType::f32([1, 1]));
    let mut op = |op: Op, ins: &[Val]| g.push(op, ins, at).unwrap();
    let z = op(Op::MatMul, &[x, w]);
    let square = op(Op::Mul, &[z, z]);
    let loss = op(Op::Mean, &[square]);
    let dw = grad(&mut g, loss, &[w], at).unwrap()[0];
    let step = g.push(Op::Mul, &[dw, lr], at).unwrap();
    let next = g.push(Op::Sub, &[w, step], at).unwrap();
    g.outputs = vec![("out0.weight".into(), next), ("loss0".into(), loss)];
    Sheet {
        name: "step0".to_owned(),
        graph: fuse(&optimize(g).unwrap()).unwrap(),
        slots: None,
    }
}

#[test]
fn phases_are_told_apart() {
    let phases = step().phases();
    let at = |phase| phases.iter().position(|p| *p == phase).unwrap();
    assert!(at(Phase::Forward) < at(Phase::Backward) && at(Phase::Backward) < at(Phase::Update));
}

#[test]
fn the_update_has_what_it_alone_reads() {
    let mut g = Graph::default();
    let at = Loc::caller();
    let w = g.input("in0.weight", TensorType::f32([3, 2]));
    let velocity = g.input("in1.weight", TensorType::f32([3, 2]));
    let x = g.input("x", TensorType::f32([4, 3]));
    let mut op = |op: Op, ins: &[Val]| g.push(op, ins, at).unwrap();
    let z = op(Op::MatMul, &[x, w]);
    let square = op(Op::Mul, &[z, z]);
    let loss = op(Op::Mean, &[square]);
    let dw = grad(&mut g, loss, &[w], at).unwrap()[0];
    let kept = g.push(Op::MulScalar(0.9), &[velocity], at).unwrap();
    let next = g.push(Op::Add, &[kept, dw], at).unwrap();
    g.outputs = vec![("out0.weight".into(), next), ("loss0".into(), loss)];
    let sheet = Sheet {
        name: "step0".to_owned(),
        graph: g,
        slots: None,
    };
    let phases = sheet.phases();
    let of = |v| {
        let mut nodes = sheet.graph.nodes.iter();
        phases[nodes.position(|node| node.outs.contains(&v)).unwrap()]
    };
    let expected = [
        Phase::Forward,
        Phase::Backward,
        Phase::Update,
        Phase::Update,
    ];
    assert_eq!([square, dw, kept, next].map(of), expected);
}

#[test]
fn svg_is_xml_and_nothing_overlaps() {
    let sheets = [step(), step()];
    let text = svg::sheets(&sheets);
    check_svg(&text);
    assert_eq!(text, svg::sheets(&sheets));
    let texts = texts(&text);
    for part in [
        "step0",
        "forward",
        "update",
        "matmul",
        "4×2",
        "weight",
        "→ out0.weight",
    ] {
        assert!(texts.iter().any(|t| t == part), "{part}: {texts:?}");
    }
    let empty = svg::sheets(&[Sheet {
        graph: Graph::default(),
        ..step()
    }]);
    assert!(empty.contains("no ops: its outputs are inputs"), "{empty}");
    check_svg(&empty.replace("<title>", "<rect width=\"1\" height=\"1\"/><title>"));
}

#[test]
fn dot_declares_what_it_joins() {
    let text = dot::sheets(&[step(), step()]);
    check_dot(&text);
    snapshot("step.tensor.dot", &dot::sheets(&[step()]));
}

#[test]
fn a_plan_shows_its_slots() {
    let mut sheet = step();
    sheet.slots = Some((0..sheet.graph.types.len()).map(|i| Some(10 + i)).collect());
    let sheets = [sheet];
    assert!(dot::sheets(&sheets).contains(" in s1"));
    assert!(
        texts(&svg::sheets(&sheets))
            .iter()
            .any(|t| t.contains(" in s1"))
    );
    let json = json::sheets(&sheets);
    assert_eq!(json["format"], "fedround plan v1");
    assert_eq!(json["graphs"][0]["values"][0]["slot"], 10);
}

#[test]
fn json_reads_back_with_costs() {
    let value = json::sheets(&[step()]);
    let read: serde_json::Value = serde_json::from_str(&value.to_string()).unwrap();
    assert_eq!(read, value);
    let graph = &value["graphs"][0];
    let values = graph["values"].as_array().unwrap().len() as u64;
    let mut flops = 0;
    for node in graph["nodes"].as_array().unwrap() {
        flops += node["cost"]["flops"].as_u64().unwrap();
        for id in node["operands"].as_array().unwrap() {
            assert!(id.as_u64().unwrap() < values);
        }
    }
    assert!(flops >= 2 * 4 * 3 * 2 && graph["cost"]["flops"] == flops);
}
