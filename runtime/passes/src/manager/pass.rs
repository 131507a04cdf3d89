//! What a pass is, and what it runs on.

use fedround_ir::fed::{Module, print_exact};
use fedround_ir::tensor::Graph;
use fedround_ir::text::TENSOR_VERSION;

use crate::error::PassError;

/// A pass on programs of one dialect.
#[derive(Debug)]
pub struct Pass<P: 'static> {
    /// Its name, such as `link-hooks`.
    pub name: &'static str,
    /// What it does, in a line.
    pub about: &'static str,
    /// What its number means, as in `batch-clients=8`; nothing for a pass without one.
    pub number: Option<&'static str>,
    /// Does it and gives whether anything changed.
    pub run: fn(&mut P, usize) -> Result<bool, PassError>,
}

/// A program that passes run on.
pub trait Program: Clone + Sized + 'static {
    /// Name of the dialect.
    const DIALECT: &'static str;

    /// The dialect's passes, in the order of their first run.
    fn passes() -> &'static [Pass<Self>];

    /// Checks the rules of the dialect; `when` is said in the error.
    ///
    /// # Errors
    ///
    /// The broken rules.
    fn check(&self, when: String) -> Result<(), PassError>;

    /// The program under a name, to be shown.
    fn ir<'a>(&'a self, name: &'a str) -> Ir<'a>;
}

/// A program of either dialect, to be shown.
#[derive(Clone, Copy, Debug)]
pub enum Ir<'a> {
    /// A module.
    Fed(&'a Module),
    /// A graph and its name.
    Tensor(&'a str, &'a Graph),
}

impl Ir<'_> {
    /// Its exact text.
    pub fn text(&self) -> String {
        match self {
            Self::Fed(module) => print_exact(module),
            Self::Tensor(name, graph) => {
                let header = format!("// fedround tensor v{TENSOR_VERSION}\n");
                header + &graph.exact_text(name)
            }
        }
    }

    /// Its name.
    pub fn name(&self) -> &str {
        match self {
            Self::Fed(module) => module.name(),
            Self::Tensor(name, _) => name,
        }
    }
}
