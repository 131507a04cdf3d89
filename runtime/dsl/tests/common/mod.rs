//! FedAvg and FedProx in the form that `#[derive(Hyper)]` and `#[federated]` expand to, and a spec
//! made of closures.

// Each test uses a part.
#![allow(dead_code, unused_imports)]

mod closure;
mod control_variates;
mod fed_avg;
mod fed_prox;

pub use closure::Closure;
pub use control_variates::control_variates;
pub use fed_avg::FedAvg;
pub use fed_prox::FedProx;
