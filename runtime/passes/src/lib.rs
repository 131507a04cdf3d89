//! Passes over the fed and tensor dialects, one per file.
//!
//! Every pass has a name. [`fed::link`] and [`tensor::optimize`] run the usual passes in their order. A
//! [`PassManager`] runs any pass by name, as `fedround opt` does:
//!
//! ```
//! use fedround_ir::tensor::{Graph, parse};
//! use fedround_passes::{PassManager, Request};
//!
//! let text = "\
//! // fedround tensor v1
//! tensor.graph @f(%x: f32[2]) {
//!   %0 = tensor.exp %x : f32[2]
//!   %1 = tensor.exp %x : f32[2]
//!   %2 = tensor.add %0, %1 : f32[2]
//!   return y = %2
//! }
//! ";
//! let (name, mut graph) = parse(text)?.remove(0);
//! let mut manager = PassManager::new();
//! for request in Request::<Graph>::list("fold,cse,dce")? {
//!     manager.run(&request, &name, &mut graph)?;
//! }
//! assert!(graph.exact_text(&name).contains("tensor.add %0, %0"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod autodiff;
mod error;
pub mod fed;
mod loop_count;
pub mod lowering;
mod manager;
pub mod parties;
pub mod report;
pub mod schedule;
pub mod tensor;
#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;

pub use error::{PassError, RequestError};
pub use loop_count::LoopCount;
pub use manager::{
    Ir, Pass, PassEvent, PassManager, PassObserver, PassTarget, Request, Run, Timing, timing_table,
};
