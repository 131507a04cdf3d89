//! Parts of a model, which an algorithm can share, replace, or keep on each client.
//!
//! A part is the first segment of a parameter's path: `head` in `head.weight` and `head.bias`. If the model
//! does not have a part, compiling the algorithm is an error. A type of layer, such as `BatchNorm`, stands
//! for all layers of that type, and `Buffer` for all running statistics; a model may have none of them.

use fedround_ir::Loc;
use fedround_ir::fed::{FedOp, NameUse, TreeOp};

use crate::graph::Graph;
use crate::tree::Tree;
use crate::wire::Wire;
use crate::{ClientCx, Params, Server};

fn owned(parts: &[&str]) -> Vec<String> {
    parts.iter().map(|part| (*part).to_owned()).collect()
}

/// The state that keeps some parts: the layer's own, so that another layer may keep them too. `state` of the parts'
/// name reads it, too.
fn state(graph: &Graph, parts: &[&str], loc: Loc) -> String {
    graph.qualified(NameUse::ClientState, parts.join("+").as_str().into(), loc)
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
    /// `w` with the client's own values of the named parts. These are the values that it last
    /// [stored](Self::set_personal), or in its first round those of `w`.
    ///
    /// Personal parts stay on the client. If an algorithm uploads parameters that contain them, linking is an
    /// error. Replace them first, for example by `w.replace_parts(&["head"], &k.global_params())`.
    #[track_caller]
    pub fn personal(&self, parts: &[&str], w: &Params) -> Params {
        let loc = Loc::caller();
        let op = FedOp::Personal(state(&self.graph, parts, loc), owned(parts));
        let operands = [self.value, w.value_in(&self.graph, loc)];
        let own = Params::of_op(&self.graph, op, &operands, loc);
        let operands = [w.value, own.value];
        let op = TreeOp::ReplaceParts(owned(parts));
        Params::of_op(&self.graph, op, &operands, loc)
    }

    /// Stores the named parts of `w` for the client's next rounds; see [`personal`](Self::personal).
    #[track_caller]
    pub fn set_personal(&self, parts: &[&str], w: &Params) {
        let loc = Loc::caller();
        let operands = [self.value, w.value_in(&self.graph, loc)];
        let op = FedOp::SetClientState(state(&self.graph, parts, loc));
        self.graph.op(op, &operands, loc);
    }
}
