//! Staging: runs the body of each hook once.

use fedround_ir::Loc;
use fedround_ir::fed::{Hook, Value};

use crate::Hyper;
use crate::graph::Graph;

/// Collects the hook definitions of an algorithm's layers, innermost layer first.
///
/// It has a method for each hook, of the hook's name, which takes the hook's body as a closure.
#[derive(Debug)]
pub struct Definer {
    graph: Graph,
}

impl Definer {
    pub(crate) fn new(graph: Graph) -> Self {
        Self { graph }
    }

    /// Begins a layer: the hooks and hyper-parameters that follow are its own.
    pub fn layer(&mut self, hyper: &dyn Hyper) {
        self.graph.with(|builder| builder.layer(hyper.name()));
        self.graph.next_layer();
    }

    /// Stages the body of a hook. The body takes the hook's arguments and returns its result.
    pub(crate) fn hook(
        &self,
        hook: Hook,
        loc: Loc,
        body: impl FnOnce(&Graph, &mut std::vec::IntoIter<Value>) -> Option<Value>,
    ) {
        let args = self.graph.with(|builder| builder.begin(hook));
        let result = body(&self.graph, &mut args.into_iter());
        let yields = result.into_iter().collect();
        self.graph.with(|builder| builder.end(hook, yields, loc));
    }
}
