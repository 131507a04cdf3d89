//! A compiled algorithm: its graph at every stage, and one plan for each compute segment and batch
//! shape, made when it is first needed.

mod auxiliary_networks;
mod cohort_size;
mod compile;
mod compile_segment;
mod error;
mod infer_shapes;
mod phases;
mod retarget;
mod text;
mod warnings;

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::{Arc, RwLock};

use burn_dispatch::DispatchDevice;
use fedround_ir::fed::{HyperValue, Module, Value};
use fedround_passes::PassObserver;
use fedround_passes::fed::Leaves;
use fedround_passes::lowering::{Frontend, parts};
use fedround_passes::parties::{Split, split};
use fedround_passes::report::Sizes;
use fedround_passes::schedule::{Free, Schedule};

use fedround_trace::TracedModel;

pub use auxiliary_networks::assemble_for;
pub use cohort_size::drawn;
use compile_segment::Called;
pub use compile_segment::{Segment, Variant};
pub use error::CompileError;
use infer_shapes::Kept;

use crate::autotune::ConvPolicy;
use crate::precision::Precision;
pub use warnings::Warning;

/// An algorithm compiled for a model.
pub struct Program {
    staged: Module,
    linked: Module,
    /// Leaves that are zero, of the values that loops begin with.
    zeros: HashMap<Value, Leaves>,
    /// The trees of which every leaf is zero, buffers too.
    zero_trees: HashSet<Value>,
    /// Bytes that cross, for the values of which not all parameters do, or encoded.
    crossing: HashMap<Value, usize>,
    /// What states of features and labels hold.
    kept: Kept,
    warnings: Vec<Warning>,
    /// Sees the passes over what is compiled.
    observer: Option<PassObserver>,
    schedule: Schedule,
    model: TracedModel,
    device: DispatchDevice,
    /// The type of products' operands.
    precision: Precision,
    convolutions: ConvPolicy,
    exact_convolutions: bool,
    compiled: RwLock<HashMap<Variant, Arc<Segment>>>,
    functions: RwLock<HashMap<Called, Arc<Segment>>>,
    /// Whether ops are fused by our own passes; on GPUs burn fuses.
    fuse: bool,
    /// What runs in the rounds before this program.
    earlier: Vec<Earlier>,
}

/// A phase of an algorithm that ends.
struct Earlier {
    name: String,
    rounds: usize,
    program: Program,
}

impl Program {
    /// The staged module, before linking.
    pub fn staged(&self) -> &Module {
        &self.staged
    }

    /// The linked and canonical module.
    pub fn linked(&self) -> &Module {
        &self.linked
    }

    /// What the passes warn of, such as an override that never calls its base.
    pub fn warnings(&self) -> &[Warning] {
        &self.warnings
    }

    /// The model.
    pub fn model(&self) -> &TracedModel {
        &self.model
    }

    /// The device that it is compiled for.
    pub fn device(&self) -> &DispatchDevice {
        &self.device
    }

    /// The float type of the operands of products.
    pub fn precision(&self) -> Precision {
        self.precision
    }

    /// Whether convolutions on the CPU are [exact](crate::Target::exact_convolutions).
    pub fn exact_convolutions(&self) -> bool {
        self.exact_convolutions
    }

    /// Number of the model's parameters, `P`.
    pub fn parameter_count(&self) -> usize {
        self.model.parameters().iter().map(|(_, ty)| ty.len()).sum()
    }

    /// The round divided between the server and parties.
    ///
    /// # Errors
    ///
    /// [`CompileError::Parties`], if it cannot run between parties.
    pub fn parties(&self) -> Result<Split, CompileError> {
        Ok(split(&self.linked, &self.schedule)?)
    }

    /// Bytes of parameters that cross between server and clients as a value.
    pub fn crossing(&self, value: Value) -> usize {
        let some = self.crossing.get(&value).copied();
        some.unwrap_or_else(|| 4 * self.parameter_count())
    }

    /// Whether each of the model's leaves is among some.
    pub fn among(&self, leaves: &Leaves) -> Vec<bool> {
        let inside = |parts: &BTreeSet<String>| {
            let parts: Vec<String> = parts.iter().cloned().collect();
            parts::leaves(&self.model, &parts).unwrap_or_default()
        };
        let (of, but) = (leaves.of.as_ref().map(inside), inside(&leaves.but));
        let has = |all: &[bool], i: usize| all.get(i).copied().unwrap_or_default();
        let among = |i: usize| of.as_ref().is_none_or(|of| has(of, i)) && !has(&but, i);
        (0..self.model.parameters().len()).map(among).collect()
    }

    /// The compute segments and the control between them.
    pub fn schedule(&self) -> &Schedule {
        &self.schedule
    }

    /// A value known before the round, as a real number.
    pub fn real(&self, v: Value) -> Option<f64> {
        match self.schedule.free.get(&v)? {
            Free::Hyper(_, HyperValue::Float(x)) | Free::Const(x) => Some(*x),
            Free::Hyper(_, HyperValue::Int(n)) | Free::Index(n) => Some(*n as f64),
            Free::Hyper(..) => None,
        }
    }

    /// A value known before the round, as a count.
    pub fn index(&self, v: Value) -> Option<usize> {
        match self.schedule.free.get(&v)? {
            Free::Hyper(_, HyperValue::Int(n)) | Free::Index(n) => Some(*n),
            _ => None,
        }
    }
}

impl Sizes for Program {
    fn parameters_without(&self, leaves: &Leaves) -> usize {
        let leaves = self.among(leaves).into_iter();
        let sizes = self.model.parameters().iter().map(|(_, ty)| ty.len());
        let outside = sizes.zip(leaves).filter(|(_, among)| !among);
        outside.map(|(size, _)| size).sum()
    }

    fn shapes(&self) -> Vec<Vec<usize>> {
        let leaves = self.model.parameters().iter();
        leaves.map(|(_, ty)| ty.shape.clone()).collect()
    }
}
