//! Low-rank adapters: a small part that trains beside weights that stay as they are.

use std::fmt;
use std::str::FromStr;

use burn::tensor::{Device, DispatchTensor, Tensor, TensorData};

use crate::{AnyTensor, CallError, ForwardCx, Layer, Leaf, Model, Objective, Output};

/// What of a model is trained and sent.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Train {
    /// All parameters.
    #[default]
    All,
    /// Adapters of the linear layers.
    LowRank(LowRank),
}

/// Low-rank adapters of linear layers. Hu et al. 2021, "LoRA: Low-Rank Adaptation of Large Language
/// Models", Eq. (3), <https://arxiv.org/abs/2106.09685>: `h = W x + (α/r) B A x`, where `W` stays as it is.
///
/// `B` begins as zeros, so that the model begins as its base.
///
/// Departs:
/// - All linear layers have adapters; the paper's are those of the queries and values of attention. The
///   rank is at most the number of inputs and that of outputs of a layer.
/// - `A` is drawn from `U(±1/√inputs)`, as in the authors' code; the paper says "random Gaussian".
/// - There is no dropout, and the base runs as in inference: normalisations use their running statistics.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LowRank {
    /// `r`, at least 1.
    pub rank: usize,
    /// `α`, above 0. In the paper it is the first `r` that is tried, which is the default of the text form.
    pub alpha: f32,
}

/// A text or a value is not a valid [`Train`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("train: expected all, lora:RANK or lora:RANK:ALPHA, as in lora:8, found `{found}`")]
pub struct TrainError {
    found: String,
}

/// A model has no linear layers that could be adapted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the model has no linear layers, which lora adapts; train all of it")]
pub struct LowRankError;

impl FromStr for Train {
    type Err = TrainError;

    fn from_str(text: &str) -> Result<Self, TrainError> {
        let error = || TrainError {
            found: text.to_owned(),
        };
        if text == "all" {
            return Ok(Self::All);
        }
        let numbers = text.strip_prefix("lora:").ok_or_else(error)?;
        let (rank, alpha) = numbers.split_once(':').unwrap_or((numbers, numbers));
        let rank: usize = rank.parse().map_err(|_| error())?;
        let alpha: f32 = alpha.parse().map_err(|_| error())?;
        match rank > 0 && alpha > 0.0 && alpha.is_finite() {
            true => Ok(Self::LowRank(LowRank { rank, alpha })),
            false => Err(error()),
        }
    }
}

impl fmt::Display for Train {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::All => f.write_str("all"),
            Self::LowRank(LowRank { rank, alpha }) if *alpha == *rank as f32 => {
                write!(f, "lora:{rank}")
            }
            Self::LowRank(LowRank { rank, alpha }) => write!(f, "lora:{rank}:{alpha}"),
        }
    }
}

impl Train {
    /// Checks a value that a program made, by the rules of its text.
    ///
    /// # Errors
    ///
    /// The rank is 0, or α is not above 0.
    pub fn check(self) -> Result<(), TrainError> {
        self.to_string().parse::<Self>().map(drop)
    }
}

impl LowRank {
    /// Names of an adapter's matrices, after that of their layer.
    const NAMES: [&'static str; 2] = ["lora_a.weight", "lora_b.weight"];

    /// The model with adapters beside its linear layers. Its leaves are those of the adapters alone:
    /// `LAYER.lora_a.weight`, `[inputs, r]`, and `LAYER.lora_b.weight`, `[r, outputs]`, in the part and
    /// the modules of their layer. The base's values become constants of what is traced.
    ///
    /// Both matrices are zeros here; a run draws the first.
    ///
    /// # Errors
    ///
    /// The model has no linear layers.
    pub fn adapt(self, base: Box<dyn Model>) -> Result<Box<dyn Model>, LowRankError> {
        let leaves = base.leaves().into_iter().enumerate();
        let adapters: Vec<Adapter> = leaves
            .filter_map(|(at, leaf)| self.adapter(at, leaf))
            .collect();
        if adapters.is_empty() {
            return Err(LowRankError);
        }
        let scale = self.alpha / self.rank as f32;
        Ok(Box::new(Adapted {
            base,
            adapters,
            scale,
        }))
    }

    /// The adapter of the base's leaf at a place, if it is a linear layer's weight.
    fn adapter(self, at: usize, leaf: Leaf) -> Option<Adapter> {
        let [inputs, outputs] = leaf.shape[..] else {
            return None;
        };
        let layer = leaf.name.strip_suffix(".weight")?.to_owned();
        let rank = self.rank.min(inputs).min(outputs);
        let device = Tensor::<2>::from_dispatch(leaf.tensor).device();
        (leaf.layer == Layer::Linear).then(|| Adapter {
            at,
            layer,
            modules: leaf.modules,
            a: Tensor::zeros([inputs, rank], &device),
            b: Tensor::zeros([rank, outputs], &device),
        })
    }

    /// The name of the base's weight that an adapter's matrix belongs to; `None` of any other tensor.
    pub fn weight_of(name: &str) -> Option<String> {
        let mut names = Self::NAMES.iter();
        let layer = names.find_map(|own| name.strip_suffix(own))?;
        Some(format!("{layer}weight"))
    }
}

/// The adapter of a weight.
struct Adapter {
    /// The weight's place among the base's leaves.
    at: usize,
    layer: String,
    modules: Vec<String>,
    /// `[inputs, r]`.
    a: Tensor<2>,
    /// `[r, outputs]`.
    b: Tensor<2>,
}

impl Adapter {
    fn leaves(&self) -> [Leaf; 2] {
        let [a, b] = LowRank::NAMES.map(|name| format!("{}.{name}", self.layer));
        let all = [
            (a, &self.a, Layer::Linear),
            (b, &self.b, Layer::AdapterOutput),
        ];
        all.map(|(name, tensor, layer)| Leaf {
            name,
            tensor: tensor.clone().into_dispatch(),
            shape: tensor.dims().to_vec(),
            buffer: false,
            layer,
            modules: self.modules.clone(),
        })
    }
}

/// A model whose linear layers have adapters.
struct Adapted {
    base: Box<dyn Model>,
    adapters: Vec<Adapter>,
    scale: f32,
}

impl Adapted {
    /// The base with `W + (α/r) A B` in place of each `W`.
    fn with_adapters(&self) -> Box<dyn Model> {
        let leaves = self.base.leaves().into_iter();
        let mut tensors: Vec<DispatchTensor> = leaves.map(|leaf| leaf.tensor).collect();
        for adapter in &self.adapters {
            let (a, b) = (adapter.a.clone(), adapter.b.clone());
            let weight = Tensor::<2>::from_dispatch(tensors[adapter.at].clone());
            let weight = weight + a.matmul(b) * self.scale;
            tensors[adapter.at] = weight.into_dispatch();
        }
        self.base.with_tensors(tensors)
    }

    /// The same with other bases and matrices.
    fn map(
        &self,
        base: Box<dyn Model>,
        mut with: impl FnMut(&Tensor<2>) -> Tensor<2>,
    ) -> Box<dyn Model> {
        let adapters = self.adapters.iter().map(|adapter| Adapter {
            at: adapter.at,
            layer: adapter.layer.clone(),
            modules: adapter.modules.clone(),
            a: with(&adapter.a),
            b: with(&adapter.b),
        });
        Box::new(Self {
            adapters: adapters.collect(),
            base,
            scale: self.scale,
        })
    }

    fn same_base(&self) -> Box<dyn Model> {
        let leaves = self.base.leaves().into_iter();
        self.base.with_tensors(leaves.map(|l| l.tensor).collect())
    }
}

impl Model for Adapted {
    fn functions(&self) -> Vec<&'static str> {
        self.base.functions()
    }

    fn objective(&self) -> Objective {
        self.base.objective()
    }

    fn call(
        &self,
        function: &str,
        inputs: &[AnyTensor],
        _: &ForwardCx,
    ) -> Result<Output, CallError> {
        let cx = ForwardCx::inference();
        let output = self.with_adapters().call(function, inputs, &cx)?;
        // The base's buffers are no leaves.
        Ok(Output {
            value: output.value,
            buffers: vec![],
        })
    }

    fn to_device(&self, device: &Device) -> Box<dyn Model> {
        self.map(self.base.to_device(device), |matrix| {
            matrix.clone().to_device(device)
        })
    }

    fn leaves(&self) -> Vec<Leaf> {
        self.adapters.iter().flat_map(Adapter::leaves).collect()
    }

    fn with_leaves(&self, values: Vec<TensorData>) -> Box<dyn Model> {
        let mut values = values.into_iter();
        self.map(self.same_base(), |matrix| match values.next() {
            Some(data) => Tensor::from_data(data, &matrix.device()),
            None => matrix.clone(),
        })
    }

    fn with_tensors(&self, tensors: Vec<DispatchTensor>) -> Box<dyn Model> {
        let mut tensors = tensors.into_iter();
        self.map(self.same_base(), |matrix| match tensors.next() {
            Some(tensor) => Tensor::from_dispatch(tensor),
            None => matrix.clone(),
        })
    }

    fn merged(&self) -> Option<Box<dyn Model>> {
        Some(self.with_adapters())
    }
}
