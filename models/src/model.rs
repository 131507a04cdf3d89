//! What a model is to the compiler: a forward pass and an ordered list of named leaves.

use burn::module::{Module, ModuleMapper, ModuleVisitor, Param, ParamId};
use burn::tensor::{Device, DispatchTensor, Tensor, TensorData};

use crate::{Buffer, ForwardCx};

/// A classifier as a burn module. Implement this for your own modules; [`Model`] follows.
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
///     fn forward(&self, x: Tensor<4>, cx: &ForwardCx) -> Tensor<2> {
///         let h = relu(self.norm.forward(self.conv.forward(x), cx));
///         let h = self.dropout.forward(h.flatten::<2>(1, 3), cx);
///         self.head.forward(h)
///     }
/// }
/// ```
pub trait Classifier: Module + Sync + 'static {
    /// Logits of a batch of inputs. `cx` says whether this is training, to the layers that ask
    /// ([`BatchNorm`](crate::layers::BatchNorm), [`Dropout`](crate::layers::Dropout)).
    ///
    /// # Shapes
    ///
    /// - `x`: `[batch, channels, height, width]`
    /// - output: `[batch, classes]`
    fn forward(&self, x: Tensor<4>, cx: &ForwardCx) -> Tensor<2>;
}

/// What a model is built for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Task {
    /// `[channels, height, width]` of an input.
    pub input: [usize; 3],
    /// Number of classes.
    pub classes: usize,
}

/// One tensor of a model's parameters.
#[derive(Clone, Debug)]
pub struct Leaf {
    /// Path in the module, such as `features.conv1.weight`; its first segment is the part.
    pub name: String,
    /// The value, on the model's device.
    pub tensor: DispatchTensor,
    /// Size of each dimension.
    pub shape: Vec<usize>,
    /// Whether this is a [`Buffer`], which no gradient trains.
    pub buffer: bool,
}

/// What a forward pass gives.
#[derive(Debug)]
pub struct Output {
    /// `[batch, classes]`.
    pub logits: Tensor<2>,
    /// The next value of each buffer, in the order of the leaves: what the pass updated it to, or
    /// what it was.
    pub buffers: Vec<DispatchTensor>,
}

/// A [`Classifier`] behind a pointer.
pub trait Model: Send + Sync {
    /// A forward pass over a batch; see [`Classifier::forward`].
    fn forward(&self, x: Tensor<4>, cx: &ForwardCx) -> Output;
    /// A copy on another device.
    fn to_device(&self, device: &Device) -> Box<dyn Model>;
    /// The parameters and buffers, in the order of the module's fields.
    fn leaves(&self) -> Vec<Leaf>;
    /// A copy with other values, given in the order of [`leaves`](Self::leaves).
    fn with_leaves(&self, values: Vec<TensorData>) -> Box<dyn Model>;
}

impl<M: Classifier> Model for M {
    fn forward(&self, x: Tensor<4>, cx: &ForwardCx) -> Output {
        let logits = Classifier::forward(self, x, cx);
        let leaves = Collect::of(self).leaves.into_iter();
        let buffers = leaves
            .filter(|(_, leaf)| leaf.buffer)
            .map(|(id, leaf)| cx.updated(id).unwrap_or(leaf.tensor));
        Output {
            logits,
            buffers: buffers.collect(),
        }
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
}

#[derive(Default)]
struct Collect {
    path: Vec<String>,
    in_buffer: bool,
    leaves: Vec<(ParamId, Leaf)>,
}

impl Collect {
    fn of(model: &impl Module) -> Self {
        let mut this = Self::default();
        model.visit(&mut this);
        this
    }
}

/// Whether a container is no part of a leaf's name: the variant of an enum, or a buffer's field.
fn is_transparent(container_type: &str) -> bool {
    container_type.starts_with("Enum:") || container_type == Buffer::<1>::CONTAINER
}

impl ModuleVisitor for Collect {
    fn enter_module(&mut self, name: &str, container_type: &str) {
        self.in_buffer = container_type == Buffer::<1>::CONTAINER;
        if !is_transparent(container_type) {
            self.path.push(name.to_owned());
        }
    }

    fn exit_module(&mut self, _name: &str, container_type: &str) {
        self.in_buffer = false;
        if !is_transparent(container_type) {
            self.path.pop();
        }
    }

    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        let tensor = param.val();
        let leaf = Leaf {
            name: self.path.join("."),
            shape: tensor.dims().to_vec(),
            tensor: tensor.into_dispatch(),
            buffer: self.in_buffer,
        };
        self.leaves.push((param.id, leaf));
    }
}

struct Replace {
    values: std::vec::IntoIter<TensorData>,
}

impl ModuleMapper for Replace {
    fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
        match self.values.next() {
            Some(data) => {
                let device = param.val().device();
                Param::initialized(param.id, Tensor::from_data(data, &device))
            }
            None => param,
        }
    }
}
