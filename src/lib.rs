//! A compiled framework for federated learning.
//!
//! An algorithm is written once, as close to its paper's algorithm box as Rust allows. It becomes
//! a placed graph that is checked, optimised, lowered to tensor plans and run over simulated
//! clients. [`prelude`] has what a spec names, [`algorithms`] the bundled specs. The
//! command `fedround` is the crate `fedround-cli`, which takes a crate's own specs too.
//!
//! A spec replaces the parts of an algorithm that it changes:
//!
//! ```
//! use fedround::algorithms::FedAvg;
//! use fedround::data::{Partition, synth::SynthDigits};
//! use fedround::exec::Program;
//! use fedround::simulation::{FederatedDataset, Simulation};
//! use fedround::trace::TracedModel;
//! use fedround::models::{self, Losses, Task};
//! use fedround::prelude::*;
//!
//! /// Weight decay, added to any algorithm's loss.
//! #[derive(Hyper, Debug, Clone)]
//! pub struct Decay<A = FedAvg> {
//!     /// The algorithm that is regularised.
//!     pub base: A,
//!     /// Weight of the term.
//!     #[hyper(default = 0.001, range = 0.0..)]
//!     pub weight: f32,
//! }
//!
//! #[federated(base = base)]
//! impl<A: Algorithm> Algorithm for Decay<A> {
//!     fn regularizer(&self, k: &ClientCx, w: &Params) -> Scalar {
//!         self.base.regularizer(k, w) + 0.5 * self.weight * w.sq_norm()
//!     }
//! }
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let data = SynthDigits { train: 200, test: 50, ..SynthDigits::default() }.generate();
//! let task = Task { input: data.train.image_shape()?, classes: data.classes };
//! let model = models::find("logistic")?.build(task, &Default::default())?;
//! let tracer = TracedModel::new("logistic", model, task, Losses::default());
//! let program = Program::compile(&Decay::<FedAvg>::default(), tracer)?;
//!
//! let parts = "shards:2".parse::<Partition>()?.split(data.train.labels(), 10, 10, 1)?;
//! let dataset = FederatedDataset { examples: data.train, client_indices: parts };
//! let mut simulation = Simulation::new(program, dataset, 1, 2)?;
//! let round = simulation.run_round()?;
//! assert!(round.train_loss.is_finite());
//! assert_eq!(simulation.evaluate(&data.test)?.class_accuracy.len(), 10);
//! # Ok(())
//! # }
//! ```
//!
//! # Embedding
//!
//! - Use mimalloc as the global allocator, as the command does: with glibc's, a small model's step is several
//!   times slower.
//! - Several experiments can train at once, each with worker threads of its own: [`Experiment::threads`]. An
//!   [`Experiment`] stays on the thread that makes it; a [`Run`](experiment::Run), which
//!   [`Experiment::prepare`] gives, can be moved to another.
//! - The library writes no log and prints nothing. An [`Observer`](experiment::Observer) is told of every round,
//!   and is where a service logs, counts and decides to stop.
//! - Panics in models, losses and functions while they are traced are caught and become errors; the process's
//!   panic hook still sees them.
//!
//! The page [Embedding in a program](https://github.com/fedround/fedround/blob/main/docs/embedding.md) has
//! whole programs.

pub mod experiment;
#[cfg(feature = "flower")]
pub mod federation;
mod model_source;
pub mod privacy;
pub mod testing;

// Specs in this crate name it as a user's crate does.
extern crate self as fedround;

/// The tensor library of models, losses and functions, in the version that fedround is built with. A crate
/// of your own needs no dependency on it: `use fedround::burn;` is where `#[derive(Module)]` finds it.
#[doc(no_inline)]
pub use burn;
pub use experiment::Experiment;
pub use fedround_algorithms as algorithms;
pub use fedround_data as data;
pub use fedround_draw as draw;
pub use fedround_exec as exec;
#[cfg(feature = "flower")]
pub use fedround_flower as flower;
pub use fedround_ir as ir;
pub use fedround_metrics as metrics;
pub use fedround_models as models;
pub use fedround_models::stop_gradient;
pub use fedround_passes as passes;
pub use fedround_random as random;
pub use fedround_simulation as simulation;
pub use fedround_store as store;
pub use fedround_trace as trace;
pub use model_source::{Auxiliaries, GraphError, MakeModel, ModelSource};

#[doc(hidden)]
pub use fedround_dsl::__private;
pub use fedround_dsl::{
    Algorithm, BoxedAlgorithm, Entry, Field, Hyper, HyperError, Registered, Registry, SpecError,
    StageError, all_fields, optim, prelude, set, stage, validate,
};
