//! The view of a base model that auxiliary networks are built from.

use burn::tensor::{Device, Tensor};

use super::{AuxiliaryError, AuxiliaryTask};
use crate::{ForwardCx, Model};

/// What an auxiliary network is built for: the model that it stands beside and its task.
pub struct Base<'a> {
    pub(super) model: &'a dyn Model,
    pub(super) task: &'a AuxiliaryTask,
    pub(super) device: &'a Device,
}

impl Base<'_> {
    /// Size of the model's `features`; of its representation where it has none.
    pub(super) fn features(&self) -> Result<usize, AuxiliaryError> {
        match self.model.functions().contains(&"features") {
            true => self.width("features"),
            false => self.representation(),
        }
    }

    /// Size of what `represent` gives.
    pub(super) fn representation(&self) -> Result<usize, AuxiliaryError> {
        self.width(representing(self.model)?)
    }

    /// How many numbers a function gives for an image: found by running it on zeros.
    fn width(&self, function: &'static str) -> Result<usize, AuxiliaryError> {
        let [c, h, w] = self.task.task.input;
        let x = Tensor::<4>::zeros([1, c, h, w], self.device);
        let cx = ForwardCx::inference();
        let shape = self.model.call(function, &[x.into()], &cx)?.value.shape();
        match shape[..] {
            [_, width] => Ok(width),
            _ => Err(AuxiliaryError::Shape { function, shape }),
        }
    }
}

/// The function of a model that stands for `represent`.
pub(super) fn representing(model: &dyn Model) -> Result<&'static str, AuxiliaryError> {
    let functions = model.functions();
    let found = ["project", "features"]
        .into_iter()
        .find(|name| functions.contains(name));
    found.ok_or(AuxiliaryError::NoRepresentation { functions })
}
