//! Parts of a model: shared, replaced, or a client's own.
//!
//! A part is the first segment of the paths of its parameters: `head` of `head.weight` and
//! `head.bias`. A part that the model does not have is an error when the algorithm is compiled.
//! A type of layer, such as `BatchNorm` or `Buffer`, stands for all of that type, wherever they
//! are; a model may have none.

use fedround_ir::Loc;
use fedround_ir::fed::{FedOp, TreeOp};

use crate::graph::Graph;
use crate::tree::Tree;
use crate::wire::Wire;
use crate::{ClientCx, Params, Server};

fn owned(parts: &[&str]) -> Vec<String> {
    parts.iter().map(|part| (*part).to_owned()).collect()
}

/// The state that keeps some parts: the layer's own, so that another layer may keep them too.
fn state(graph: &Graph, parts: &[&str]) -> String {
    graph.qualified(&parts.join("+"))
}

macro_rules! replace_parts {
    ($($ty:ty),*) => {$(
        impl $ty {
            /// These parameters, with the named parts of `other`.
            #[track_caller]
            pub fn replace_parts(&self, parts: &[&str], other: &Self) -> Self {
                let op = TreeOp::ReplaceParts(owned(parts));
                self.binary(op, other, Loc::caller())
            }
        }
    )*};
}
replace_parts!(Params, Server<Params>);

impl ClientCx {
    /// `w` with the client's own named parts: as it last [kept](Self::set_personal) them, those
    /// of `w` itself in its first round.
    ///
    /// Personal parts stay on the client: to upload a tree that holds them is an error when the
    /// algorithm is linked. Replace them first, say by
    /// `w.replace_parts(&["head"], &k.global_params())`.
    #[track_caller]
    pub fn personal(&self, parts: &[&str], w: &Params) -> Params {
        let loc = Loc::caller();
        let op = FedOp::Personal(state(&self.graph, parts), owned(parts));
        let operands = [self.value, w.value_in(&self.graph, loc)];
        let own = Params::bind(&self.graph, self.graph.op(op, &operands, loc));
        let operands = [w.value, own.value];
        let op = TreeOp::ReplaceParts(owned(parts));
        Params::bind(&self.graph, self.graph.op(op, &operands, loc))
    }

    /// Keeps the named parts of `w` for the client's next rounds; see [`personal`](Self::personal).
    #[track_caller]
    pub fn set_personal(&self, parts: &[&str], w: &Params) {
        let loc = Loc::caller();
        let operands = [self.value, w.value_in(&self.graph, loc)];
        let op = FedOp::SetClientState(state(&self.graph, parts));
        self.graph.op(op, &operands, loc);
    }
}
