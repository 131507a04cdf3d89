//! A model that consists of several networks with one tree of parameters.

use burn::tensor::{Device, DispatchTensor, TensorData};

use crate::{AnyTensor, CallError, ForwardCx, Leaf, Model, Objective, Output};

/// The name that stands for all parameters of the base model where algorithms name types of layers.
pub const BASE: &str = "Model";

/// One network of an [`Assembly`].
pub struct Part {
    /// The prefix of its leaves' names. The base has an empty prefix, so that its leaves keep their names.
    pub name: &'static str,
    /// The functions that it provides, each with the network's own name for it.
    pub functions: Vec<(&'static str, &'static str)>,
    /// The network.
    pub model: Box<dyn Model>,
}

/// Several networks as one model. It has the leaves of all networks, one network after the other, and the
/// functions of all.
pub struct Assembly(Vec<Part>);

impl Assembly {
    /// Combines some networks. If two provide a function of the same name, that of the first is used.
    pub fn new(parts: Vec<Part>) -> Self {
        Self(parts)
    }

    /// Every part with another network.
    fn map(&self, mut with: impl FnMut(&dyn Model) -> Box<dyn Model>) -> Box<dyn Model> {
        let part = |part: &Part| Part {
            name: part.name,
            functions: part.functions.clone(),
            model: with(part.model.as_ref()),
        };
        Box::new(Self(self.0.iter().map(part).collect()))
    }
}

impl Part {
    /// The network's own name of a function.
    fn own(&self, function: &str) -> Option<&'static str> {
        let mut functions = self.functions.iter();
        functions.find_map(|(name, own)| (*name == function).then_some(*own))
    }

    fn leaves(&self) -> Vec<Leaf> {
        let mut leaves = self.model.leaves();
        for leaf in &mut leaves {
            if self.name.is_empty() {
                leaf.modules.push(BASE.to_owned());
            } else {
                leaf.name = format!("{}.{}", self.name, leaf.name);
            }
        }
        leaves
    }
}

impl Model for Assembly {
    fn functions(&self) -> Vec<&'static str> {
        let functions = self.0.iter().flat_map(|part| &part.functions);
        functions.map(|(name, _)| *name).collect()
    }

    fn objective(&self) -> Objective {
        // The base is the first.
        let base = self.0.first();
        base.map_or_else(Objective::default, |part| part.model.objective())
    }

    fn call(
        &self,
        function: &str,
        inputs: &[AnyTensor],
        cx: &ForwardCx,
    ) -> Result<Output, CallError> {
        let mut parts = self.0.iter().enumerate();
        let found = parts.find_map(|(i, part)| Some((i, part, part.own(function)?)));
        let (called, part, own) = found.ok_or_else(|| CallError::Unknown {
            what: CallError::FUNCTION,
            name: function.to_owned(),
            known: self.functions(),
        })?;
        let output = part.model.call(own, inputs, cx);
        let output = output.map_err(|error| error.of(function))?;
        let mut buffers = vec![];
        for (i, part) in self.0.iter().enumerate() {
            // The others did not run: their buffers are what they were.
            if i == called {
                buffers.extend(output.buffers.iter().cloned());
            } else {
                let kept = part.model.leaves().into_iter().filter(|leaf| leaf.buffer);
                buffers.extend(kept.map(|leaf| leaf.tensor));
            }
        }
        let value = output.value;
        Ok(Output { value, buffers })
    }

    fn to_device(&self, device: &Device) -> Box<dyn Model> {
        self.map(|model| model.to_device(device))
    }

    fn leaves(&self) -> Vec<Leaf> {
        self.0.iter().flat_map(Part::leaves).collect()
    }

    fn with_leaves(&self, values: Vec<TensorData>) -> Box<dyn Model> {
        let mut values = values.into_iter();
        self.map(|model| {
            let own = model.leaves().len();
            model.with_leaves(values.by_ref().take(own).collect())
        })
    }

    fn with_tensors(&self, tensors: Vec<DispatchTensor>) -> Box<dyn Model> {
        let mut tensors = tensors.into_iter();
        self.map(|model| {
            let own = model.leaves().len();
            model.with_tensors(tensors.by_ref().take(own).collect())
        })
    }

    fn merged(&self) -> Option<Box<dyn Model>> {
        let has_adapters = self.0.iter().any(|part| part.model.merged().is_some());
        has_adapters.then(|| {
            self.map(|model| {
                let leaves = model.leaves().into_iter();
                let own = || model.with_tensors(leaves.map(|leaf| leaf.tensor).collect());
                model.merged().unwrap_or_else(own)
            })
        })
    }
}
