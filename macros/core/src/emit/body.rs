//! Rewrites the body of a hook: uses of hooks become calls, fields become hyper-parameters, and loops become
//! regions.

use quote::{ToTokens, quote_spanned};
use syn::ext::IdentExt;
use syn::visit_mut::{self, VisitMut};
use syn::{Block, Expr, ExprIf, ExprMatch, ExprMethodCall, Ident, LitStr, Stmt, Token};

use super::loops;
use crate::model::{Body, Loop, SelfUse, Spec, classify};

/// Rewrites a block in place. `body` is its model, with the loops in the order in which this walk
/// meets them.
pub fn rewrite(block: &mut Block, body: &Body<'_>, spec: &Spec<'_>) {
    let loops = body.loops.iter();
    Rewrite { spec, loops }.visit_block_mut(block);
}

struct Rewrite<'a> {
    spec: &'a Spec<'a>,
    loops: std::slice::Iter<'a, Loop<'a>>,
}

/// What becomes of an expression.
enum Action {
    /// A call of a function of this module: `call` for `self`, `base` for the base.
    Call(&'static str),
    /// A hyper-parameter of this name.
    Hyper(Ident),
    /// It stays; its parts are looked at.
    Inside,
}

impl VisitMut for Rewrite<'_> {
    /// What a loop becomes is an assignment, which needs a `;` where a loop does not.
    fn visit_block_mut(&mut self, node: &mut Block) {
        for stmt in &mut node.stmts {
            if let Stmt::Expr(Expr::ForLoop(one), semi) = stmt {
                semi.get_or_insert(Token![;](one.for_token.span));
            }
            self.visit_stmt_mut(stmt);
        }
    }

    /// The condition stays as it is: it is decided while the graph is built.
    fn visit_expr_if_mut(&mut self, node: &mut ExprIf) {
        self.visit_block_mut(&mut node.then_branch);
        if let Some((_, other)) = &mut node.else_branch {
            self.visit_expr_mut(other);
        }
    }

    /// Like `if`: the value and the guards stay as they are.
    fn visit_expr_match_mut(&mut self, node: &mut ExprMatch) {
        for arm in &mut node.arms {
            self.visit_expr_mut(&mut arm.body);
        }
    }

    fn visit_expr_mut(&mut self, node: &mut Expr) {
        let action = match classify(node, self.spec.base) {
            Some(SelfUse::Hook(_)) => Action::Call("call"),
            Some(SelfUse::Base(_)) => Action::Call("base"),
            Some(SelfUse::Hyper(name)) => Action::Hyper(name.clone()),
            _ => Action::Inside,
        };
        match (action, &mut *node) {
            (Action::Call(module), Expr::MethodCall(call)) => {
                *node = self.call(module, call);
            }
            (Action::Hyper(name), _) => *node = self.hyper(&name, node),
            (_, Expr::ForLoop(one)) => {
                let model = self.loops.next();
                match &mut *one.expr {
                    Expr::Range(range) => visit_mut::visit_expr_range_mut(self, range),
                    other => self.visit_expr_mut(other),
                }
                self.visit_block_mut(&mut one.body);
                *node = loops::for_each(one, model, &self.spec.names);
            }
            _ => visit_mut::visit_expr_mut(self, node),
        }
    }
}

impl Rewrite<'_> {
    /// `self.hook(args)` to `call::hook(args)`, all at the hook's name.
    fn call(&mut self, module: &str, call: &mut ExprMethodCall) -> Expr {
        for arg in &mut call.args {
            self.visit_expr_mut(arg);
        }
        let hook = &call.method;
        let module = Ident::new(module, hook.span());
        let private = self.spec.names.private(hook.span());
        let turbofish = &call.turbofish;
        let mut tokens = quote_spanned!(hook.span()=> #private::#module::#hook #turbofish);
        let args = &call.args;
        call.paren_token
            .surround(&mut tokens, |inner| args.to_tokens(inner));
        Expr::Verbatim(tokens)
    }

    /// `self.mu` to `hyper("mu", &self.mu)`, all at the field's name.
    fn hyper(&self, name: &Ident, field: &Expr) -> Expr {
        let span = name.span();
        let private = self.spec.names.private(span);
        let text = LitStr::new(&name.unraw().to_string(), span);
        Expr::Verbatim(quote_spanned!(span=> #private::hyper(#text, &#field)))
    }
}
