//! The subset of Rust that a body may use, because it can be staged as a graph.

use proc_macro2::TokenStream;
use quote::ToTokens;
use syn::punctuated::Punctuated;
use syn::visit::{self, Visit};
use syn::{
    Arm, BinOp, Block, Expr, ExprBinary, ExprCall, ExprClosure, ExprForLoop, ExprIf, ExprIndex,
    ExprMatch, ExprMethodCall, ExprReference, ExprUnary, Lit, Local, Pat, Stmt, Token, UnOp,
};

use super::lists::{check_index, check_zip};
use super::loops::may_have_turns;
use crate::diagnostics::Diagnostics;
use crate::model::lent_variable;

/// Checks a body; conditions have rules of their own.
pub fn check(block: &Block, diagnostics: &mut Diagnostics) {
    Subset { diagnostics }.visit_block(block);
}

/// Variables, tuples of them and `_`: what a value of the graph can be taken apart into.
pub fn check_pattern(pattern: &Pat, diagnostics: &mut Diagnostics) {
    match pattern {
        Pat::Wild(_) => {}
        Pat::Ident(ident) if ident.by_ref.is_none() && ident.subpat.is_none() => {}
        Pat::Tuple(tuple) => tuple
            .elems
            .iter()
            .for_each(|p| check_pattern(p, diagnostics)),
        Pat::Type(typed) => check_pattern(&typed.pat, diagnostics),
        Pat::Paren(inner) => check_pattern(&inner.pat, diagnostics),
        other => diagnostics.error(
            other,
            "expected a variable, found another pattern",
            "a value of the graph has no parts to match: write `x`, `(x, y)` or `_`",
        ),
    }
}

struct Subset<'d> {
    diagnostics: &'d mut Diagnostics,
}

impl Subset<'_> {
    fn error(&mut self, at: impl ToTokens, expected: &str, found: &str, help: &str) {
        self.diagnostics
            .error(at, format!("expected {expected}, found {found}"), help);
    }

    /// A variable may be lent to a call, which gives it a new value.
    fn arguments(&mut self, args: &Punctuated<Expr, Token![,]>) {
        for arg in args {
            if lent_variable(arg).is_none() {
                self.visit_expr(arg);
            }
        }
    }
}

impl<'a> Visit<'a> for Subset<'_> {
    fn visit_expr(&mut self, node: &'a Expr) {
        if let Some((at, expected, found, help)) = forbidden(node) {
            self.error(at, expected, found, help);
        }
        visit::visit_expr(self, node);
    }

    fn visit_stmt(&mut self, node: &'a Stmt) {
        match node {
            Stmt::Item(item) => self.error(
                item,
                "a statement",
                "an item",
                "declare it outside of the impl",
            ),
            Stmt::Macro(call) => self.error(&call.mac.path, CALL, "a macro call", MACRO_HELP),
            _ => visit::visit_stmt(self, node),
        }
    }

    fn visit_local(&mut self, node: &'a Local) {
        check_pattern(&node.pat, self.diagnostics);
        match &node.init {
            None => self.error(
                &node.pat,
                "a value after the variable",
                "none",
                "every variable has a value from the start: `let g = ..;`",
            ),
            Some(init) => {
                if let Some((token, _)) = &init.diverge {
                    self.error(token, "`;`", "`else`", "a pattern in a body always matches");
                }
                self.visit_expr(&init.expr);
            }
        }
    }

    fn visit_expr_if(&mut self, node: &'a ExprIf) {
        self.visit_block(&node.then_branch);
        if let Some((_, other)) = &node.else_branch {
            self.visit_expr(other);
        }
    }

    fn visit_expr_match(&mut self, node: &'a ExprMatch) {
        node.arms.iter().for_each(|arm| self.visit_arm(arm));
    }

    fn visit_arm(&mut self, node: &'a Arm) {
        self.visit_expr(&node.body);
    }

    /// The range of a loop is the one place for a range.
    fn visit_expr_for_loop(&mut self, node: &'a ExprForLoop) {
        check_pattern(&node.pat, self.diagnostics);
        match &*node.expr {
            Expr::Range(range) => visit::visit_expr_range(self, range),
            other if may_have_turns(other) => self.visit_expr(other),
            // The rules on loops report it, once.
            _ => {}
        }
        self.visit_block(&node.body);
    }

    fn visit_expr_closure(&mut self, node: &'a ExprClosure) {
        if let Some(token) = &node.asyncness {
            self.error(token, "a plain closure", "`async`", ASYNC_HELP);
        }
        for input in &node.inputs {
            check_pattern(input, self.diagnostics);
        }
        self.visit_expr(&node.body);
    }

    fn visit_expr_call(&mut self, node: &'a ExprCall) {
        self.visit_expr(&node.func);
        self.arguments(&node.args);
    }

    fn visit_expr_method_call(&mut self, node: &'a ExprMethodCall) {
        check_zip(node, self.diagnostics);
        self.visit_expr(&node.receiver);
        self.arguments(&node.args);
    }

    fn visit_expr_reference(&mut self, node: &'a ExprReference) {
        if let Some(token) = &node.mutability {
            let help = "a value of the graph never changes; give the variable a new one: `w = ..`, \
                or lend it to a call that does: `opt.step(&mut w, g)`";
            self.error(token, "`&`", "`&mut`", help);
        }
        self.visit_expr(&node.expr);
    }

    fn visit_expr_index(&mut self, node: &'a ExprIndex) {
        check_index(node, self.diagnostics);
        visit::visit_expr_index(self, node);
    }

    fn visit_expr_unary(&mut self, node: &'a ExprUnary) {
        match node.op {
            UnOp::Deref(token) => {
                let help = "a handle is cheap to copy: write `w` or `w.clone()`";
                self.error(token, "a variable", "`*`", help);
            }
            UnOp::Not(token) => self.error(token, "arithmetic", "`!`", CONDITION_HELP),
            _ => {}
        }
        self.visit_expr(&node.expr);
    }

    fn visit_expr_binary(&mut self, node: &'a ExprBinary) {
        if !is_arithmetic(&node.op) {
            let found = format!("`{}`", node.op.to_token_stream());
            let expected = "one of `+`, `-`, `*`, `/`";
            let help = if is_logic(&node.op) {
                CONDITION_HELP
            } else {
                ARITHMETIC_HELP
            };
            self.error(node.op, expected, &found, help);
        }
        visit::visit_expr_binary(self, node);
    }
}

fn is_name(expr: &Expr) -> bool {
    matches!(expr, Expr::Lit(literal) if matches!(literal.lit, Lit::Str(_)))
}

fn is_arithmetic(op: &BinOp) -> bool {
    use BinOp::{Add, AddAssign, Div, DivAssign, Mul, MulAssign, Sub, SubAssign};
    matches!(
        op,
        Add(_)
            | Sub(_)
            | Mul(_)
            | Div(_)
            | AddAssign(_)
            | SubAssign(_)
            | MulAssign(_)
            | DivAssign(_)
    )
}

fn is_logic(op: &BinOp) -> bool {
    use BinOp::{And, Eq, Ge, Gt, Le, Lt, Ne, Or};
    matches!(
        op,
        And(_) | Or(_) | Eq(_) | Ne(_) | Lt(_) | Le(_) | Gt(_) | Ge(_)
    )
}

const CALL: &str = "a function call";
const MACRO_HELP: &str = "a body runs once, when the graph is built; call functions and methods";
const ASYNC_HELP: &str = "a body runs once, when the graph is built, and waits for nothing";
const LOOP_HELP: &str = "a loop has a number of turns that is known beforehand: \
    `for b in k.batches(..)` or `for _ in 0..n`";
const BREAK_HELP: &str = "a loop of the graph always makes all of its turns";
const CONDITION_HELP: &str = "comparisons and logic are for the condition of an `if`, \
    on hyper-parameters: `if self.mu > 0.0 { .. }`";
const ARITHMETIC_HELP: &str = "values of the graph have the four operations and methods";
const DATA_HELP: &str = "a body holds values of the graph, in variables and tuples";

type Fault = (TokenStream, &'static str, &'static str, &'static str);

/// The token, what was expected, what was found and what to do, for expressions that have no
/// counterpart in the graph.
fn forbidden(expr: &Expr) -> Option<Fault> {
    fn at(token: impl ToTokens) -> TokenStream {
        token.to_token_stream()
    }
    Some(match expr {
        Expr::While(e) => (at(e.while_token), "`for`", "`while`", LOOP_HELP),
        Expr::Loop(e) => (at(e.loop_token), "`for`", "`loop`", LOOP_HELP),
        Expr::Break(e) => (at(e.break_token), "no `break`", "one", BREAK_HELP),
        Expr::Continue(e) => (at(e.continue_token), "no `continue`", "one", BREAK_HELP),
        Expr::Return(e) => {
            let help = "a body runs to its end: make the value its last expression, without `;`";
            (at(e.return_token), "no `return`", "one", help)
        }
        Expr::Try(e) => {
            let help = "staging a value cannot fail; the graph is verified as a whole";
            (at(e.question_token), "a value", "`?`", help)
        }
        Expr::Let(e) => {
            let help = "match on a hyper-parameter: `match self.epochs { 1 => .., _ => .. }`";
            (at(e.let_token), "a condition", "`let`", help)
        }
        Expr::Unsafe(e) => (at(e.unsafe_token), "safe code", "`unsafe`", DATA_HELP),
        Expr::Async(e) => (at(e.async_token), "a value", "`async`", ASYNC_HELP),
        Expr::Await(e) => (at(e.await_token), "a value", "`await`", ASYNC_HELP),
        Expr::Yield(e) => (at(e.yield_token), "a value", "`yield`", ASYNC_HELP),
        Expr::Macro(e) => (at(&e.mac.path), CALL, "a macro call", MACRO_HELP),
        Expr::Block(e) if e.label.is_some() => (at(&e.label), "a block", "a label", BREAK_HELP),
        Expr::Const(e) => (at(e.const_token), "a value", "a `const` block", DATA_HELP),
        // Names, such as those of a model's parts: `&["head"]`.
        Expr::Array(e) if e.elems.iter().all(is_name) => return None,
        Expr::Array(e) => (at(e), "a value", "an array", DATA_HELP),
        Expr::Repeat(e) => (at(e), "a value", "an array", DATA_HELP),
        Expr::Struct(e) => (at(&e.path), "a value", "a struct", DATA_HELP),
        Expr::RawAddr(e) => (at(e), "a value", "a raw pointer", DATA_HELP),
        Expr::Range(e) => {
            let help = "ranges are for loops: `for _ in 0..n`; a list has `list(n, |j| ..)`";
            (at(e), "a value", "a range", help)
        }
        Expr::Cast(e) => {
            let help = "write numbers with the type they are to have: `1.0`, not `1 as f32`; \
                a count is a number where one is expected: `w / self.epochs`; \
                the steps of a loop are counted in it: `steps += 1.0`";
            (at(e.as_token), "a value", "`as`", help)
        }
        _ => return None,
    })
}
