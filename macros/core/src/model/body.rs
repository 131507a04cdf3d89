//! The loops, assignments, conditions and uses of `self` in the body of a hook.

use syn::visit::{self, Visit};
use syn::{
    Arm, BinOp, Block, Expr, ExprAssign, ExprBinary, ExprCall, ExprClosure, ExprForLoop, ExprIf,
    ExprMatch, ExprMethodCall, Ident, Local, Pat, Stmt,
};

use super::scope::{Frame, Scopes};
use super::{SelfUse, bound_names, classify};

/// A body, with everything in the order in which it was written.
#[derive(Default)]
pub struct Body<'a> {
    /// `for` loops, an outer one before the loops in it.
    pub loops: Vec<Loop<'a>>,
    /// What `=`, `+=` and the like assign; `(a, b) = ..` has two targets. A call with `&mut w` among
    /// its arguments assigns `w`, and a method so called its receiver too.
    pub assigns: Vec<Target<'a>>,
    /// Conditions of `if`, values of `match`, and the guards of its arms.
    pub conditions: Vec<Condition<'a>>,
    /// Uses of `self`.
    pub selfs: Vec<SelfRef<'a>>,
}

/// What decides where code goes on.
pub struct Condition<'a> {
    /// The condition as it was written.
    pub expr: &'a Expr,
    /// Names of parts of a known value, which the pattern before a guard binds.
    pub bound: Vec<String>,
}

/// A `for` loop.
pub struct Loop<'a> {
    /// The loop as it was written.
    pub node: &'a ExprForLoop,
    /// Variables declared outside of it and assigned in it, in the order of their first
    /// assignment, each at that assignment.
    pub carried: Vec<&'a Ident>,
}

/// What is on the left of `=`.
pub enum Target<'a> {
    /// A variable.
    Variable(&'a Ident, Resolution),
    /// Anything else, such as `self.mu`.
    Place(&'a Expr),
}

/// Where an assigned variable was declared.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Resolution {
    /// In this body, in the same closure.
    Declared,
    /// Outside of the closure that the assignment is in.
    Captured,
    /// Nowhere.
    Undeclared,
}

/// A use of `self`, and whether it is in a condition.
pub struct SelfRef<'a> {
    /// The use.
    pub what: SelfUse<'a>,
    /// Whether it is in a condition, where a hyper-parameter is a plain value.
    pub in_condition: bool,
}

/// The model of a method's body whose parameters are `params`.
pub fn block_body<'a>(params: Vec<String>, block: &'a Block, base: Option<&'a Ident>) -> Body<'a> {
    let mut walk = Walk {
        base,
        scopes: Scopes::default(),
        body: Body::default(),
        in_condition: false,
    };
    walk.scopes.push(Frame::Block, params);
    walk.visit_block(block);
    walk.body
}

struct Walk<'a> {
    base: Option<&'a Ident>,
    scopes: Scopes,
    body: Body<'a>,
    in_condition: bool,
}

impl<'a> Walk<'a> {
    fn condition(&mut self, expr: &'a Expr, bound: Vec<String>) {
        self.body.conditions.push(Condition { expr, bound });
        let outer = std::mem::replace(&mut self.in_condition, true);
        self.visit_expr(expr);
        self.in_condition = outer;
    }

    fn framed(&mut self, frame: Frame, names: Vec<String>, inside: impl FnOnce(&mut Self)) {
        self.scopes.push(frame, names);
        inside(self);
        self.scopes.pop();
    }

    fn assign(&mut self, left: &'a Expr) {
        let target = match left {
            Expr::Tuple(tuple) => return tuple.elems.iter().for_each(|e| self.assign(e)),
            Expr::Paren(inner) => return self.assign(&inner.expr),
            // `_ = ..` drops a value and assigns nothing.
            Expr::Infer(_) => return,
            Expr::Path(path) => match path.path.get_ident() {
                Some(name) if name != "self" => Target::Variable(name, self.resolve(name)),
                _ => Target::Place(left),
            },
            _ => Target::Place(left),
        };
        self.body.assigns.push(target);
    }

    /// What the arguments of a call let it change.
    fn lent(&mut self, receiver: Option<&'a Expr>, args: impl Iterator<Item = &'a Expr>) {
        let lent: Vec<&Expr> = args.filter_map(lent_variable).collect();
        if lent.is_empty() {
            return;
        }
        lent.into_iter().for_each(|variable| self.assign(variable));
        if let Some(Expr::Path(path)) = receiver
            && let Some(name) = path.path.get_ident()
            && self.scopes.find(&name.to_string()).is_some()
        {
            let resolution = self.resolve(name);
            self.body.assigns.push(Target::Variable(name, resolution));
        }
    }

    fn resolve(&mut self, name: &'a Ident) -> Resolution {
        let Some(found) = self.scopes.find(&name.to_string()) else {
            return Resolution::Undeclared;
        };
        if found.captured {
            return Resolution::Captured;
        }
        for index in found.loops {
            if let Some(outer) = self.body.loops.get_mut(index)
                && !outer.carried.contains(&name)
            {
                outer.carried.push(name);
            }
        }
        Resolution::Declared
    }
}

impl<'a> Visit<'a> for Walk<'a> {
    fn visit_block(&mut self, node: &'a Block) {
        self.framed(Frame::Block, Vec::new(), |walk| {
            visit::visit_block(walk, node)
        });
    }

    fn visit_stmt(&mut self, node: &'a Stmt) {
        // An item in a body is reported by `check` and has a scope of its own.
        if !matches!(node, Stmt::Item(_)) {
            visit::visit_stmt(self, node);
        }
    }

    /// `let w = w;`: the value is in the scope before the new name is.
    fn visit_local(&mut self, node: &'a Local) {
        if let Some(init) = &node.init {
            self.visit_local_init(init);
        }
        self.scopes.declare(bound_names(&node.pat));
    }

    fn visit_expr_closure(&mut self, node: &'a ExprClosure) {
        let names = node.inputs.iter().flat_map(bound_names).collect();
        self.framed(Frame::Closure, names, |walk| walk.visit_expr(&node.body));
    }

    fn visit_expr_for_loop(&mut self, node: &'a ExprForLoop) {
        let index = self.body.loops.len();
        self.body.loops.push(Loop {
            node,
            carried: Vec::new(),
        });
        self.visit_expr(&node.expr);
        let names = bound_names(&node.pat);
        self.framed(Frame::Loop(index), names, |walk| {
            walk.visit_block(&node.body)
        });
    }

    fn visit_expr_if(&mut self, node: &'a ExprIf) {
        self.condition(&node.cond, Vec::new());
        self.visit_block(&node.then_branch);
        if let Some((_, other)) = &node.else_branch {
            self.visit_expr(other);
        }
    }

    fn visit_expr_match(&mut self, node: &'a ExprMatch) {
        self.condition(&node.expr, Vec::new());
        node.arms.iter().for_each(|arm| self.visit_arm(arm));
    }

    fn visit_arm(&mut self, node: &'a Arm) {
        self.framed(Frame::Block, bound_names(&node.pat), |walk| {
            if let Some((_, guard)) = &node.guard {
                walk.condition(guard, bound_names(&node.pat));
            }
            walk.visit_expr(&node.body);
        });
    }

    fn visit_expr_assign(&mut self, node: &'a ExprAssign) {
        self.visit_expr(&node.right);
        self.assign(&node.left);
    }

    fn visit_expr_binary(&mut self, node: &'a ExprBinary) {
        if is_compound(&node.op) {
            self.visit_expr(&node.right);
            self.assign(&node.left);
        } else {
            visit::visit_expr_binary(self, node);
        }
    }

    fn visit_expr_call(&mut self, node: &'a ExprCall) {
        visit::visit_expr_call(self, node);
        self.lent(None, node.args.iter());
    }

    fn visit_expr_method_call(&mut self, node: &'a ExprMethodCall) {
        visit::visit_expr_method_call(self, node);
        self.lent(Some(&node.receiver), node.args.iter());
    }

    fn visit_expr(&mut self, node: &'a Expr) {
        let Some(what) = classify(node, self.base) else {
            return visit::visit_expr(self, node);
        };
        self.body.selfs.push(SelfRef {
            what,
            in_condition: self.in_condition,
        });
        if let Expr::MethodCall(call) = node {
            call.args.iter().for_each(|arg| self.visit_expr(arg));
        }
    }
}

/// Whether a loop names its turns, `for j in 0..n`: each of them is written out with its number. The turns of
/// `for _ in 0..n` are all the same, and the graph has the loop's body once.
pub fn named_turns(one: &ExprForLoop) -> bool {
    let named = match &*one.pat {
        Pat::Ident(pattern) => !pattern.ident.to_string().starts_with('_'),
        _ => false,
    };
    named && matches!(&*one.expr, Expr::Range(_))
}

/// `w` of the argument `&mut w`.
pub fn lent_variable(argument: &Expr) -> Option<&Expr> {
    match argument {
        Expr::Reference(lent) if lent.mutability.is_some() => match &*lent.expr {
            variable @ Expr::Path(path) if path.path.get_ident().is_some() => Some(variable),
            _ => None,
        },
        _ => None,
    }
}

/// `+=` and the like, which syn has among the binary operators.
fn is_compound(op: &BinOp) -> bool {
    matches!(
        op,
        BinOp::AddAssign(_)
            | BinOp::SubAssign(_)
            | BinOp::MulAssign(_)
            | BinOp::DivAssign(_)
            | BinOp::RemAssign(_)
            | BinOp::BitXorAssign(_)
            | BinOp::BitAndAssign(_)
            | BinOp::BitOrAssign(_)
            | BinOp::ShlAssign(_)
            | BinOp::ShrAssign(_)
    )
}
