//! Compiles an algorithm to a program: stages, links and schedules it, and compiles its segments once.

use std::collections::HashMap;
use std::sync::RwLock;

use burn_dispatch::DispatchDevice;
use fedround_dsl::{Algorithm, Objective, Phase, phases_for, stage_evaluations};
use fedround_ir::fed::{Kind, Module};
use fedround_passes::PassManager;
use fedround_passes::fed::{Warning as SpecWarning, lay_out, link_with, zero_trees, zeros};
use fedround_passes::report::{Wire, wire};
use fedround_passes::schedule::{schedule, stream};
use fedround_trace::TracedModel;

use super::infer_shapes::StateTypes;
use super::warnings::{Warning, missing_layers, moves_statistics, returned_unchanged};
use super::{CompileError, EarlierPhase, Program};
use crate::autotune::ConvPolicy;
use crate::precision::Precision;
use crate::target::Target;

/// The most bytes of the inputs of one batch.
const MAX_BATCH_BYTES: u64 = 4 << 30;

/// A [`Target`] whose device is open.
#[derive(Clone)]
pub(super) struct OpenTarget {
    pub device: DispatchDevice,
    /// The float type of the operands of products.
    pub precision: Precision,
    pub convolutions: ConvPolicy,
    pub exact_convolutions: bool,
}

impl Program {
    /// Stages, links and schedules an algorithm for the CPU, and compiles its segments once, so that an error
    /// in one appears here and not in the first round.
    ///
    /// # Errors
    ///
    /// See [`CompileError`]. An error in the spec names its line.
    pub fn compile(algorithm: &dyn Algorithm, model: TracedModel) -> Result<Self, CompileError> {
        Self::compile_for(algorithm, model, Target::default())
    }

    /// As [`compile`](Self::compile), for a target: a device, or a device
    /// [with a precision](crate::Device::with_precision).
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

    /// As [`compile_for`](Self::compile_for), with a pass manager of the caller. It times the passes over the
    /// module and its graphs. Its observer also sees segments that are compiled later, for other shapes.
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
        let target = OpenTarget {
            device: target.open()?,
            precision: target.precision,
            convolutions: target.convolutions,
            exact_convolutions: target.exact_convolutions,
        };
        let mut this = Self::compile_phases(staged, model, target, passes)?;
        this.check_states(&this, algorithm)?;
        this.retain_warnings_for_evaluations(algorithm, &objective)?;
        Ok(this)
    }

    /// Compiles the phases of an algorithm. The result is the program of the last phase, which holds those of the
    /// earlier ones.
    pub(super) fn compile_phases(
        mut staged: Vec<Phase>,
        model: TracedModel,
        target: OpenTarget,
        passes: &mut PassManager,
    ) -> Result<Self, CompileError> {
        let last = staged.pop().ok_or(CompileError::NoRound)?;
        let mut earlier = vec![];
        let mut state_types = StateTypes::new();
        for phase in staged {
            let (model, target) = (model.copy(), target.clone());
            let program = Self::compile_staged(phase.module, model, target, &state_types, passes)?;
            state_types.clone_from(&program.state_types);
            earlier.push(EarlierPhase {
                name: phase.name.unwrap_or_default(),
                rounds: phase.rounds.unwrap_or_default(),
                program,
            });
        }
        let mut this = Self::compile_staged(last.module, model, target, &state_types, passes)?;
        this.earlier = earlier;
        this.retain_warnings_of_all_phases();
        Ok(this)
    }

    /// Checks that a batch fits in memory. Steps are traced with batches of the size in the spec, even if the
    /// clients have fewer examples.
    fn check_batches(&self) -> Result<(), CompileError> {
        let bytes_per_example = 4 * self.model.input(1).len() as u64;
        let sizes = self.batch_sizes().into_iter();
        let too_large = sizes
            .map(|batch| (batch, bytes_per_example.saturating_mul(batch as u64)))
            .find(|(_, bytes)| *bytes > MAX_BATCH_BYTES);
        match too_large {
            Some((batch, found)) => Err(CompileError::Batch {
                batch,
                found,
                most: MAX_BATCH_BYTES,
            }),
            None => Ok(()),
        }
    }

    /// Keeps only the warnings that every phase has. A value that is unused in one phase may be used in another.
    fn retain_warnings_of_all_phases(&mut self) {
        let earlier = self.earlier.iter().map(|phase| &phase.program.warnings);
        let earlier: Vec<&Vec<Warning>> = earlier.collect();
        let mut warnings = std::mem::take(&mut self.warnings);
        warnings.retain(|w| earlier.iter().all(|phase| phase.contains(w)));
        self.warnings = warnings;
        for phase in &mut self.earlier {
            phase.program.warnings.clear();
        }
    }

    /// Drops the warnings about unread states if an evaluation reads the state.
    fn retain_warnings_for_evaluations(
        &mut self,
        algorithm: &dyn Algorithm,
        objective: &Objective,
    ) -> Result<(), CompileError> {
        let mut warnings = self.warnings.iter();
        if !warnings.any(|w| matches!(w, Warning::Spec(SpecWarning::UnreadState { .. }))) {
            return Ok(());
        }
        let evaluations = stage_evaluations(algorithm, objective)?;
        for phase in evaluations.iter().flat_map(|staged| &staged.phases) {
            let is_read =
                |w: &Warning| matches!(w, Warning::Spec(w) if w.is_of_state_read_in(&phase.module));
            self.warnings.retain(|w| !is_read(w));
        }
        Ok(())
    }

    /// Compiles one phase. `earlier` has the types of the states that earlier phases write.
    fn compile_staged(
        staged: Module,
        model: TracedModel,
        target: OpenTarget,
        earlier: &StateTypes,
        passes: &mut PassManager,
    ) -> Result<Self, CompileError> {
        let linked = link_with(staged.clone(), passes)?;
        let mut laid_out = linked.module.clone();
        lay_out(&mut laid_out, passes)?;
        let mut schedule = schedule(&laid_out).ok_or(CompileError::NoRound)?;
        stream(&mut schedule);
        let mut this = Self {
            zeros: zeros(&laid_out),
            zero_trees: zero_trees(&laid_out),
            transferred_bytes: HashMap::new(),
            state_types: StateTypes::new(),
            schedule,
            linked: linked.module,
            warnings: linked.warnings.into_iter().map(Warning::Spec).collect(),
            observer: passes.observer().cloned(),
            staged,
            model,
            target,
            segments: RwLock::default(),
            functions: RwLock::default(),
            fuse: true,
            earlier: vec![],
        };
        this.warnings
            .extend(missing_layers(&this.linked, &this.model));
        this.warnings
            .extend(moves_statistics(&this.linked, &this.model));
        let rows = wire(&this.linked);
        let unchanged = rows.iter().filter_map(returned_unchanged);
        this.warnings.extend(unchanged);
        let rows = rows.into_iter();
        let is_reduced =
            |row: &Wire| row.initial || row.encoded.is_some() || !row.without.is_empty();
        let rows = rows.filter(|row| row.kind == Kind::Params && is_reduced(row));
        let transferred_bytes = rows.map(|row| (row.value, row.parameter_bytes(&this)));
        this.transferred_bytes = transferred_bytes.collect();
        this.check_batches()?;
        this.infer_state_types(earlier, passes)?;
        this.visit_segments(this.batch_size(), &mut |variant| {
            Ok(this.segment_with(variant, passes)?.rows.clone())
        })?;
        Ok(this)
    }
}
