//! The passes over the tensor dialect by name, in the order of their first run.

use fedround_ir::tensor::{DType, Graph, GraphError, equal};

use super::transform::{self, ConvAlgorithm};
use crate::error::PassError;
use crate::manager::{Ir, Pass, PassTarget};

impl PassTarget for Graph {
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

/// A pass that makes a new graph of a graph.
macro_rules! rebuilds {
    ($name:literal, $about:literal, $work:expr) => {
        Pass::new($name, $about, |graph, _| replace(graph, $name, $work))
    };
}

const TENSOR: [Pass<Graph>; 27] = [
    rebuilds!(
        "pool-first",
        "max pools before the rectifications that only they read",
        transform::pool_first
    ),
    rebuilds!(
        "fold",
        "propagate constants, apply algebraic identities",
        transform::fold
    ),
    rebuilds!("cse", "compute equal nodes once", transform::cse),
    rebuilds!("dce", "drop nodes that no output needs", |graph| Ok(
        transform::dce(graph)
    )),
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
    rebuilds!(
        "sink-views",
        "move reshapes and transposes below elementwise ops, to meet and cancel",
        transform::sink_views
    ),
    rebuilds!(
        "unfold-convolutions",
        "make matrix products of convolutions, by their windows as columns",
        |graph| transform::convolutions(graph, |_, _| ConvAlgorithm::Unfold)
    ),
    rebuilds!(
        "split-convolutions",
        "make one convolution for each group of a grouped one",
        |graph| transform::convolutions(graph, |_, _| ConvAlgorithm::Split)
    ),
    rebuilds!(
        "one-hot",
        "compare with the labels instead of a gather and a scatter of one entry a row",
        transform::one_hot
    ),
    rebuilds!(
        "parametrize-constants",
        "make inputs of constants and random draws",
        |graph| Ok(transform::parametrize_constants(graph)?.0)
    ),
    rebuilds!(
        "mixed-bf16",
        "round the operands of products to bf16",
        |graph| transform::mixed_precision(graph, DType::BF16)
    ),
    rebuilds!(
        "mixed-f16",
        "round the operands of products to f16",
        |graph| transform::mixed_precision(graph, DType::F16)
    ),
    rebuilds!(
        "lift-expands",
        "compute on what is repeated before it is repeated",
        transform::lift_expands
    ),
    rebuilds!(
        "join-products",
        "one matrix product for all products that are added up",
        transform::join_products
    ),
    rebuilds!(
        "fuse",
        "one op for each parameter update and dot product",
        transform::fuse
    ),
    rebuilds!(
        "fuse-elementwise",
        "one op for each chain of elementwise ops",
        transform::fuse_elementwise
    ),
    rebuilds!(
        "plane-sums",
        "sums of each channel are results of the op that makes their terms",
        transform::plane_sums
    ),
    rebuilds!(
        "early-updates",
        "update each parameter as soon as its gradient is there",
        |graph| Ok(transform::early_updates(graph))
    ),
    rebuilds!(
        "rematerialize",
        "compute cheap activations again for the backward pass instead of keeping them",
        transform::rematerialize
    ),
    rebuilds!(
        "scale-first",
        "factors of sums and means become factors of their terms",
        transform::scale_first
    ),
    rebuilds!(
        "join-sums",
        "one sum for all sums that are added up",
        transform::join_sums
    ),
    rebuilds!(
        "channel-rows",
        "compute what is computed of images channel by channel on rows of channels",
        transform::channel_rows
    ),
    rebuilds!(
        "known-sums",
        "compute sums from others that they follow from",
        transform::known_sums
    ),
    rebuilds!(
        "channel-sums",
        "one sum for the gradient of a convolution's bias",
        transform::channel_sums
    ),
    rebuilds!(
        "sink-reshapes",
        "update parameters in the shape in which their gradients are made",
        transform::sink_reshapes
    ),
    rebuilds!(
        "recompute",
        "give each reader its own copy of elementwise functions of inputs",
        transform::recompute
    ),
    rebuilds!(
        "fusion-order",
        "put ops next to each other that a GPU's backend fuses",
        transform::fusion_order
    ),
];

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
