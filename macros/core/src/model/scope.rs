//! Resolves the name of a variable to its declaration.

use syn::Pat;
use syn::visit::Visit;

/// What a frame of names belongs to.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Frame {
    /// A function, a block or an arm of a `match`.
    Block,
    /// A closure's parameters and body.
    Closure,
    /// The pattern and body of the loop of this number.
    Loop(usize),
}

/// The names in scope, innermost last.
#[derive(Default)]
pub struct Scopes {
    frames: Vec<(Frame, Vec<String>)>,
}

/// The scopes between the use of a name and its declaration.
#[derive(Debug, PartialEq, Eq)]
pub struct ScopePath {
    /// Loops that the use is in and the declaration is not, innermost first.
    pub loops: Vec<usize>,
    /// Whether a closure lies between.
    pub captured: bool,
}

impl Scopes {
    /// Opens a frame that declares `names`.
    pub fn push(&mut self, frame: Frame, names: Vec<String>) {
        self.frames.push((frame, names));
    }

    /// Closes the innermost frame.
    pub fn pop(&mut self) {
        self.frames.pop();
    }

    /// Declares the names of a `let` in the innermost frame.
    pub fn declare(&mut self, names: Vec<String>) {
        if let Some((_, frame)) = self.frames.last_mut() {
            frame.extend(names);
        }
    }

    /// The way to the declaration of `name`, if there is one.
    pub fn find(&self, name: &str) -> Option<ScopePath> {
        let mut found = ScopePath {
            loops: Vec::new(),
            captured: false,
        };
        for (frame, names) in self.frames.iter().rev() {
            if names.iter().any(|declared| declared == name) {
                return Some(found);
            }
            match frame {
                Frame::Block => {}
                Frame::Closure => found.captured = true,
                Frame::Loop(index) => found.loops.push(*index),
            }
        }
        None
    }
}

/// The variables that a pattern declares.
pub fn bound_names(pattern: &Pat) -> Vec<String> {
    struct Names(Vec<String>);
    impl<'a> Visit<'a> for Names {
        fn visit_pat_ident(&mut self, node: &'a syn::PatIdent) {
            self.0.push(node.ident.to_string());
            syn::visit::visit_pat_ident(self, node);
        }
    }
    let mut names = Names(Vec::new());
    names.visit_pat(pattern);
    names.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_innermost_declaration_counts() {
        let mut scopes = Scopes::default();
        scopes.push(Frame::Block, vec!["w".into()]);
        scopes.push(Frame::Loop(0), vec!["b".into()]);
        scopes.push(Frame::Loop(1), vec![]);
        let loops = |found: Option<ScopePath>| found.map(|f| f.loops);
        assert_eq!(loops(scopes.find("w")), Some(vec![1, 0]));
        assert_eq!(loops(scopes.find("b")), Some(vec![1]));
        scopes.declare(vec!["w".into()]);
        assert_eq!(loops(scopes.find("w")), Some(vec![]));
        assert_eq!(scopes.find("v"), None);
    }

    #[test]
    fn closures_capture() {
        let mut scopes = Scopes::default();
        scopes.push(Frame::Block, vec!["w".into()]);
        scopes.push(Frame::Closure, vec!["k".into()]);
        assert!(scopes.find("w").is_some_and(|f| f.captured));
        assert!(scopes.find("k").is_some_and(|f| !f.captured));
    }
}
