//! Graphs as JSON, for other programs to read. Values are numbers, unique in a document's module
//! or graph; `docs/graphs.md` lists every field.

use fedround_ir::Loc;
use fedround_ir::fed::{HyperValue, Module, Op, Place, Region};
use fedround_ir::tensor::Val;
use fedround_passes::tensor::cost;
use serde_json::{Value, json};

use crate::Sheet;
use crate::attributes::attributes;
use crate::fed_attributes::fed_attributes;

/// A fed module, before or after linking.
pub fn module(module: &Module) -> Value {
    let layers: Vec<&str> = module.layers.iter().map(|l| l.name.as_str()).collect();
    let hypers = module.hypers.iter().enumerate().map(|(index, hyper)| {
        json!({
            "name": module.hyper_label(index),
            "layer": layers.get(hyper.layer),
            "kind": hyper.value.kind().map(|kind| kind.to_string()),
            "value": match &hyper.value {
                HyperValue::Float(x) => json!(x),
                HyperValue::Int(n) => json!(n),
                HyperValue::Bool(b) => json!(b),
                HyperValue::Text(t) => json!(t),
            },
        })
    });
    let functions = module.funcs.iter().map(|func| {
        json!({
            "hook": func.hook.name(),
            "layer": layers.get(func.layer),
            "body": region(module, &func.body),
            "location": location(func.loc),
        })
    });
    let values = module.types.iter().enumerate().map(|(id, ty)| {
        json!({ "id": id, "kind": ty.kind.to_string(), "place": match ty.place {
            Place::Server => "server",
            Place::Clients => "clients",
            Place::Gathered => "gathered",
            Place::Client => "client",
        }})
    });
    json!({
        "format": "fedround fed v1",
        "name": module.name(),
        "linked": module.is_linked(),
        "layers": layers,
        "hypers": hypers.collect::<Vec<_>>(),
        "functions": functions.collect::<Vec<_>>(),
        "values": values.collect::<Vec<_>>(),
    })
}

fn region(module: &Module, region: &Region) -> Value {
    let ids = |values: &[fedround_ir::fed::Value]| values.iter().map(|v| v.0).collect::<Vec<_>>();
    let op = |op: &Op| {
        json!({
            "op": op.kind.name(),
            "attributes": object(fed_attributes(module, &op.kind)),
            "operands": ids(&op.operands),
            "results": ids(&op.results),
            "regions": op.regions.iter().map(|r| self::region(module, r)).collect::<Vec<_>>(),
            "location": location(op.loc),
        })
    };
    json!({
        "arguments": ids(&region.args),
        "ops": region.ops.iter().map(op).collect::<Vec<_>>(),
        "yields": ids(&region.yields),
    })
}

/// Tensor graphs; plans, if the sheets have slots.
pub fn sheets(sheets: &[Sheet]) -> Value {
    let is_plan = sheets.iter().any(|sheet| sheet.slots.is_some());
    let format = if is_plan { "plan" } else { "tensor" };
    json!({
        "format": format!("fedround {format} v1"),
        "graphs": sheets.iter().map(sheet).collect::<Vec<_>>(),
    })
}

fn sheet(sheet: &Sheet) -> Value {
    let graph = &sheet.graph;
    let ids = |vals: &[Val]| vals.iter().map(|v| v.0).collect::<Vec<_>>();
    let named = |list: &[(String, Val)]| {
        let entries = list.iter().map(|(n, v)| json!({ "name": n, "value": v.0 }));
        entries.collect::<Vec<_>>()
    };
    let total = cost(graph);
    let nodes = graph.nodes.iter().zip(&total.nodes).map(|(node, cost)| {
        json!({
            "op": node.op.name(),
            "attributes": object(attributes(&node.op)),
            "operands": ids(&node.ins),
            "results": ids(&node.outs),
            "cost": {
                "flops": cost.flops,
                "read": cost.read,
                "written": cost.written,
                "live": cost.live,
            },
            "location": location(node.loc),
        })
    });
    let values = graph.types.iter().enumerate().map(|(id, ty)| {
        let mut value = json!({ "id": id, "dtype": ty.dtype.name(), "shape": ty.shape });
        if let (Some(slots), Value::Object(fields)) = (&sheet.slots, &mut value) {
            fields.insert("slot".to_owned(), json!(slots.get(id)));
        }
        value
    });
    json!({
        "name": sheet.name,
        "inputs": named(&graph.inputs),
        "nodes": nodes.collect::<Vec<_>>(),
        "outputs": named(&graph.outputs),
        "cost": {
            "flops": total.flops,
            "read": total.read,
            "written": total.written,
            "peak": total.peak,
        },
        "values": values.collect::<Vec<_>>(),
    })
}

fn object(attributes: Vec<(&'static str, Value)>) -> Value {
    let fields = attributes.into_iter().map(|(k, v)| (k.to_owned(), v));
    Value::Object(fields.collect())
}

fn location(loc: Loc) -> Value {
    let (file, line, column) = loc.position();
    json!({ "file": file, "line": line, "column": column })
}
