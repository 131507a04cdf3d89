//! What a model is to the compiler: a forward pass and an ordered list of named leaves.

use burn::module::{Module, ModuleMapper, ModuleVisitor, Param, ParamId};
use burn::tensor::{Device, DispatchTensor, Tensor, TensorData};

/// A classifier as a burn module. Implement this for your own modules; [`Model`] follows.
pub trait Classifier: Module + Sync + 'static {
    /// Logits of a batch of inputs.
    ///
    /// # Shapes
    ///
    /// - `x`: `[batch, channels, height, width]`
    /// - output: `[batch, classes]`
    fn forward(&self, x: Tensor<4>) -> Tensor<2>;
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
}

/// A [`Classifier`] behind a pointer.
pub trait Model: Send + Sync {
    /// Logits of a batch; see [`Classifier::forward`].
    fn forward(&self, x: Tensor<4>) -> Tensor<2>;
    /// A copy on another device.
    fn to_device(&self, device: &Device) -> Box<dyn Model>;
    /// The parameters, in the order of the module's fields.
    fn leaves(&self) -> Vec<Leaf>;
    /// A copy with other parameters, given in the order of [`leaves`](Self::leaves).
    fn with_leaves(&self, values: Vec<TensorData>) -> Box<dyn Model>;
}

impl<M: Classifier> Model for M {
    fn forward(&self, x: Tensor<4>) -> Tensor<2> {
        Classifier::forward(self, x)
    }

    fn to_device(&self, device: &Device) -> Box<dyn Model> {
        Box::new(Module::to_device(self.clone(), device))
    }

    fn leaves(&self) -> Vec<Leaf> {
        let mut collect = Collect::default();
        self.visit(&mut collect);
        collect.leaves
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
    leaves: Vec<Leaf>,
}

impl ModuleVisitor for Collect {
    fn enter_module(&mut self, name: &str, _container_type: &str) {
        self.path.push(name.to_owned());
    }

    fn exit_module(&mut self, _name: &str, _container_type: &str) {
        self.path.pop();
    }

    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        let tensor = param.val();
        self.leaves.push(Leaf {
            name: self.path.join("."),
            shape: tensor.dims().to_vec(),
            tensor: tensor.into_dispatch(),
        });
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
                Param::initialized(ParamId::new(), Tensor::from_data(data, &device))
            }
            None => param,
        }
    }
}
