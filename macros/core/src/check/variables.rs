//! Rules on assignments to variables.

use syn::Expr;

use crate::diagnostics::{Diagnostics, text};
use crate::model::{Body, Resolution, Target};

pub fn check(body: &Body<'_>, diagnostics: &mut Diagnostics) {
    for target in &body.assigns {
        match target {
            Target::Variable(name, Resolution::Captured) => {
                check_captured(name, diagnostics);
            }
            Target::Variable(name, Resolution::Undeclared) => {
                check_undeclared(name, diagnostics);
            }
            Target::Variable(_, Resolution::Declared) => {}
            Target::Place(place) => check_place(place, diagnostics),
        }
    }
}

/// A closure is code for other hands (each client, each evaluation of a loss), so that what it
/// assigns cannot be seen outside of it.
fn check_captured(name: &syn::Ident, diagnostics: &mut Diagnostics) {
    diagnostics.error(
        name,
        format!("expected a variable of this closure, found `{name}` of the code around it"),
        "a closure's results are its value: return it, and use what `map` or `grad` returns",
    );
}

/// What is assigned was declared: a loop carries it from one turn to the next.
fn check_undeclared(name: &syn::Ident, diagnostics: &mut Diagnostics) {
    diagnostics.error(
        name,
        format!("expected a variable, found the undeclared name `{name}`"),
        format!("declare it before: `let mut {name} = ..;`"),
    );
}

/// Variables are assigned as wholes: the values they hold never change, and neither do
/// hyper-parameters.
fn check_place(place: &Expr, diagnostics: &mut Diagnostics) {
    let text = text(place);
    let help = match text.strip_prefix("self.") {
        Some(field) => format!(
            "hyper-parameters stay as they are during a run; use a variable: \
             `let mut {field} = self.{field};`"
        ),
        None => "assign a whole variable: `w = ..`".to_owned(),
    };
    diagnostics.error(place, format!("expected a variable, found `{text}`"), help);
}
