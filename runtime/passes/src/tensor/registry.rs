//! The passes over the tensor dialect by name, in the order of their first run.

use fedround_ir::tensor::{DType, Graph, GraphError, equal};

use super::transform::{self, ConvAlgorithm};
use crate::error::PassError;
use crate::manager::{Ir, Pass, Program};

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

const TENSOR: [Pass<Graph>; 13] = [
    Pass {
        name: "pool-first",
        about: "max pools before the rectifications that only they read",
        number: None,
        run: |graph, _| replace(graph, "pool-first", transform::pool_first),
    },
    Pass {
        name: "fold",
        about: "propagate constants, apply algebraic identities",
        number: None,
        run: |graph, _| replace(graph, "fold", transform::fold),
    },
    Pass {
        name: "cse",
        about: "compute equal nodes once",
        number: None,
        run: |graph, _| replace(graph, "cse", transform::cse),
    },
    Pass {
        name: "dce",
        about: "drop nodes that no output needs",
        number: None,
        run: |graph, _| replace(graph, "dce", |graph| Ok(transform::dce(graph))),
    },
    Pass {
        name: "batch-clients",
        about: "make the graph of K clients of one client's; inputs of one element are shared",
        number: Some("number of clients K"),
        run: |graph, clients| {
            let types = graph.inputs.iter().map(|(_, v)| graph.type_of(*v).len());
            let each: Vec<bool> = types.map(|len| len > 1).collect();
            replace(graph, "batch-clients", |graph| {
                Ok(transform::batch(graph, clients, &each)?.graph)
            })
        },
    },
    Pass {
        name: "sink-views",
        about: "move reshapes and transposes below elementwise ops, to meet and cancel",
        number: None,
        run: |graph, _| replace(graph, "sink-views", transform::sink_views),
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
            replace(graph, "parametrize-constants", |graph| {
                Ok(transform::parametrize_constants(graph)?.0)
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
        run: |graph, _| replace(graph, "fuse", transform::fuse),
    },
    Pass {
        name: "fuse-elementwise",
        about: "one op for each chain of elementwise ops",
        number: None,
        run: |graph, _| replace(graph, "fuse-elementwise", transform::fuse_elementwise),
    },
];

fn formed(graph: &mut Graph, to: ConvAlgorithm) -> Result<bool, PassError> {
    replace(graph, to.name(), |graph| {
        transform::convolutions(graph, |_, _| to)
    })
}

fn mixed(graph: &mut Graph, name: &str, to: DType) -> Result<bool, PassError> {
    replace(graph, name, |graph| transform::mixed_precision(graph, to))
}

/// Puts what a pass gives in the place of a graph; gives whether it is another one.
pub(super) fn replace(
    graph: &mut Graph,
    pass: &str,
    work: impl FnOnce(&Graph) -> Result<Graph, GraphError>,
) -> Result<bool, PassError> {
    let new = work(graph).map_err(|source| PassError::Graph {
        when: format!("in {pass}"),
        source: Box::new(source),
    })?;
    let old = std::mem::replace(graph, new);
    Ok(!equal(&old, graph))
}
