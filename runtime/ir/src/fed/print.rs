//! The text form of a module.
//!
//! The text is deterministic: values are renumbered in each function, hyper-parameters and arguments of
//! hooks have their names, and source locations are not printed. [`print_exact`] also prints the values
//! of hyper-parameters, and its text can be read back. [`print()`] leaves them out, for snapshots.
//!
//! ```text
//! // fedround fed v1
//! fed.algorithm @fedprox(%mu: f32) {
//!   fed.func @fedprox::regularizer(%k: client, %w: params) {
//!     %0 = fed.super @regularizer(%k, %w) : f32
//!     %1 = fed.global_params %k : params
//!     …
//!     fed.yield %5 : f32
//!   }
//! }
//! ```

use std::collections::HashMap;
use std::fmt::Write;

use super::op::FUNC_END;
use super::{FedOp, Func, HyperValue, Kind, Module, Op, OpKind, Place, Region, Value};
use crate::text::attribute::AttributeText;
use crate::text::lexer::written;
use crate::text::{FED_VERSION, header};

/// Prints a module without the values of its hyper-parameters.
pub fn print(module: &Module) -> String {
    Printer::new(module).module()
}

/// Prints a module so that [`parse`](super::parse()) can read it back.
pub fn print_exact(module: &Module) -> String {
    let mut printer = Printer::new(module);
    printer.values = true;
    printer.module()
}

struct Printer<'m> {
    module: &'m Module,
    /// Whether hyper-parameters have their values.
    values: bool,
    out: String,
    depth: usize,
    names: HashMap<Value, String>,
    next: usize,
}

impl<'m> Printer<'m> {
    fn new(module: &'m Module) -> Self {
        Self {
            module,
            values: false,
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
        self.line(&header("fed", FED_VERSION));
        let hypers: Vec<String> = (0..self.module.hypers.len())
            .map(|index| self.hyper(index))
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

    fn hyper(&self, index: usize) -> String {
        let name = written(&self.module.hyper_label(index));
        let value = self.module.hypers.get(index).map(|hyper| &hyper.value);
        let kind = value.and_then(HyperValue::kind);
        let kind = kind.map_or("?", Kind::name);
        match value {
            Some(HyperValue::Float(x)) if self.values => format!("{name}: {kind} = {x:?}"),
            Some(value) if self.values => format!("{name}: {kind} = {value}"),
            _ => format!("{name}: {kind}"),
        }
    }

    fn func(&mut self, func: &Func, linked: bool) {
        self.names.clear();
        self.next = 0;
        let mut args = Vec::new();
        for (index, arg) in func.body.args.iter().enumerate() {
            let name = func.hook.arg_names().get(index).copied().unwrap_or("extra");
            self.names.insert(*arg, format!("%{name}"));
            args.push(format!("%{name}: {}", self.ty(*arg)));
        }
        let args = args.join(", ");
        if linked {
            self.line(&format!("fed.round({args}) {{"));
        } else {
            let (layer, hook) = (self.module.layer_name(func.layer), func.hook.name());
            // Two layers of one algorithm differ by number only.
            let suffix = match self.module.twins(func.layer) {
                0 => String::new(),
                twins => format!("_{}", twins + 1),
            };
            self.line(&format!("fed.func @{layer}{suffix}::{hook}({args}) {{"));
        }
        self.body(&func.body, FUNC_END);
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
        let ty = self.module.types.get(value.0 as usize);
        ty.map_or_else(|| "?".to_owned(), ToString::to_string)
    }

    fn types(&self, values: &[Value]) -> String {
        list(values, |value| self.ty(value))
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
        list(values, |value| self.name(value))
    }

    fn op(&mut self, op: &Op) {
        if let (OpKind::Fed(FedOp::Hyper(index)), [result]) = (&op.kind, op.results.as_slice()) {
            let label = self.module.hyper_label(*index);
            self.names.insert(*result, written(&label));
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
        if op.regions.is_empty() {
            let text = self.flat(op);
            self.line(&format!("{define}{text}{types}"));
            return;
        }
        for (index, region) in op.regions.iter().enumerate() {
            let head = self.head(op, region);
            let lead = if index == 0 { define.as_str() } else { "and " };
            self.line(&format!("{lead}{head} {{"));
            self.body(region, op.kind.terminator());
        }
        self.line(&format!("}}{types}"));
    }

    /// `fed.broadcast %w to %0`, `fed.call @regularizer(%k, %w)`: name, attributes and operands.
    fn flat(&self, op: &Op) -> String {
        let head = named(&op.kind);
        let operands = op.operands.iter().map(|value| self.name(*value));
        let operands: Vec<String> = operands.collect();
        let operands = operands.join(&match op.kind.separator() {
            "," => ", ".to_owned(),
            word => format!(" {word} "),
        });
        match op.kind {
            OpKind::Fed(FedOp::Call(_) | FedOp::Super(_)) => {
                format!("{head}({operands})")
            }
            _ => format!("{head} {operands}").trim_end().to_owned(),
        }
    }

    /// `fed.map(%k, %3 = %1)` and kin: the op, its control operands, and its region's arguments,
    /// the carried ones with their first value.
    fn head(&mut self, op: &Op, region: &Region) -> String {
        let name = named(&op.kind);
        let label = op.kind.controls().map_or("", |_| " with");
        let control = op.kind.controls().unwrap_or(0).min(op.operands.len());
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
        if ty.is_some_and(|ty| ty.kind == Kind::Client && ty.place != Place::Clients) {
            self.names.insert(value, "%k".to_owned());
            return "%k".to_owned();
        }
        self.fresh(value)
    }
}

/// Texts of values with commas between them.
fn list(values: &[Value], text: impl Fn(Value) -> String) -> String {
    let texts: Vec<String> = values.iter().map(|value| text(*value)).collect();
    texts.join(", ")
}

/// An op's name and attributes.
fn named(kind: &OpKind) -> String {
    let mut attributes = AttributeText {
        entries: vec![kind.name()],
        exact: true,
    };
    kind.write_attributes(&mut attributes);
    attributes.entries.join(" ")
}

#[cfg(test)]
#[path = "print_tests.rs"]
mod tests;
