//! A compiled algorithm: its graph at every stage, and one plan for each compute segment and batch
//! shape, made when it is first needed.

mod auxiliary_networks;
mod cohort_size;
mod compile_segment;
mod error;
mod infer_shapes;
mod retarget;
mod text;
mod warnings;

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, RwLock};

use burn_dispatch::DispatchDevice;
use fedround_dsl::{Algorithm, Phase, phases_for};
use fedround_ir::fed::{HyperValue, Kind, Module, Value};
use fedround_passes::fed::{Leaves, lay_out, link_with, zeros};
use fedround_passes::lowering::{Frontend, parts};
use fedround_passes::parties::{Split, split};
use fedround_passes::report::{Sizes, Wire, wire};
use fedround_passes::schedule::{Free, Schedule, schedule, stream};
use fedround_passes::{PassManager, PassObserver};

use fedround_trace::TracedModel;

pub use auxiliary_networks::assemble_for;
pub use cohort_size::drawn;
use compile_segment::Called;
pub use compile_segment::{Segment, Variant};
pub use error::CompileError;
use infer_shapes::Kept;

use crate::autotune::ConvPolicy;
use crate::precision::Precision;
use crate::target::Target;
pub use warnings::Warning;
use warnings::{given_back, missing_layers};

/// An algorithm compiled for a model.
pub struct Program {
    staged: Module,
    linked: Module,
    /// Leaves that are zero, of the values that loops begin with.
    zeros: HashMap<Value, Leaves>,
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

/// Where a program runs, and how its products are computed there.
#[derive(Clone)]
struct Place {
    device: DispatchDevice,
    precision: Precision,
    convolutions: ConvPolicy,
    exact_convolutions: bool,
}

/// A phase of an algorithm that ends.
struct Earlier {
    name: String,
    rounds: usize,
    program: Program,
}

impl Program {
    /// Stages, links and schedules an algorithm, and compiles its local step once, so that errors
    /// in it appear here and not in the first round.
    ///
    /// # Errors
    ///
    /// See [`CompileError`]; each names the line of the spec.
    pub fn compile(algorithm: &dyn Algorithm, model: TracedModel) -> Result<Self, CompileError> {
        Self::compile_for(algorithm, model, Target::default())
    }

    /// As [`compile`](Self::compile), for a device, which may have a
    /// [precision](crate::Device::with_precision).
    ///
    /// # Errors
    ///
    /// As [`compile`](Self::compile), or the device cannot be used or lacks the precision.
    pub fn compile_for(
        algorithm: &dyn Algorithm,
        model: TracedModel,
        target: impl Into<Target>,
    ) -> Result<Self, CompileError> {
        Self::compile_with(algorithm, model, target, &mut PassManager::new())
    }

    /// As [`compile_for`](Self::compile_for), under a pass manager of the caller's, which times the
    /// passes of the module and of its graphs. Its observer also sees what is compiled later, for
    /// other shapes.
    ///
    /// # Errors
    ///
    /// As [`compile_for`](Self::compile_for).
    pub fn compile_with(
        algorithm: &dyn Algorithm,
        model: TracedModel,
        target: impl Into<Target>,
        passes: &mut PassManager,
    ) -> Result<Self, CompileError> {
        let objective = model.objective();
        let staged = passes.time("fed", "stage", || phases_for(algorithm, &objective))?;
        let target: Target = target.into();
        let place = Place {
            device: target.open()?,
            precision: target.precision,
            convolutions: target.convolutions,
            exact_convolutions: target.exact_convolutions,
        };
        Self::compile_phases(staged, model, place, passes)
    }

    /// Compiles phases; the program is that of the last.
    fn compile_phases(
        mut staged: Vec<Phase>,
        model: TracedModel,
        place: Place,
        passes: &mut PassManager,
    ) -> Result<Self, CompileError> {
        let last = staged.pop().ok_or(CompileError::NoRound)?;
        let mut earlier = vec![];
        let mut kept = Kept::new();
        for phase in staged {
            let (model, place) = (model.copy(), place.clone());
            let program = Self::compile_staged(phase.module, model, place, &kept, passes)?;
            kept.clone_from(&program.kept);
            earlier.push(Earlier {
                name: phase.name.unwrap_or_default(),
                rounds: phase.rounds.unwrap_or_default(),
                program,
            });
        }
        let mut this = Self::compile_staged(last.module, model, place, &kept, passes)?;
        this.earlier = earlier;
        this.warn_of_all_phases();
        Ok(this)
    }

    /// What a phase has no use for, another may have.
    fn warn_of_all_phases(&mut self) {
        let earlier = self.earlier.iter().map(|phase| &phase.program.warnings);
        let everywhere: Vec<&Vec<Warning>> = earlier.collect();
        let mut warnings = std::mem::take(&mut self.warnings);
        warnings.retain(|w| everywhere.iter().all(|known| known.contains(w)));
        self.warnings = warnings;
        for phase in &mut self.earlier {
            phase.program.warnings.clear();
        }
    }

    /// The program of a round, counted from 1.
    pub fn at(&self, round: usize) -> &Self {
        let earlier = self.earlier.get(self.phase_of(round).0);
        earlier.map_or(self, |phase| &phase.program)
    }

    /// The phase of a round, phases counted from 0 and rounds from 1, and how many of its rounds come
    /// after this one; `None` in the last phase, which has no end.
    pub fn phase_of(&self, round: usize) -> (usize, Option<usize>) {
        let mut before = round.saturating_sub(1);
        for (i, phase) in self.earlier.iter().enumerate() {
            if before < phase.rounds {
                return (i, Some(phase.rounds - before - 1));
            }
            before -= phase.rounds;
        }
        (self.earlier.len(), None)
    }

    /// The name of the phase of a round, counted from 1; `None` in the last phase, which has no name.
    pub fn phase_name(&self, round: usize) -> Option<&str> {
        let earlier = self.earlier.get(self.phase_of(round).0);
        earlier.map(|phase| phase.name.as_str())
    }

    /// The programs of all phases in order, this one the last, each with a line about its rounds;
    /// none where there is one phase.
    pub fn phases(&self) -> Vec<(Option<String>, &Self)> {
        let mut all = vec![];
        let mut done = 0;
        for phase in &self.earlier {
            let (first, last) = (done + 1, done + phase.rounds);
            let line = format!("phase {}, rounds {first} to {last}", phase.name);
            all.push((Some(line), &phase.program));
            done = last;
        }
        let rest = (done > 0).then(|| format!("from round {} on", done + 1));
        all.push((rest, self));
        all
    }

    fn compile_staged(
        staged: Module,
        model: TracedModel,
        place: Place,
        earlier: &Kept,
        passes: &mut PassManager,
    ) -> Result<Self, CompileError> {
        let linked = link_with(staged.clone(), passes)?;
        let mut laid_out = linked.module.clone();
        lay_out(&mut laid_out, passes)?;
        let mut schedule = schedule(&laid_out).ok_or(CompileError::NoRound)?;
        stream(&mut schedule);
        let mut this = Self {
            zeros: zeros(&laid_out),
            crossing: HashMap::new(),
            kept: Kept::new(),
            schedule,
            linked: linked.module,
            warnings: linked.warnings.into_iter().map(Warning::Spec).collect(),
            observer: passes.observer().cloned(),
            staged,
            model,
            device: place.device,
            precision: place.precision,
            convolutions: place.convolutions,
            exact_convolutions: place.exact_convolutions,
            compiled: RwLock::default(),
            functions: RwLock::default(),
            fuse: true,
            earlier: vec![],
        };
        this.warnings
            .extend(missing_layers(&this.linked, &this.model));
        let rows = wire(&this.linked);
        this.warnings.extend(rows.iter().filter_map(given_back));
        let rows = rows.into_iter();
        let partial = |row: &Wire| row.initial || row.encoded.is_some() || !row.without.is_empty();
        let rows = rows.filter(|row| row.kind == Kind::Params && partial(row));
        let crossing = rows.map(|row| (row.value, row.parameter_bytes(&this)));
        this.crossing = crossing.collect();
        this.infer_kept(earlier, passes)?;
        this.visit(this.batch_size(), &mut |variant| {
            Ok(this.compiled(variant, passes)?.rows.clone())
        })?;
        Ok(this)
    }

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

    /// Whether convolutions on the CPU are [exact](Target::exact_convolutions).
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
