//! The text form of a module.
//!
//! Deterministic: values are renumbered in each function, hyper-parameters and slot arguments go
//! by name, and neither values of hyper-parameters nor source locations are printed.
//!
//! ```text
//! // fedround fed v1
//! fed.algorithm @fed_prox(%mu: f32) {
//!   fed.func @fed_prox::penalty(%k: client, %w: params) {
//!     %0 = fed.super @penalty(%k, %w) : f32
//!     %1 = fed.received %k : params
//!     …
//!     fed.yield %5 : f32
//!   }
//! }
//! ```

use std::collections::HashMap;
use std::fmt::Write;

use super::{Func, Kind, Module, Op, OpKind, Place, Region, Value};

/// Prints a module.
pub fn print(module: &Module) -> String {
    Printer::new(module, false).module()
}

/// Prints a module with the source line of each op in a trailing comment.
pub fn print_with_locations(module: &Module) -> String {
    Printer::new(module, true).module()
}

struct Printer<'m> {
    module: &'m Module,
    locations: bool,
    out: String,
    depth: usize,
    names: HashMap<Value, String>,
    next: usize,
}

impl<'m> Printer<'m> {
    fn new(module: &'m Module, locations: bool) -> Self {
        Self {
            module,
            locations,
            out: String::new(),
            depth: 0,
            names: HashMap::new(),
            next: 0,
        }
    }

    fn line(&mut self, text: &str) {
        // Writing to a `String` cannot fail.
        let _ = writeln!(self.out, "{:indent$}{text}", "", indent = 2 * self.depth);
    }

    fn module(mut self) -> String {
        self.line("// fedround fed v1");
        let hypers: Vec<String> = (0..self.module.hypers.len())
            .map(|index| {
                let kind = self
                    .module
                    .hypers
                    .get(index)
                    .and_then(|hyper| hyper.value.kind());
                let kind = kind.map_or_else(|| "?".to_owned(), |kind| kind.to_string());
                format!("%{}: {kind}", self.module.hyper_label(index))
            })
            .collect();
        let name = self.module.name();
        self.line(&format!("fed.algorithm @{name}({}) {{", hypers.join(", ")));
        self.depth += 1;
        let linked = self.module.is_linked();
        for func in &self.module.funcs {
            self.func(func, linked);
        }
        self.depth -= 1;
        self.line("}");
        self.out
    }

    fn func(&mut self, func: &Func, linked: bool) {
        self.names.clear();
        self.next = 0;
        let mut args = Vec::new();
        for (index, arg) in func.body.args.iter().enumerate() {
            let name = func.slot.arg_names().get(index).copied().unwrap_or("extra");
            self.names.insert(*arg, format!("%{name}"));
            args.push(format!("%{name}: {}", self.ty(*arg)));
        }
        let args = args.join(", ");
        if linked {
            self.line(&format!("fed.round({args}) {{"));
        } else {
            let layer = self
                .module
                .layers
                .get(func.layer)
                .map_or("anonymous", |layer| &layer.name);
            // Two layers of one algorithm differ by number only.
            let twins = self
                .module
                .layers
                .iter()
                .take(func.layer)
                .filter(|l| l.name == layer)
                .count();
            let suffix = if twins == 0 {
                String::new()
            } else {
                format!("_{}", twins + 1)
            };
            self.line(&format!(
                "fed.func @{layer}{suffix}::{}({args}) {{",
                func.slot.name()
            ));
        }
        self.body(&func.body, "fed.yield");
        self.line("}");
    }

    fn body(&mut self, region: &Region, end: &str) {
        self.depth += 1;
        for op in &region.ops {
            self.op(op);
        }
        if region.yields.is_empty() {
            self.line(end);
        } else {
            let values = self.values(&region.yields);
            let types = self.types(&region.yields);
            self.line(&format!("{end} {values} : {types}"));
        }
        self.depth -= 1;
    }

    fn ty(&self, value: Value) -> String {
        self.module
            .types
            .get(value.0 as usize)
            .map_or_else(|| "?".to_owned(), ToString::to_string)
    }

    fn types(&self, values: &[Value]) -> String {
        values
            .iter()
            .map(|value| self.ty(*value))
            .collect::<Vec<_>>()
            .join(", ")
    }

    fn fresh(&mut self, value: Value) -> String {
        let name = format!("%{}", self.next);
        self.next += 1;
        self.names.insert(value, name.clone());
        name
    }

    fn name(&self, value: Value) -> String {
        // A broken module prints too: that is when one reads it.
        self.names
            .get(&value)
            .cloned()
            .unwrap_or_else(|| format!("%undefined{}", value.0))
    }

    fn values(&self, values: &[Value]) -> String {
        values
            .iter()
            .map(|value| self.name(*value))
            .collect::<Vec<_>>()
            .join(", ")
    }

    fn op(&mut self, op: &Op) {
        if let (OpKind::Hyper(index), [result]) = (&op.kind, op.results.as_slice()) {
            let label = self.module.hyper_label(*index);
            self.names.insert(*result, format!("%{label}"));
            return;
        }
        let results: Vec<String> = op.results.iter().map(|value| self.fresh(*value)).collect();
        let define = if results.is_empty() {
            String::new()
        } else {
            format!("{} = ", results.join(", "))
        };
        let types = if op.results.is_empty() {
            String::new()
        } else {
            format!(" : {}", self.types(&op.results))
        };
        let at = if self.locations {
            format!("  // {}", op.loc)
        } else {
            String::new()
        };
        if op.regions.is_empty() {
            let text = self.flat(op);
            self.line(&format!("{define}{text}{types}{at}"));
            return;
        }
        for (index, region) in op.regions.iter().enumerate() {
            let head = self.head(op, region);
            let lead = if index == 0 { define.as_str() } else { "and " };
            self.line(&format!("{lead}{head} {{{at}"));
            let end = if op.kind == OpKind::Map {
                "fed.yield"
            } else {
                "opt.yield"
            };
            self.body(region, end);
        }
        self.line(&format!("}}{types}"));
    }

    fn flat(&self, op: &Op) -> String {
        let name = op.kind.name();
        let operands = self.values(&op.operands);
        match &op.kind {
            OpKind::Const(x) => format!("{name} {x:?}"),
            OpKind::IndexConst(n) => format!("{name} {n}"),
            OpKind::Call(slot) | OpKind::Super(slot) => {
                format!("{name} @{}({operands})", slot.name())
            }
            OpKind::ServerState(state, _)
            | OpKind::SetServerState(state)
            | OpKind::ClientState(state, _)
            | OpKind::SetClientState(state) => {
                format!("{name} {state:?} {operands}").trim_end().to_owned()
            }
            OpKind::TreeWithParts(parts) => format!("{name} {parts:?} {operands}"),
            OpKind::Personal(state, parts) => format!("{name} {state:?} {parts:?} {operands}"),
            OpKind::Release(why) => format!("{name} {why:?} {operands}"),
            OpKind::Claim(dp) => format!("{name} {:?}", dp.name()),
            OpKind::Broadcast if op.operands.len() == 2 => {
                format!(
                    "{name} {} to {}",
                    self.name(op.operands[0]),
                    self.name(op.operands[1])
                )
            }
            OpKind::Reduce(_) if op.operands.len() == 2 => {
                format!(
                    "{name} {} by {}",
                    self.name(op.operands[0]),
                    self.name(op.operands[1])
                )
            }
            _ => format!("{name} {operands}").trim_end().to_owned(),
        }
    }

    /// `fed.map(%k, %3 = %1)` and kin: the op, its control operands, and its region's arguments,
    /// the carried ones with their first value.
    fn head(&mut self, op: &Op, region: &Region) -> String {
        let name = op.kind.name();
        let (control, label) = match op.kind {
            OpKind::ForBatches => (3, " with"),
            OpKind::Repeat => (1, " with"),
            _ => (0, ""),
        };
        let control = control.min(op.operands.len());
        let (fixed, carried) = op.operands.split_at(control);
        let fixed = self.values(fixed);
        let own = region.args.len().saturating_sub(carried.len());
        let mut args = Vec::new();
        for (index, arg) in region.args.iter().enumerate() {
            let start = index
                .checked_sub(own)
                .and_then(|index| carried.get(index))
                .copied();
            let first = start.map(|value| self.name(value));
            let arg = self.arg(*arg);
            args.push(first.map_or_else(|| arg.clone(), |first| format!("{arg} = {first}")));
        }
        let space = if fixed.is_empty() { "" } else { " " };
        format!("{name}{space}{fixed}{label}({})", args.join(", "))
    }

    fn arg(&mut self, value: Value) -> String {
        let ty = self.module.types.get(value.0 as usize);
        // Maps do not nest: one client is in scope at most.
        if ty.is_some_and(|ty| ty.kind == Kind::Client && ty.place == Place::Client) {
            self.names.insert(value, "%k".to_owned());
            return "%k".to_owned();
        }
        self.fresh(value)
    }
}

#[cfg(test)]
#[path = "print_tests.rs"]
mod tests;
