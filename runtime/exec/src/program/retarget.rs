//! Derives variants of a compiled program: for other phases, without fusion, or for another device.

use std::sync::RwLock;

use burn_dispatch::DispatchDevice;
use fedround_dsl::Phase;

use super::compile::Place;
use super::error::CompileError;
use super::{Earlier, Program};

impl Program {
    /// Compiles other phases for the same model and device.
    ///
    /// # Errors
    ///
    /// As [`compile`](Self::compile).
    pub fn compile_beside(&self, staged: Vec<Phase>) -> Result<Self, CompileError> {
        let place = Place {
            device: self.device.clone(),
            precision: self.precision,
            convolutions: self.convolutions.clone(),
            exact_convolutions: self.exact_convolutions,
        };
        Self::compile_phases(staged, self.model.copy(), place, &mut self.pass_manager())
    }

    /// The same program with the ops of its steps one by one, as burn has them: what fusion on the
    /// CPU gives is measured against it. On other devices nothing changes.
    #[must_use]
    pub fn without_fusion(mut self) -> Self {
        self.fuse = false;
        self.compiled = RwLock::default();
        let earlier = std::mem::take(&mut self.earlier).into_iter();
        let earlier = earlier.map(|phase| Earlier {
            program: phase.program.without_fusion(),
            ..phase
        });
        self.earlier = earlier.collect();
        self
    }

    /// The same program for another device.
    pub fn on(&self, device: &DispatchDevice) -> Self {
        let earlier = self.earlier.iter().map(|phase| Earlier {
            name: phase.name.clone(),
            rounds: phase.rounds,
            program: phase.program.on(device),
        });
        Self {
            staged: self.staged.clone(),
            linked: self.linked.clone(),
            zeros: self.zeros.clone(),
            zero_trees: self.zero_trees.clone(),
            crossing: self.crossing.clone(),
            kept: self.kept.clone(),
            warnings: self.warnings.clone(),
            observer: self.observer.clone(),
            schedule: self.schedule.clone(),
            model: self.model.copy(),
            device: device.clone(),
            precision: self.precision,
            convolutions: self.convolutions.clone(),
            exact_convolutions: self.exact_convolutions,
            compiled: RwLock::default(),
            functions: RwLock::default(),
            fuse: self.fuse,
            earlier: earlier.collect(),
        }
    }
}
