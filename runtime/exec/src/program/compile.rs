//! From an algorithm to a program.

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

use super::infer_shapes::Kept;
use super::warnings::{Warning, given_back, missing_layers};
use super::{CompileError, Earlier, Program};
use crate::autotune::ConvPolicy;
use crate::precision::Precision;
use crate::target::Target;

/// The largest inputs of one batch, in bytes.
const MOST_INPUTS: u64 = 4 << 30;

/// Where a program runs, and how its products are computed there.
#[derive(Clone)]
pub(super) struct Place {
    pub device: DispatchDevice,
    pub precision: Precision,
    pub convolutions: ConvPolicy,
    pub exact_convolutions: bool,
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
        let mut this = Self::compile_phases(staged, model, place, passes)?;
        this.warn_of_all_evaluations(algorithm, &objective)?;
        Ok(this)
    }

    /// Compiles phases; the program is that of the last.
    pub(super) fn compile_phases(
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

    /// Steps are traced with batches of the spec's size, before clients have smaller ones.
    fn check_batches(&self) -> Result<(), CompileError> {
        let each = 4 * self.model.input(1).len() as u64;
        let sizes = self.batch_sizes().into_iter();
        let large = sizes
            .map(|batch| (batch, each.saturating_mul(batch as u64)))
            .find(|(_, bytes)| *bytes > MOST_INPUTS);
        match large {
            Some((batch, found)) => Err(CompileError::Batch {
                batch,
                found,
                most: MOST_INPUTS,
            }),
            None => Ok(()),
        }
    }

    /// Drops warnings about values that another phase uses.
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

    /// Drops warnings about states that evaluations read.
    fn warn_of_all_evaluations(
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
            let read =
                |w: &Warning| matches!(w, Warning::Spec(w) if w.is_of_state_read_in(&phase.module));
            self.warnings.retain(|w| !read(w));
        }
        Ok(())
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
            zero_trees: zero_trees(&laid_out),
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
        this.check_batches()?;
        this.infer_kept(earlier, passes)?;
        this.visit(this.batch_size(), &mut |variant| {
            Ok(this.compiled(variant, passes)?.rows.clone())
        })?;
        Ok(this)
    }
}
