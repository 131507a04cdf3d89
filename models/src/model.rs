//! Models as the compiler sees them: named functions and an ordered list of named leaves.

use burn::module::Module;
use burn::tensor::{Device, DispatchTensor, Tensor, TensorData};

use crate::leaf::{Collect, OwnIds, Replace, ReplaceTensors};
use crate::{AnyTensor, CallError, ForwardCx, Function, Leaf};

/// A classifier as a burn module: features and a head on them. Implement this for your own
/// modules; [`Network`] and [`Model`] follow, with the functions `forward`, `features` and `head`.
///
/// ```
/// use burn::module::Module;
/// use burn::nn::{Linear, conv::Conv2d};
/// use burn::tensor::{Tensor, activation::relu};
/// use fedround_models::layers::{BatchNorm, Dropout};
/// use fedround_models::{Classifier, ForwardCx};
///
/// #[derive(Module, Debug)]
/// pub struct Small {
///     conv: Conv2d,
///     norm: BatchNorm,
///     dropout: Dropout,
///     head: Linear,
/// }
///
/// impl Classifier for Small {
///     fn features(&self, x: Tensor<4>, cx: &ForwardCx) -> Tensor<2> {
///         let h = relu(self.norm.forward(self.conv.forward(x), cx));
///         self.dropout.forward(h.flatten::<2>(1, 3), cx)
///     }
///
///     fn head(&self, h: Tensor<2>, _: &ForwardCx) -> Tensor<2> {
///         self.head.forward(h)
///     }
/// }
/// ```
pub trait Classifier: Module + Sync + 'static {
    /// The representation of a batch of inputs: all but the last layer. `cx` says whether this is
    /// training, to the layers that ask ([`BatchNorm`](crate::layers::BatchNorm),
    /// [`Dropout`](crate::layers::Dropout)).
    ///
    /// # Shapes
    ///
    /// - `x`: `[batch, channels, height, width]`
    /// - output: `[batch, features]`
    fn features(&self, x: Tensor<4>, cx: &ForwardCx) -> Tensor<2>;

    /// Logits of representations.
    ///
    /// # Shapes
    ///
    /// - `h`: `[batch, features]`
    /// - output: `[batch, classes]`
    fn head(&self, h: Tensor<2>, cx: &ForwardCx) -> Tensor<2>;

    /// Logits of a batch of inputs.
    ///
    /// # Shapes
    ///
    /// - `x`: `[batch, channels, height, width]`
    /// - output: `[batch, classes]`
    fn forward(&self, x: Tensor<4>, cx: &ForwardCx) -> Tensor<2> {
        self.head(self.features(x, cx), cx)
    }
}

/// A burn module with named functions: what a spec may apply to a model's parameters. Implement
/// this, instead of [`Classifier`], for models that do something else or more.
///
/// ```
/// use burn::module::Module;
/// use burn::nn::Linear;
/// use burn::tensor::Tensor;
/// use fedround_models::{ForwardCx, Function, Network};
///
/// #[derive(Module, Debug)]
/// pub struct Autoencoder {
///     encoder: Linear,
///     decoder: Linear,
/// }
///
/// impl Autoencoder {
///     fn encode(&self, x: Tensor<2>, _: &ForwardCx) -> Tensor<2> {
///         self.encoder.forward(x)
///     }
///
///     fn decode(&self, z: Tensor<2>, _: &ForwardCx) -> Tensor<2> {
///         self.decoder.forward(z)
///     }
/// }
///
/// impl Network for Autoencoder {
///     fn functions() -> Vec<Function<Self>> {
///         vec![
///             Function::new("encode", Self::encode),
///             Function::new("decode", Self::decode),
///         ]
///     }
/// }
/// ```
pub trait Network: Module + Sync + 'static {
    /// Its functions. Evaluation calls `forward`, from what the [objective](Self::objective) names to
    /// logits.
    fn functions() -> Vec<Function<Self>>
    where
        Self: Sized;

    /// Its training objective, unless an algorithm says otherwise. The default is classification.
    fn objective() -> Objective
    where
        Self: Sized,
    {
        Objective::default()
    }
}

/// The training objective of a model: the registered `loss` of `forward(x, inputs…)` and the column
/// `target`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Objective {
    /// Columns of integers that `forward` takes after `x`.
    pub inputs: &'static [&'static str],
    /// The loss.
    pub loss: &'static str,
    /// The column that predictions are compared with: `y`, the labels, or a column of integers.
    pub target: &'static str,
}

impl Default for Objective {
    /// Cross-entropy of the labels of `x`.
    fn default() -> Self {
        Self {
            inputs: &[],
            loss: "cross_entropy",
            target: "y",
        }
    }
}

impl<M: Classifier> Network for M {
    fn functions() -> Vec<Function<Self>> {
        vec![
            Function::new("forward", <Self as Classifier>::forward),
            Function::new("features", <Self as Classifier>::features),
            Function::new("head", <Self as Classifier>::head),
        ]
    }
}

/// The task that a model is built for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Task {
    /// `[channels, height, width]` of an input.
    pub input: [usize; 3],
    /// Number of classes.
    pub classes: usize,
}

/// The result of a function of a model.
#[derive(Debug)]
pub struct Output {
    /// Its value.
    pub value: AnyTensor,
    /// The next value of each buffer, in the order of the leaves: the value that the pass updated it to, or
    /// the old one.
    pub buffers: Vec<DispatchTensor>,
}

/// A [`Network`] behind a pointer.
pub trait Model: Send + Sync {
    /// The names of its functions.
    fn functions(&self) -> Vec<&'static str>;
    /// Its training objective, unless an algorithm says otherwise.
    fn objective(&self) -> Objective;
    /// Calls a function.
    ///
    /// # Errors
    ///
    /// The model has no such function, or it takes other tensors; or the call is one of training and the model
    /// has a layer of burn that cannot know it, such as burn's `Dropout`.
    fn call(
        &self,
        function: &str,
        inputs: &[AnyTensor],
        cx: &ForwardCx,
    ) -> Result<Output, CallError>;
    /// A copy on another device.
    fn to_device(&self, device: &Device) -> Box<dyn Model>;
    /// The parameters and buffers, in the order of the module's fields.
    fn leaves(&self) -> Vec<Leaf>;
    /// A copy with other values, given in the order of [`leaves`](Self::leaves).
    fn with_leaves(&self, values: Vec<TensorData>) -> Box<dyn Model>;
    /// A copy with other tensors, given in the order of [`leaves`](Self::leaves); what computed them is
    /// recorded with a function that is traced.
    fn with_tensors(&self, tensors: Vec<DispatchTensor>) -> Box<dyn Model>;
    /// The model without [adapters](crate::LowRank), whose products are added to the weights that they
    /// belong to; `None` if it has none.
    fn merged(&self) -> Option<Box<dyn Model>> {
        None
    }
}

impl<M: Network> Model for M {
    fn functions(&self) -> Vec<&'static str> {
        M::functions().iter().map(Function::name).collect()
    }

    fn objective(&self) -> Objective {
        M::objective()
    }

    fn call(
        &self,
        function: &str,
        inputs: &[AnyTensor],
        cx: &ForwardCx,
    ) -> Result<Output, CallError> {
        let functions = M::functions();
        let found = functions.iter().find(|f| f.name() == function);
        let found = found.ok_or_else(|| CallError::Unknown {
            what: CallError::FUNCTION,
            name: function.to_owned(),
            known: functions.iter().map(Function::name).collect(),
        })?;
        // A pass knows buffers by their ids.
        let this = self.clone().map(&mut OwnIds);
        let all = Collect::of(&this);
        if let Some(path) = all.shared_statistics {
            return Err(CallError::SharedStatistics { path });
        }
        if let (true, Some((path, layer))) = (cx.is_training(), all.device_switched) {
            return Err(CallError::DeviceSwitched { path, layer });
        }
        let value = found.call(&this, inputs, cx)?;
        let buffers = all.leaves.into_iter();
        let buffers = buffers
            .filter(|(_, leaf)| leaf.buffer)
            .map(|(id, leaf)| cx.updated(id).unwrap_or(leaf.tensor));
        Ok(Output {
            value,
            buffers: buffers.collect(),
        })
    }

    fn to_device(&self, device: &Device) -> Box<dyn Model> {
        Box::new(Module::to_device(self.clone(), device))
    }

    fn leaves(&self) -> Vec<Leaf> {
        let leaves = Collect::of(self).leaves.into_iter();
        leaves.map(|(_, leaf)| leaf).collect()
    }

    fn with_leaves(&self, values: Vec<TensorData>) -> Box<dyn Model> {
        let mut replace = Replace {
            values: values.into_iter(),
        };
        Box::new(self.clone().map(&mut replace))
    }

    fn with_tensors(&self, tensors: Vec<DispatchTensor>) -> Box<dyn Model> {
        let mut replace = ReplaceTensors {
            tensors: tensors.into_iter(),
        };
        Box::new(self.clone().map(&mut replace))
    }
}
