//! Passes by name.

use fedround_ir::fed::{Module, print_exact, verify, verify_linked};
use fedround_ir::tensor::{DType, Graph};
use fedround_ir::text::TENSOR_VERSION;
use fedround_names::nearest;

use super::{Ir, PassError};
use crate::tensor::ConvAlgorithm;
use crate::{fed, tensor};

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
    run: fn(&mut P, usize) -> Result<bool, PassError>,
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

impl Program for Module {
    const DIALECT: &'static str = "fed";

    fn passes() -> &'static [Pass<Self>] {
        &FED
    }

    fn check(&self, when: String) -> Result<(), PassError> {
        verify(self).map_err(|errors| PassError::Verify { when, errors })
    }

    fn ir<'a>(&'a self, _: &'a str) -> Ir<'a> {
        Ir::Fed(self)
    }
}

impl Program for Graph {
    const DIALECT: &'static str = "tensor";

    fn passes() -> &'static [Pass<Self>] {
        &TENSOR
    }

    fn check(&self, when: String) -> Result<(), PassError> {
        self.verify().map_err(|source| PassError::Graph {
            when,
            source: Box::new(source),
        })
    }

    fn ir<'a>(&'a self, name: &'a str) -> Ir<'a> {
        Ir::Tensor(name, self)
    }
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

const FED: [Pass<Module>; 6] = [
    Pass {
        name: "link-hooks",
        about: "bind hooks to their definitions and inline them into one round",
        number: None,
        run: |module, _| {
            *module = fed::link_hooks(module)?;
            let when = "after link-hooks".to_owned();
            verify_linked(module).map_err(|errors| PassError::Verify { when, errors })?;
            Ok(true)
        },
    },
    Pass {
        name: "canonicalize",
        about: "drop terms that a factor of 0 or 1 makes trivial, order operands",
        number: None,
        run: |module, _| Ok(fed::canonicalize(module)),
    },
    Pass {
        name: "cse",
        about: "compute once what a region computes twice",
        number: None,
        run: |module, _| Ok(fed::cse(module)),
    },
    Pass {
        name: "dce",
        about: "drop ops, loop values and hyper-parameters that nothing reads",
        number: None,
        run: |module, _| Ok(fed::dce(module)),
    },
    Pass {
        name: "licm",
        about: "move work on parameters that a loop does not change out of it",
        number: None,
        run: |module, _| Ok(fed::licm(module)),
    },
    Pass {
        name: "fuse-maps",
        about: "make a map over what another map gave part of it",
        number: None,
        run: |module, _| Ok(fed::fuse_maps(module)),
    },
];

const TENSOR: [Pass<Graph>; 13] = [
    Pass {
        name: "pool-first",
        about: "max pools before the rectifications that only they read",
        number: None,
        run: |graph, _| tensor::replace(graph, "pool-first", tensor::pool_first),
    },
    Pass {
        name: "fold",
        about: "propagate constants, apply algebraic identities",
        number: None,
        run: |graph, _| tensor::replace(graph, "fold", tensor::fold::fold),
    },
    Pass {
        name: "cse",
        about: "compute equal nodes once",
        number: None,
        run: |graph, _| tensor::replace(graph, "cse", tensor::cse::cse),
    },
    Pass {
        name: "dce",
        about: "drop nodes that no output needs",
        number: None,
        run: |graph, _| tensor::replace(graph, "dce", |graph| Ok(tensor::dce::dce(graph))),
    },
    Pass {
        name: "batch-clients",
        about: "make the graph of K clients of one client's; inputs of one element are shared",
        number: Some("number of clients K"),
        run: |graph, clients| {
            let types = graph.inputs.iter().map(|(_, v)| graph.type_of(*v).len());
            let each: Vec<bool> = types.map(|len| len > 1).collect();
            tensor::replace(graph, "batch-clients", |graph| {
                Ok(tensor::batch(graph, clients, &each)?.graph)
            })
        },
    },
    Pass {
        name: "sink-views",
        about: "move reshapes and transposes below elementwise ops, to meet and cancel",
        number: None,
        run: |graph, _| tensor::replace(graph, "sink-views", tensor::sink_views),
    },
    Pass {
        name: "unfold-convolutions",
        about: "make matrix products of convolutions, by their windows as columns",
        number: None,
        run: |graph, _| formed(graph, ConvAlgorithm::Unfold),
    },
    Pass {
        name: "split-convolutions",
        about: "make one convolution for each group of a grouped one",
        number: None,
        run: |graph, _| formed(graph, ConvAlgorithm::Split),
    },
    Pass {
        name: "parametrize-constants",
        about: "make inputs of constants and random draws",
        number: None,
        run: |graph, _| {
            tensor::replace(graph, "parametrize-constants", |graph| {
                Ok(tensor::parametrize_constants(graph)?.0)
            })
        },
    },
    Pass {
        name: "mixed-bf16",
        about: "round the operands of products to bf16",
        number: None,
        run: |graph, _| mixed(graph, "mixed-bf16", DType::BF16),
    },
    Pass {
        name: "mixed-f16",
        about: "round the operands of products to f16",
        number: None,
        run: |graph, _| mixed(graph, "mixed-f16", DType::F16),
    },
    Pass {
        name: "fuse",
        about: "one op for each parameter update and dot product",
        number: None,
        run: |graph, _| tensor::replace(graph, "fuse", tensor::fuse),
    },
    Pass {
        name: "fuse-elementwise",
        about: "one op for each chain of elementwise ops",
        number: None,
        run: |graph, _| tensor::replace(graph, "fuse-elementwise", tensor::fuse_elementwise),
    },
];

fn formed(graph: &mut Graph, to: ConvAlgorithm) -> Result<bool, PassError> {
    tensor::replace(graph, to.name(), |graph| {
        tensor::convolutions(graph, |_, _| to)
    })
}

fn mixed(graph: &mut Graph, name: &str, to: DType) -> Result<bool, PassError> {
    tensor::replace(graph, name, |graph| tensor::mixed_precision(graph, to))
}

/// A pass with its number, as a user asks for it.
#[derive(Clone, Copy, Debug)]
pub struct Request<P: 'static> {
    /// The pass.
    pub pass: &'static Pass<P>,
    number: usize,
}

impl<P: Program> Request<P> {
    /// A pass by name, with its number if it has one: `cse`, `batch-clients=8`.
    ///
    /// # Errors
    ///
    /// The pass is unknown, or its number is missing, not a number, or too many.
    pub fn named(text: &str) -> Result<Self, RequestError> {
        let (name, number) = match text.split_once('=') {
            Some((name, number)) => (name, Some(number)),
            None => (text, None),
        };
        let known = P::passes().iter().find(|pass| pass.name == name);
        let Some(pass) = known else {
            let names: Vec<&'static str> = P::passes().iter().map(|pass| pass.name).collect();
            return Err(RequestError::unknown(name, P::DIALECT, names));
        };
        let parsed = number.and_then(|n| n.parse().ok()).filter(|n| *n > 0);
        match (pass.number, number, parsed) {
            (None, None, _) => Ok(Self { pass, number: 0 }),
            (Some(_), _, Some(number)) => Ok(Self { pass, number }),
            (expected, found, _) => Err(RequestError::Number {
                pass: pass.name,
                expected: match expected {
                    Some(what) => format!("`{}=N` with the {what}", pass.name),
                    None => "no number".to_owned(),
                },
                found: found.map_or_else(|| "none".to_owned(), |n| format!("`{n}`")),
            }),
        }
    }

    /// Several passes, with commas between them.
    ///
    /// # Errors
    ///
    /// As [`Request::named`], for the first that is wrong.
    pub fn list(text: &str) -> Result<Vec<Self>, RequestError> {
        let names = text.split(',').map(str::trim);
        names
            .filter(|name| !name.is_empty())
            .map(Self::named)
            .collect()
    }

    pub(super) fn run(&self, program: &mut P) -> Result<bool, PassError> {
        (self.pass.run)(program, self.number)
    }
}

/// A pass that cannot be run as it was asked for.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RequestError {
    /// No pass has this name.
    #[error(
        "unknown {dialect} pass `{name}`{}; the passes are {known}",
        .nearest.map(|n| format!(" (did you mean `{n}`?)")).unwrap_or_default()
    )]
    Unknown {
        /// The name.
        name: String,
        /// The dialect, if one was meant.
        dialect: &'static str,
        /// The closest known name.
        nearest: Option<&'static str>,
        /// All known names.
        known: String,
    },
    /// A number is missing or too many.
    #[error("pass `{pass}`: expected {expected}, found {found}")]
    Number {
        /// The pass.
        pass: &'static str,
        /// What it takes.
        expected: String,
        /// What it got.
        found: String,
    },
}

impl RequestError {
    pub(super) fn unknown(name: &str, dialect: &'static str, known: Vec<&'static str>) -> Self {
        Self::Unknown {
            name: name.to_owned(),
            dialect,
            nearest: nearest(name, known.iter().copied()),
            known: known.join(", "),
        }
    }
}
