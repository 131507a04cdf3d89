//! What a federated spec is written with: placed values, contexts and the [`Algorithm`] trait.
//!
//! A spec's method bodies are ordinary Rust over *handles*: [`Server<T>`] and [`Clients<T>`] on
//! the server, plain [`Params`], [`Scalar`] and [`Batch`] in client code. Handles stand for values
//! of a graph; their methods and operators append ops to it. [`stage`] runs every hook's body once
//! and gives the graph, a [`fedround_ir::fed::Module`].
//!
//! What crosses between server and clients is visible in the types: [`Server::broadcast`] sends,
//! [`Clients::map`] computes on the clients, and [`Clients::mean`], [`Clients::sum`] and
//! [`Clients::weighted_mean`] bring one value back. [`Clients::gather`] brings all of them, for
//! [`Gathered::map`] to compute with on the server and [`Gathered::scatter`] to send back.

mod algebra;
mod algorithm;
mod arith;
mod batch;
mod broadcast;
mod clients;
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
mod index;
mod inputs;
mod loop_state;
mod loops;
mod model_loss;
mod number;
mod objective;
pub mod optim;
mod params;
mod parts;
mod personal;
mod privacy;
mod real;
mod registry;
mod rows;
mod scalar;
mod server;
mod server_code;
mod spec;
mod stage;
pub mod standard;
mod tree;
mod wire;

pub use algorithm::{Algorithm, BoxedAlgorithm};
pub use batch::{Batch, Labels, Tensor};
pub use clients::{Clients, Zipped};
pub use cohort::Cohort;
pub use contexts::{ClientCx, Keeper, ServerCx};
pub use definer::Definer;
pub use fedround_ir::fed::Dp;
pub use field::{DefaultValue, Field, FieldKind, Range};
pub use gathered::{Gathered, GatheredPair, Rows};
pub use grad::{Differentiable, cross_entropy, function, grad, loss, value_and_grad};
pub use hyper::{Hyper, LayerField, all_fields, set, validate};
pub use hyper_error::HyperError;
pub use index::Index;
pub use inputs::{Input, Inputs};
pub use loop_state::LoopState;
pub use loops::Batches;
pub use objective::Objective;
pub use params::Params;
pub use personal::{PERSONAL_MODEL, stage_personalized};
pub use privacy::Released;
pub use real::{Rate, Real};
pub use registry::{Entry, Registered, Registry};
pub use rows::{OverRows, RowBatches, ZippedRows};
pub use scalar::Scalar;
pub use server::Server;
pub use server_code::{ForClient, ServerCode, ServerSide};
pub use spec::SpecError;
pub use stage::{Phase, StageError, phases, phases_for, stage};
pub use tree::Tree;
pub use wire::{Computed, Upload, Wire};

/// Everything that a spec names: `use fedround::prelude::*;`.
pub mod prelude {
    pub use fedround_macros::{Hyper, federated};

    pub use crate::{
        Algorithm, Batch, BoxedAlgorithm, ClientCx, Clients, Cohort, Dp, ForClient, Gathered,
        Hyper, Index, Labels, OverRows, Params, Real, Released, Scalar, Server, ServerCode,
        ServerCx, ServerSide, Tensor, Tree, cross_entropy, function, grad, loss,
        optim::{self, Optimizer},
        value_and_grad,
    };
}

/// What the macros' expansions name; not for use by hand, and free to change.
#[doc(hidden)]
pub mod __private {
    pub use crate::algorithm::{base, call};
    pub use crate::hyper_field::{HyperField, hyper, read_field, unknown_field, write_field};
    pub use crate::loops::{Batches, Repeat, StagedLoop, for_each, range};
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
