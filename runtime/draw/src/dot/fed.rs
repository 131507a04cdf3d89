//! A fed module in the dot language.

use std::collections::HashMap;
use std::fmt::Write;

use fedround_ir::fed::{ArithOp, FedOp, Module, Op, OpKind, Place, Region, Value};

use super::{head, quoted};

/// A fed module: an op is a node, a region a cluster with a node for its arguments and one for
/// what it yields. Constants and hyper-parameters stand in the label of the op that reads them.
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
    /// The node that gives a value.
    from: HashMap<Value, String>,
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

    fn edges(&mut self, values: &[Value], to: &str) {
        for value in values {
            if let Some(from) = self.from.get(value) {
                let label = quoted(&self.module.type_of(*value).to_string());
                _ = writeln!(self.out, "    {from} -> {to} [label={label}];");
            }
        }
    }

    /// The constants among an op's operands, in brackets.
    fn constants(&self, op: &Op) -> String {
        let known = op.operands.iter().filter_map(|v| self.constants.get(v));
        let known: Vec<&str> = known.map(String::as_str).collect();
        if known.is_empty() {
            String::new()
        } else {
            format!("({})", known.join(", "))
        }
    }

    /// Draws a region; gives the node of what it yields. Values that it takes over from its op
    /// come from the node `entry`.
    fn region(&mut self, region: &Region, names: &[&str], entry: Option<&str>) -> String {
        for (index, arg) in region.args.iter().enumerate() {
            let node = match (entry, names.get(index)) {
                (Some(entry), _) => entry.to_owned(),
                (None, name) => {
                    let name = name.copied().unwrap_or("argument");
                    let label = format!("{name}: {}", self.module.type_of(*arg));
                    self.node(&label, ", shape=ellipse")
                }
            };
            self.from.insert(*arg, node);
        }
        for op in &region.ops {
            self.op(op);
        }
        let end = self.node("yield", ", shape=ellipse");
        self.edges(&region.yields, &end);
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
        let label = match &op.kind {
            OpKind::Fed(FedOp::Call(hook) | FedOp::Super(hook)) => {
                format!("{} {}", op.kind.name(), hook.name())
            }
            OpKind::Fed(FedOp::Public(name, _)) => format!("{} {name}", op.kind.name()),
            kind => match kind.state() {
                Some(state) => format!("{} {}", kind.name(), state.name),
                None => kind.name(),
            },
        };
        let label = label + &self.constants(op);
        let given = if op.regions.is_empty() {
            let node = self.node(&label, "");
            self.edges(&op.operands, &node);
            node
        } else {
            // Its arguments are where its code runs.
            let arg = op.regions.first().and_then(|region| region.args.first());
            let place = arg.map_or(Place::Server, |arg| self.module.type_of(*arg).place);
            self.open(&label, place);
            let entry = self.node("enter", ", shape=ellipse");
            self.edges(&op.operands, &entry);
            let mut end = entry.clone();
            for region in &op.regions {
                end = self.region(region, &[], Some(&entry));
            }
            self.close();
            end
        };
        for result in &op.results {
            self.from.insert(*result, given.clone());
        }
    }
}
