//! The language of federated algorithms: placed values, contexts and the [`Algorithm`] trait.
//!
//! The methods of an algorithm are ordinary Rust code over *handles*: [`Server<T>`] and [`Clients<T>`] on
//! the server, and plain [`Params`], [`Scalar`] and [`Batch`] in client code. A handle stands for a value
//! of a graph, and its methods and operators append ops to the graph. [`stage`] runs the body of every
//! hook once and returns the graph, a [`fedround_ir::fed::Module`].
//!
//! The types show what is sent between server and clients. [`Server::broadcast`] sends a value to the
//! clients, and [`Clients::map`] computes on them. [`Clients::mean`], [`Clients::sum`] and
//! [`Clients::weighted_mean`] return one value to the server. [`Clients::gather`] returns the values of all
//! clients; [`Gathered::map`] computes with them on the server, and [`Gathered::scatter`] sends each client
//! its own value back.

mod aggregate;
mod algebra;
mod algorithm;
mod arith;
mod arrivals;
mod batch;
mod broadcast;
mod client_selection;
mod clients;
mod codec;
mod cohort;
mod contexts;
mod definer;
mod field;
mod gathered;
mod grad;
mod graph;
mod hook_param;
mod hyper;
mod hyper_error;
mod hyper_field;
mod in_turn;
mod index;
mod inputs;
mod list;
mod loop_state;
mod loops;
mod map_operands;
mod model_loss;
mod number;
mod objective;
pub mod optim;
mod params;
mod parts;
mod peers;
mod personal;
mod privacy;
mod public;
mod random;
mod rate;
mod registry;
mod rows;
mod scalar;
mod scalar_functions;
mod server;
mod server_code;
mod spec;
mod stage;
pub mod standard;
mod tree;
mod turn;
mod wire;

pub use aggregate::{OneRow, Ordered, Vector};
pub use algorithm::{Algorithm, BoxedAlgorithm};
pub use batch::{Batch, Labels, Tensor};
pub use clients::{Clients, OfClients, Zipped};
pub use codec::Codec;
pub use cohort::Cohort;
pub use contexts::{ClientCx, ServerCx, StateAccess};
pub use definer::Definer;
pub use fedround_ir::fed::{Dp, Topology};
pub use field::{DefaultValue, Field, FieldKind, Range};
pub use gathered::{Gathered, GatheredPair, OfGathered, Rows};
pub use grad::{Differentiable, cross_entropy, function, grad, loss, value_and_grad};
pub use hyper::{Hyper, LayerField, all_fields, set, validate};
pub use hyper_error::HyperError;
pub use in_turn::InTurn;
pub use index::{Count, Index};
pub use inputs::{Input, Inputs};
pub use list::{ClientsList, argmin, list, pick};
pub use loop_state::LoopState;
pub use loops::Batches;
pub use map_operands::MapOperands;
pub use objective::Objective;
pub use params::Params;
pub use peers::regular;
pub use personal::{PERSONAL_MODEL, StagedEvaluation, stage_evaluations};
pub use privacy::Released;
pub use public::{PublicData, PublicExamples};
pub use random::{ServerStream, Stream};
pub use rate::Rate;
pub use registry::{Entry, Registered, Registry};
pub use rows::{RowBatches, RowOps, ZippedRows};
pub use scalar::Scalar;
pub use scalar_functions::Real;
pub use server::Server;
pub use server_code::{PerClientCx, ServerCode, ServerComputeCx};
pub use spec::SpecError;
pub use stage::{Phase, StageError, left_out_phases, phases, phases_for, stage};
pub use tree::Tree;
pub use wire::{Computed, Upload, Wire};

/// Everything that an algorithm needs: `use fedround::prelude::*;`.
pub mod prelude {
    pub use fedround_macros::{Hyper, federated};

    pub use crate::{
        Algorithm, Batch, BoxedAlgorithm, ClientCx, Clients, Codec, Cohort, Dp, Gathered, Hyper,
        Index, Labels, Params, PerClientCx, PublicData, PublicExamples, Real, Released, RowOps,
        Scalar, Server, ServerCode, ServerComputeCx, ServerCx, Tensor, Topology, Tree, argmin,
        cross_entropy, function, grad, list, loss,
        optim::{self, Optimizer},
        pick, regular, value_and_grad,
    };
}

/// Items that the expansion of the macros refers to. They may change at any time; do not use them.
#[doc(hidden)]
pub mod __private {
    pub use crate::algorithm::{base, call};
    pub use crate::hyper_field::{HyperField, hyper, read_field, unknown_field, write_field};
    pub use crate::loops::{Batches, Repeat, StagedLoop, for_each, for_turns, range};
    pub use crate::{
        Algorithm, Batch, BoxedAlgorithm, ClientCx, Clients, DefaultValue, Definer, Entry, Field,
        FieldKind, Hyper, HyperError, Params, Range, Registered, Scalar, Server, ServerCx,
    };
    pub use fedround_ir::Loc;
    pub use fedround_ir::fed::{Hook, HyperValue};
    pub use std::{
        boxed::Box,
        option::Option::{self, None, Some},
        result::Result::{self, Err, Ok},
        string::String,
    };
}
