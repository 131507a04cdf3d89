//! Passes, and the programs that they run on.

use fedround_ir::fed::{Module, print_exact};
use fedround_ir::tensor::Graph;
use fedround_ir::text::TENSOR_VERSION;

use crate::error::PassError;

/// A pass on programs of one dialect.
#[derive(Debug)]
pub struct Pass<P: 'static> {
    /// Its name, such as `link-hooks`.
    pub name: &'static str,
    /// A line that says what it does.
    pub about: &'static str,
    /// The meaning of its number, as in `batch-clients=8`; `None` for a pass without a number.
    pub number: Option<&'static str>,
    /// Runs the pass. Returns whether anything changed.
    pub run: fn(&mut P, usize) -> Result<bool, PassError>,
}

impl<P> Pass<P> {
    /// A pass without a number.
    pub(crate) const fn new(
        name: &'static str,
        about: &'static str,
        run: fn(&mut P, usize) -> Result<bool, PassError>,
    ) -> Self {
        Self {
            name,
            about,
            number: None,
            run,
        }
    }
}

/// A program that passes run on.
pub trait PassTarget: Clone + Sized + 'static {
    /// Name of the dialect.
    const DIALECT: &'static str;

    /// The dialect's passes, in the order of their first run.
    fn passes() -> &'static [Pass<Self>];

    /// Checks the rules of the dialect. The error repeats `when`.
    ///
    /// # Errors
    ///
    /// The broken rules.
    fn check(&self, when: String) -> Result<(), PassError>;

    /// The program with a name, for an observer.
    fn ir<'a>(&'a self, name: &'a str) -> Ir<'a>;
}

/// A program of either dialect, as an observer sees it.
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
