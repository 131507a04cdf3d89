//! A forward pass in training or in inference, and the buffers that it updates.

use std::cell::RefCell;

use burn::module::{Module, Param, ParamId};
use burn::tensor::{DispatchTensor, Tensor};

/// What a model's forward pass is told, and what it gives back besides its result.
///
/// burn's own `BatchNorm` and `Dropout` ask the device whether they train, and would be traced in their
/// inference form; a model that has them cannot be trained. Layers that act differently in training ask this
/// instead, as those of [`layers`](crate::layers) do.
#[derive(Debug, Default)]
pub struct ForwardCx {
    training: bool,
    next: RefCell<Vec<(ParamId, DispatchTensor)>>,
}

impl ForwardCx {
    /// A pass in training: batch statistics, random masks, updates of buffers.
    pub fn training() -> Self {
        Self {
            training: true,
            ..Self::default()
        }
    }

    /// A pass in inference, which changes nothing.
    pub fn inference() -> Self {
        Self::default()
    }

    /// Whether this pass is of training.
    pub fn is_training(&self) -> bool {
        self.training
    }

    /// A buffer's value at this point of the pass: what it was last [updated](Self::update) to, or
    /// what the model holds.
    pub fn value<const D: usize>(&self, buffer: &Buffer<D>) -> Tensor<D> {
        match self.updated(buffer.value.id) {
            Some(next) => Tensor::from_dispatch(next),
            None => buffer.value.val(),
        }
    }

    /// Sets a buffer's value from here on: for the rest of the pass and for the next one. Nothing
    /// happens in inference.
    pub fn update<const D: usize>(&self, buffer: &Buffer<D>, next: Tensor<D>) {
        if self.training {
            let next = (buffer.value.id, next.into_dispatch());
            self.next.borrow_mut().push(next);
        }
    }

    /// The last update of a buffer, by its id.
    pub(crate) fn updated(&self, buffer: ParamId) -> Option<DispatchTensor> {
        let next = self.next.borrow();
        let last = next.iter().rev().find(|(id, _)| *id == buffer);
        last.map(|(_, next)| next.clone())
    }
}

/// A tensor of a model's state that no gradient trains, such as a running mean: it is sent,
/// averaged and saved with the parameters, and changed by forward passes in training alone.
#[derive(Module, Debug)]
pub struct Buffer<const D: usize> {
    value: Param<Tensor<D>>,
}

impl<const D: usize> Buffer<D> {
    /// Type of the module that holds the value, as burn's visitors name it.
    pub(crate) const CONTAINER: &'static str = "Struct:Buffer";

    /// With an initial value.
    pub fn new(value: Tensor<D>) -> Self {
        Self {
            value: Param::initialized(ParamId::new(), value),
        }
    }
}
