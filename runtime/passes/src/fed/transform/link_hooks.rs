//! `link-hooks`: binds hooks and inlines them.
//!
//! The pass replaces `fed.call @hook` by the code of the hook's outermost definition, `fed.super @hook` by
//! that of the next inner definition, `fed.global_params` by the broadcast argument of the enclosing
//! `fed.map` (if several were broadcast, by the one that holds the argument of `round`), `fed.start_params`
//! by the argument of `round`, and `fed.current_cohort` by the cohort that was made last. The result has one function, `round`.
//!
//! ```text
//! fed.func @fedavg::regularizer(%k, %w)  { %0 = arith.const 0.0 … }
//! fed.func @fedprox::regularizer(%k, %w) { %0 = fed.super @regularizer(%k, %w) … fed.global_params %k … }
//! ```
//! becomes, in the map of `round`, where `%3` is the map's argument:
//! ```text
//! %7 = arith.const 0.0 … tree.sub %6, %3 …
//! ```

use std::collections::{HashMap, HashSet};

use fedround_ir::Loc;
use fedround_ir::fed::{FedOp, Func, Hook, Kind, Module, Op, OpKind, Region, Value};

use super::super::definition::definition;
use super::link_error::LinkError;
use super::sent_params::SentParams;
use crate::error::PassError;

/// Binds and inlines all hooks of a verified module. The result has one function.
///
/// # Errors
/// [`PassError::Link`] with every hook that is undefined or calls itself, and every
/// `fed.global_params` without a broadcast, or of several that could be meant, and `fed.current_cohort`
/// without a cohort.
pub fn link_hooks(module: &Module) -> Result<Module, PassError> {
    let Some(round) = definition(module, Hook::Round, usize::MAX) else {
        return Err(PassError::Link(vec![LinkError::NoRound]));
    };
    let target = Module {
        layers: module.layers.clone(),
        hypers: module.hypers.clone(),
        resumes: module.resumes,
        evaluates: module.evaluates,
        ..Module::default()
    };
    let mut linker = Linker {
        source: module,
        target,
        stack: vec![round],
        sent: SentParams::default(),
        received: HashSet::new(),
        several: vec![],
        start: None,
        drawn: None,
        errors: Vec::new(),
    };
    let frame = Frame {
        layer: round.layer,
        received: None,
    };
    let mut values = HashMap::new();
    let args = linker.fresh(&round.body.args, &mut values);
    linker.start = args.first().copied();
    linker.sent.start(&args);
    let body = linker.body(&round.body, args, &mut values, &frame);
    linker.target.funcs.push(Func {
        hook: Hook::Round,
        layer: round.layer,
        body,
        loc: round.loc,
    });
    if linker.errors.is_empty() {
        Ok(linker.target)
    } else {
        Err(PassError::Link(linker.errors))
    }
}

pub(super) type Values = HashMap<Value, Value>;

/// Whose code is being inlined, and what the client in scope was sent.
#[derive(Clone, Copy)]
pub(super) struct Frame {
    pub layer: usize,
    pub received: Option<Value>,
}

pub(super) struct Linker<'m> {
    source: &'m Module,
    pub target: Module,
    /// The definitions being inlined, outermost call first.
    stack: Vec<&'m Func>,
    pub sent: SentParams,
    /// Map arguments that replaced a `fed.global_params`.
    pub received: HashSet<Value>,
    /// Where the parameters were sent that clients in the map at hand received, if any could be meant.
    pub several: Vec<Loc>,
    /// The parameters that the round starts from.
    start: Option<Value>,
    /// The cohort that was made last.
    drawn: Option<Value>,
    errors: Vec<LinkError>,
}

impl<'m> Linker<'m> {
    pub(super) fn fresh(&mut self, values: &[Value], map: &mut Values) -> Vec<Value> {
        let mut copies = Vec::with_capacity(values.len());
        for &value in values {
            let copy = self.target.value(self.source.type_of(value));
            map.insert(value, copy);
            copies.push(copy);
        }
        copies
    }

    /// The region of an op with these operands.
    fn region(
        &mut self,
        (op, operands): (&OpKind, &[Value]),
        region: &'m Region,
        map: &mut Values,
        frame: &Frame,
    ) -> Region {
        let args = self.fresh(&region.args, map);
        if let Some((fixed, own)) = op.carried_from() {
            let first = operands.get(fixed..).unwrap_or_default();
            self.sent.begin(first, args.get(own..).unwrap_or_default());
        }
        self.body(region, args, map, frame)
    }

    pub(super) fn body(
        &mut self,
        region: &'m Region,
        args: Vec<Value>,
        map: &mut Values,
        frame: &Frame,
    ) -> Region {
        let mut ops = Vec::new();
        for op in &region.ops {
            self.op(op, &mut ops, map, frame);
        }
        Region {
            args,
            ops,
            yields: translate(&region.yields, map),
        }
    }

    fn op(&mut self, op: &'m Op, out: &mut Vec<Op>, map: &mut Values, frame: &Frame) {
        match op.kind {
            OpKind::Fed(FedOp::Call(hook)) => {
                let callee = definition(self.source, hook, usize::MAX);
                let missing = |layer| LinkError::Undefined {
                    hook: hook.name(),
                    layer,
                    loc: op.loc,
                };
                self.inline(op, callee, missing, out, map, frame);
            }
            OpKind::Fed(FedOp::Super(hook)) => {
                let callee = definition(self.source, hook, frame.layer);
                let missing = |layer| LinkError::NoBase {
                    hook: hook.name(),
                    layer,
                    loc: op.loc,
                };
                self.inline(op, callee, missing, out, map, frame);
            }
            OpKind::Fed(FedOp::GlobalParams) => match frame.received {
                Some(argument) => {
                    self.received.insert(argument);
                    map.extend(op.results.iter().map(|result| (*result, argument)));
                }
                None => {
                    let (sent, loc) = (self.several.clone(), op.loc);
                    self.errors.push(match sent.is_empty() {
                        true => LinkError::NothingReceived { loc },
                        false => LinkError::SeveralReceived { sent, loc },
                    });
                    self.fresh(&op.results, map);
                }
            },
            OpKind::Fed(FedOp::StartParams) => {
                let start = self.start.into_iter();
                map.extend(op.results.iter().copied().zip(start));
            }
            OpKind::Fed(FedOp::CurrentCohort) => match self.drawn {
                Some(cohort) => map.extend(op.results.iter().map(|result| (*result, cohort))),
                None => {
                    self.errors.push(LinkError::NothingDrawn { loc: op.loc });
                    self.fresh(&op.results, map);
                }
            },
            OpKind::Fed(FedOp::Map) => {
                let op = self.map(op, map, frame);
                out.push(op);
            }
            _ => {
                let operands = translate(&op.operands, map);
                // A cohort that is made in a loop is not there after it.
                let drawn = self.drawn;
                let of = (&op.kind, operands.as_slice());
                let regions: Vec<Region> = op
                    .regions
                    .iter()
                    .map(|region| self.region(of, region, map, frame))
                    .collect();
                self.drawn = drawn;
                let results = self.fresh(&op.results, map);
                let yields = regions.iter().flat_map(|region| &region.yields);
                self.sent.compute(operands.iter().chain(yields), &results);
                let kind = |v: &Value| self.target.type_of(*v).kind;
                if matches!(
                    op.kind,
                    OpKind::Fed(FedOp::Broadcast | FedOp::Dispatch | FedOp::Scatter)
                ) {
                    let received = results.iter().filter(|v| kind(v) == Kind::Params);
                    for (value, received) in operands.iter().zip(received) {
                        self.sent.send(*value, *received, op.loc);
                    }
                }
                let cohort = results.iter().rfind(|v| kind(v) == Kind::Cohort);
                self.drawn = cohort.copied().or(self.drawn);
                out.push(Op {
                    kind: op.kind.clone(),
                    operands,
                    results,
                    regions,
                    loc: op.loc,
                });
            }
        }
    }

    fn inline(
        &mut self,
        call: &'m Op,
        callee: Option<&'m Func>,
        missing: impl FnOnce(String) -> LinkError,
        out: &mut Vec<Op>,
        map: &mut Values,
        frame: &Frame,
    ) {
        let Some(callee) = callee else {
            let error = missing(self.layer_name(frame.layer));
            self.errors.push(error);
            self.fresh(&call.results, map);
            return;
        };
        if let Some(start) = self
            .stack
            .iter()
            .position(|open| std::ptr::eq(*open, callee))
        {
            let circle = self.stack.iter().skip(start).chain([&callee]);
            let path: Vec<String> = circle
                .map(|func| format!("{}::{}", self.layer_name(func.layer), func.hook.name()))
                .collect();
            let (hook, path) = (callee.hook.name(), path.join(" → "));
            self.errors.push(LinkError::Recursion {
                hook,
                path,
                loc: call.loc,
            });
            self.fresh(&call.results, map);
            return;
        }
        self.stack.push(callee);
        let operands = translate(&call.operands, map);
        if matches!(callee.hook, Hook::Round | Hook::Evaluate) {
            self.sent.start(&operands);
        }
        let mut inner: Values = callee.body.args.iter().copied().zip(operands).collect();
        let frame = Frame {
            layer: callee.layer,
            received: frame.received,
        };
        let Region { ops, yields, .. } = self.body(&callee.body, Vec::new(), &mut inner, &frame);
        out.extend(ops);
        map.extend(call.results.iter().copied().zip(yields));
        self.stack.pop();
    }

    fn layer_name(&self, layer: usize) -> String {
        self.source
            .layers
            .get(layer)
            .map_or_else(|| "the algorithm".to_owned(), |layer| layer.name.clone())
    }
}

/// Values without a copy are undefined, which the verifier found before.
pub(super) fn translate(values: &[Value], map: &Values) -> Vec<Value> {
    values
        .iter()
        .map(|value| map.get(value).copied().unwrap_or(*value))
        .collect()
}

#[cfg(test)]
#[path = "link_hooks_tests.rs"]
mod tests;
