//! Derives variants of a compiled program: for other phases, without fusion, or for another device.

use std::sync::RwLock;

use burn_dispatch::DispatchDevice;
use fedround_dsl::Phase;

use super::compile::OpenTarget;
use super::error::CompileError;
use super::{EarlierPhase, Program};

impl Program {
    /// Compiles other phases for the model and the target of this program.
    ///
    /// # Errors
    ///
    /// As [`compile`](Self::compile).
    pub fn compile_other_phases(&self, staged: Vec<Phase>) -> Result<Self, CompileError> {
        let target = self.target.clone();
        Self::compile_phases(staged, self.model.copy(), target, &mut self.pass_manager())
    }

    /// Turns off fedround's own fusion of ops on the CPU, to measure its effect. On other devices nothing
    /// changes.
    #[must_use]
    pub fn without_fusion(mut self) -> Self {
        self.fuse = false;
        self.segments = RwLock::default();
        let earlier = std::mem::take(&mut self.earlier).into_iter();
        let earlier = earlier.map(|phase| EarlierPhase {
            program: phase.program.without_fusion(),
            ..phase
        });
        self.earlier = earlier.collect();
        self
    }

    /// The same program for another device.
    pub fn for_device(&self, device: &DispatchDevice) -> Self {
        let earlier = self.earlier.iter().map(|phase| EarlierPhase {
            name: phase.name.clone(),
            rounds: phase.rounds,
            program: phase.program.for_device(device),
        });
        Self {
            staged: self.staged.clone(),
            linked: self.linked.clone(),
            zeros: self.zeros.clone(),
            zero_trees: self.zero_trees.clone(),
            transferred_bytes: self.transferred_bytes.clone(),
            state_types: self.state_types.clone(),
            warnings: self.warnings.clone(),
            observer: self.observer.clone(),
            schedule: self.schedule.clone(),
            model: self.model.copy(),
            target: OpenTarget {
                device: device.clone(),
                ..self.target.clone()
            },
            segments: RwLock::default(),
            functions: RwLock::default(),
            fuse: self.fuse,
            earlier: earlier.collect(),
        }
    }
}
