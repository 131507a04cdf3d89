//! A compiled algorithm: its module at every stage, and one plan for each compute segment and batch shape, which
//! is compiled when it is first needed.

mod auxiliary_networks;
mod cohort_size;
mod compile;
mod compile_segment;
mod error;
mod infer_shapes;
mod phases;
mod retarget;
mod segment_tensors;
mod text;
mod unset_states;
mod warnings;

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::{Arc, RwLock};

use burn_dispatch::DispatchDevice;
use fedround_ir::fed::{Module, Value};
use fedround_passes::PassObserver;
use fedround_passes::fed::Leaves;
use fedround_passes::lowering::{Frontend, parts};
use fedround_passes::parties::{Split, split};
use fedround_passes::report::Sizes;
use fedround_passes::schedule::Schedule;

use fedround_trace::TracedModel;

pub use auxiliary_networks::assemble_for;
pub use cohort_size::sample_size;
use compile::OpenTarget;
use compile_segment::FunctionKey;
pub use compile_segment::{Segment, Variant};
pub use error::CompileError;
use infer_shapes::StateTypes;

use crate::precision::Precision;
pub use warnings::Warning;

/// An algorithm compiled for a model.
pub struct Program {
    /// The module before linking.
    staged: Module,
    /// The module after linking and canonicalization.
    linked: Module,
    /// The leaves that are zero, for the values that loops start from.
    zeros: HashMap<Value, Leaves>,
    /// The parameter trees of which every leaf is zero, including the model's buffers.
    zero_trees: HashSet<Value>,
    /// The bytes that are sent for a value, if they are not those of all parameters in `f32`.
    transferred_bytes: HashMap<Value, usize>,
    /// The types of the rows (features and labels) that states hold.
    state_types: StateTypes,
    warnings: Vec<Warning>,
    /// The observer of all passes, also of segments that are compiled later.
    observer: Option<PassObserver>,
    schedule: Schedule,
    model: TracedModel,
    target: OpenTarget,
    /// The segments that have been compiled so far.
    segments: RwLock<HashMap<Variant, Arc<Segment>>>,
    /// The functions of the model that have been compiled so far.
    functions: RwLock<HashMap<FunctionKey, Arc<Segment>>>,
    /// Whether our own passes fuse ops on the CPU. On GPUs, burn-fusion fuses.
    fuse: bool,
    /// The phases before the last, in order; empty if there is one phase.
    earlier: Vec<EarlierPhase>,
}

/// A phase of an algorithm that runs for a fixed number of rounds.
struct EarlierPhase {
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

    /// The warnings of the passes, such as about an override that never calls its base.
    pub fn warnings(&self) -> &[Warning] {
        &self.warnings
    }

    /// The model.
    pub fn model(&self) -> &TracedModel {
        &self.model
    }

    /// The device for which the program is compiled.
    pub fn device(&self) -> &DispatchDevice {
        &self.target.device
    }

    /// The float type of the operands of products.
    pub fn precision(&self) -> Precision {
        self.target.precision
    }

    /// Whether convolutions on the CPU are [exact](crate::Target::exact_convolutions).
    pub fn exact_convolutions(&self) -> bool {
        self.target.exact_convolutions
    }

    /// The number of the model's parameters, `P`.
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

    /// The bytes of parameters that are sent between server and one client for a value.
    pub fn transferred_bytes(&self, value: Value) -> usize {
        let reduced = self.transferred_bytes.get(&value).copied();
        reduced.unwrap_or_else(|| 4 * self.parameter_count())
    }

    /// For each leaf of the model, whether `leaves` contains it.
    pub fn leaf_mask(&self, leaves: &Leaves) -> Vec<bool> {
        let mask_of_parts = |parts: &BTreeSet<String>| {
            let parts: Vec<String> = parts.iter().cloned().collect();
            parts::leaves(&self.model, &parts).unwrap_or_default()
        };
        let included = leaves.of.as_ref().map(mask_of_parts);
        let excluded = mask_of_parts(&leaves.but);
        let is_set = |mask: &[bool], i: usize| mask.get(i).copied().unwrap_or_default();
        let contains = |i: usize| {
            included.as_ref().is_none_or(|mask| is_set(mask, i)) && !is_set(&excluded, i)
        };
        (0..self.model.parameters().len()).map(contains).collect()
    }

    /// The schedule: the compute segments and the control ops between them.
    pub fn schedule(&self) -> &Schedule {
        &self.schedule
    }

    /// The number that a value is, if it is known before the round.
    pub fn real(&self, v: Value) -> Option<f64> {
        self.schedule.free.get(&v)?.value.number()
    }

    /// The count that a value is, if it is known before the round.
    pub fn index(&self, v: Value) -> Option<usize> {
        self.schedule.free.get(&v)?.value.count()
    }
}

impl Sizes for Program {
    fn parameters_without(&self, leaves: &Leaves) -> usize {
        let excluded = self.leaf_mask(leaves).into_iter();
        let sizes = self.model.parameters().iter().map(|(_, ty)| ty.len());
        let rest = sizes.zip(excluded).filter(|(_, excluded)| !excluded);
        rest.map(|(size, _)| size).sum()
    }

    fn shapes(&self) -> Vec<Vec<usize>> {
        let leaves = self.model.parameters().iter();
        leaves.map(|(_, ty)| ty.shape.clone()).collect()
    }
}
