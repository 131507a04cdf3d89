//! A fed module in the dot language.

use std::collections::HashMap;
use std::fmt::Write;

use fedround_ir::fed::{ArithOp, Choice, FedOp, Module, Op, OpKind, Place, Region, TreeOp, Value};

use super::{ends, head, quoted};
use crate::fed_attributes::fed_label;

/// A fed module: an op is a node, a region a cluster with a node for its arguments and one for
/// what it yields. Constants and hyper-parameters stand in the label of the op that reads them, in their
/// places among its operands: `arith.sub(1, ·)`.
pub fn module(module: &Module) -> String {
    let mut writer = Writer {
        module,
        out: head(module.name()),
        nodes: 0,
        clusters: 0,
        from: HashMap::new(),
        constants: HashMap::new(),
    };
    for func in &module.funcs {
        let layer = module.layers.get(func.layer).map_or("?", |l| &l.name);
        let label = match module.is_linked() {
            true => format!("{}, round", module.name()),
            false => format!("{layer}::{}", func.hook.name()),
        };
        writer.open(&label, func.hook.place());
        writer.region(&func.body, func.hook.arg_names(), None);
        writer.close();
    }
    writer.out + "}\n"
}

struct Writer<'m> {
    module: &'m Module,
    out: String,
    nodes: usize,
    clusters: usize,
    /// The node that gives a value, and which of its values it is, if there are several.
    from: HashMap<Value, (String, Option<usize>)>,
    constants: HashMap<Value, String>,
}

// Writing to a `String` cannot fail: its results are dropped.
impl Writer<'_> {
    fn open(&mut self, label: &str, place: Place) {
        let (fill, line) = match place {
            Place::Server | Place::Gathered => ("#eef3fa", "#8aa6c8"),
            Place::Clients | Place::Client => ("#f0f6ed", "#93b585"),
        };
        _ = writeln!(
            self.out,
            "  subgraph cluster_{} {{ label={}; style=\"rounded,filled\"; fillcolor=\"{fill}\"; color=\"{line}\"; labeljust=l;",
            self.clusters,
            quoted(label)
        );
        self.clusters += 1;
    }

    fn close(&mut self) {
        self.out += "  }\n";
    }

    fn node(&mut self, label: &str, extra: &str) -> String {
        let id = format!("n{}", self.nodes);
        self.nodes += 1;
        _ = writeln!(self.out, "    {id} [label={}{extra}];", quoted(label));
        id
    }

    /// Arrows to what reads values, with their numbers among these if they are in an order.
    fn edges(&mut self, values: &[Value], to: &str, in_order: bool) {
        let drawn = values.iter().filter(|v| self.from.contains_key(v)).count();
        for (index, value) in values.iter().enumerate() {
            if let Some((from, result)) = self.from.get(value) {
                let operand = (in_order && drawn > 1).then_some(index);
                let label = quoted(&self.module.type_of(*value).to_string());
                let ends = ends(*result, operand);
                _ = writeln!(self.out, "    {from} -> {to} [label={label}{ends}];");
            }
        }
    }

    /// Values that come from a node.
    fn give(&mut self, values: &[Value], node: &str) {
        for (index, value) in values.iter().enumerate() {
            let result = (values.len() > 1).then_some(index);
            self.from.insert(*value, (node.to_owned(), result));
        }
    }

    /// The constants among values, in brackets, with a dot in the place of each other value.
    fn constants(&self, values: &[Value]) -> String {
        let places = values.iter().map(|v| self.constants.get(v));
        let places: Vec<Option<&String>> = places.collect();
        if places.iter().all(Option::is_none) {
            return String::new();
        }
        let places = places.into_iter();
        let texts = places.map(|known| known.map_or("·", String::as_str));
        format!("({})", texts.collect::<Vec<_>>().join(", "))
    }

    /// Draws a region; gives the node of what it yields. Values that it takes over from its op
    /// come from the node `entry`.
    fn region(&mut self, region: &Region, names: &[&str], entry: Option<&str>) -> String {
        if let Some(entry) = entry {
            self.give(&region.args, entry);
        } else {
            for (index, arg) in region.args.iter().enumerate() {
                let name = names.get(index).copied().unwrap_or("argument");
                let label = format!("{name}: {}", self.module.type_of(*arg));
                let node = self.node(&label, ", shape=ellipse");
                self.from.insert(*arg, (node, None));
            }
        }
        for op in &region.ops {
            self.op(op);
        }
        let label = format!("yield{}", self.constants(&region.yields));
        let end = self.node(&label, ", shape=ellipse");
        self.edges(&region.yields, &end, true);
        end
    }

    fn op(&mut self, op: &Op) {
        let constant = match &op.kind {
            OpKind::Fed(FedOp::Hyper(index)) => Some(self.module.hyper_label(*index)),
            OpKind::Arith(ArithOp::Const(x)) => Some(x.to_string()),
            OpKind::Arith(ArithOp::IndexConst(n)) => Some(n.to_string()),
            _ => None,
        };
        if let (Some(text), [result]) = (constant, op.results.as_slice()) {
            self.constants.insert(*result, text);
            return;
        }
        let label = fed_label(self.module, &op.kind) + &self.constants(&op.operands);
        let in_order = !commutes(&op.kind);
        let given = if op.regions.is_empty() {
            let node = self.node(&label, "");
            self.edges(&op.operands, &node, in_order);
            node
        } else {
            // Its arguments are where its code runs.
            let arg = op.regions.first().and_then(|region| region.args.first());
            let place = arg.map_or(Place::Server, |arg| self.module.type_of(*arg).place);
            self.open(&label, place);
            let entry = self.node("enter", ", shape=ellipse");
            self.edges(&op.operands, &entry, in_order);
            let mut end = entry.clone();
            for region in &op.regions {
                end = self.region(region, &[], Some(&entry));
            }
            self.close();
            end
        };
        self.give(&op.results, &given);
    }
}

/// Whether the order of an op's operands says nothing.
fn commutes(kind: &OpKind) -> bool {
    matches!(
        kind,
        OpKind::Arith(ArithOp::Add | ArithOp::Mul)
            | OpKind::Tree(TreeOp::Add | TreeOp::Mul | TreeOp::Dot)
            | OpKind::Fed(FedOp::Choose(Choice::Union))
    )
}
