//! Tests for a crate of own algorithms: snapshots of what a spec is compiled to, and short training runs.
//!
//! With `insta` among the dev-dependencies, a snapshot is one line:
//!
//! ```no_run
//! use fedround::algorithms::FedAvg;
//! use fedround::testing::{Stage, View, assert_graph_snapshot};
//!
//! # fn tests() {
//! assert_graph_snapshot!(FedAvg::default(), Stage::Linked);
//! assert_graph_snapshot!("cnn step", FedAvg::default(), View::of(Stage::Tensor).model("cnn").batch(20));
//! # }
//! ```
//!
//! The text has no values of hyper-parameters, no paths and no line numbers, so that a snapshot
//! changes with the algorithm alone. [`graph_text`] gives it to other tests:
//!
//! ```
//! use fedround::algorithms::FedAvg;
//! use fedround::testing::{Stage, graph_text};
//!
//! let text = graph_text(&FedAvg::default(), Stage::Linked).unwrap();
//! assert!(text.contains("fed.weighted_mean"));
//! ```
//!
//! [`train`] trains a few rounds on a little data. [`assert_trains_alike!`] is for laws, which say that two
//! algorithms are the same for some hyper-parameters:
//!
//! ```
//! use fedround::algorithms::{FedAvg, FedProx};
//! use fedround::testing::{assert_trains_alike, train};
//!
//! let prox = |mu| FedProx { base: FedAvg::default(), mu };
//! assert_trains_alike!(prox(0.0), FedAvg::default());
//!
//! let trained = train(prox(0.1), 3).unwrap();
//! assert!(trained.losses[2] < trained.losses[0]);
//! ```

mod graph_text;
mod training;

pub use graph_text::{GraphError, Stage, View, graph_text};
pub use training::{Trained, Unlike, compare, experiment, train};

#[doc(inline)]
pub use crate::__assert_graph_snapshot as assert_graph_snapshot;
#[doc(inline)]
pub use crate::__assert_trains_alike as assert_trains_alike;
