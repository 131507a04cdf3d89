//! The parameters and buffers of a module as a list of named tensors.

use burn::module::{Flag, Module, ModuleMapper, ModuleVisitor, Param, ParamId};
use burn::tensor::{DispatchTensor, Tensor, TensorData};

use crate::Buffer;

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
    /// The layer that it belongs to.
    pub layer: Layer,
    /// The types of the modules that it is in, outermost first, such as `ResNet` and `BatchNorm`: a
    /// spec may name them instead of a part.
    pub modules: Vec<String>,
}

/// Layers whose parameters are initialised or laid out in their own way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Layer {
    /// burn's `Linear`: a weight `[in, out]`, which PyTorch keeps as `[out, in]`.
    Linear,
    /// burn's `Embedding`.
    Embedding,
    /// [`Lstm`](crate::layers::Lstm): weights `[in, 4 · units]`, transposed in PyTorch.
    Lstm,
    /// burn's convolutions, transposed ones too.
    Convolution,
    /// The second matrix of a low-rank adapter: a weight as of [`Linear`](Self::Linear), which is zero at first.
    AdapterOutput,
    /// Any other.
    #[default]
    Other,
}

impl Layer {
    /// The layer of a container, as burn's visitors name its type.
    fn of(container_type: &str) -> Self {
        match container_type {
            "Struct:Linear" => Self::Linear,
            "Struct:Embedding" => Self::Embedding,
            "Struct:Lstm" => Self::Lstm,
            "Struct:Conv1d"
            | "Struct:Conv2d"
            | "Struct:Conv3d"
            | "Struct:ConvTranspose1d"
            | "Struct:ConvTranspose2d"
            | "Struct:ConvTranspose3d"
            | "Struct:DeformConv2d" => Self::Convolution,
            _ => Self::Other,
        }
    }
}

impl Leaf {
    /// The value.
    pub fn value(&self) -> TensorData {
        // Its data knows its own rank.
        Tensor::<1>::from_dispatch(self.tensor.clone()).into_data()
    }
}

/// Lists a module's leaves.
#[derive(Default)]
pub(crate) struct Collect {
    path: Vec<String>,
    modules: Vec<String>,
    in_buffer: bool,
    layer: Layer,
    /// In the order of the module's fields, with their parameters' ids.
    pub leaves: Vec<(ParamId, Leaf)>,
    /// The path and the type of the first layer that asks its device whether this is training, such as burn's
    /// `Dropout`. Such layers have a flag `training`, which is set unless the layer is frozen.
    pub device_switched: Option<(String, String)>,
    /// The path of the first `BatchNorm` of burn's, frozen or not: its running statistics are no buffers, so they
    /// would be trained, and all clones of a model share them.
    pub shared_statistics: Option<String>,
}

impl Collect {
    /// The leaves of a module.
    pub fn of(model: &impl Module) -> Self {
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
    fn visit_flag(&mut self, flag: &Param<Flag>) {
        // The path ends with the name of the flag. Flags of other names may mean anything.
        let Some((name, layer)) = self.path.split_last() else {
            return;
        };
        if name != "training" {
            return;
        }
        let ty = self.modules.last().cloned().unwrap_or_default();
        if ty == "BatchNorm" {
            self.shared_statistics.get_or_insert(layer.join("."));
        } else if flag.is_enabled() {
            self.device_switched.get_or_insert((layer.join("."), ty));
        }
    }

    fn enter_module(&mut self, name: &str, container_type: &str) {
        self.in_buffer = container_type == Buffer::<1>::CONTAINER;
        self.layer = Layer::of(container_type);
        let (_, ty) = container_type.split_once(':').unwrap_or_default();
        self.modules.push(ty.to_owned());
        if !is_transparent(container_type) {
            self.path.push(name.to_owned());
        }
    }

    fn exit_module(&mut self, _name: &str, container_type: &str) {
        self.in_buffer = false;
        self.modules.pop();
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
            layer: self.layer,
            modules: self.modules.clone(),
        };
        self.leaves.push((param.id, leaf));
    }
}

/// Sets a module's leaves to other values.
pub(crate) struct Replace {
    pub values: std::vec::IntoIter<TensorData>,
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

/// Sets a module's leaves to other tensors.
pub(crate) struct ReplaceTensors {
    pub tensors: std::vec::IntoIter<DispatchTensor>,
}

impl ModuleMapper for ReplaceTensors {
    fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
        match self.tensors.next() {
            Some(tensor) => Param::initialized(param.id, Tensor::from_dispatch(tensor)),
            None => param,
        }
    }
}

/// Gives each parameter an id of its own: clones of a layer have the ids of the one that was cloned.
pub(crate) struct OwnIds;

impl ModuleMapper for OwnIds {
    fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
        Param::initialized(ParamId::new(), param.val())
    }
}
