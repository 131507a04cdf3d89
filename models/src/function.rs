//! Functions of models, and losses, that are called by name with tensors of any rank and kind.

use burn::tensor::{DType, DispatchTensor, Int, Tensor};
use burn_backend::TensorMetadata;
use fedround_names::{did_you_mean, nearest};

use crate::ForwardCx;

/// A tensor of floats or integers of any rank.
#[derive(Clone, Debug)]
pub struct AnyTensor(DispatchTensor);

impl AnyTensor {
    /// Size of each dimension.
    pub fn shape(&self) -> Vec<usize> {
        self.0.shape().to_vec()
    }

    /// Whether its elements are floats.
    pub fn is_float(&self) -> bool {
        TensorMetadata::dtype(&self.0).is_float()
    }

    /// What it is, for errors.
    fn describe(&self) -> String {
        let kind = if self.is_float() {
            "floats"
        } else {
            "integers"
        };
        format!("{kind} {:?}", self.shape())
    }

    /// The tensor as burn's backends hold it.
    pub fn into_dispatch(self) -> DispatchTensor {
        self.0
    }
}

impl From<DispatchTensor> for AnyTensor {
    fn from(tensor: DispatchTensor) -> Self {
        Self(tensor)
    }
}

impl<const D: usize> From<Tensor<D>> for AnyTensor {
    fn from(tensor: Tensor<D>) -> Self {
        Self(tensor.into_dispatch())
    }
}

impl<const D: usize> From<Tensor<D, Int>> for AnyTensor {
    fn from(tensor: Tensor<D, Int>) -> Self {
        Self(tensor.into_dispatch())
    }
}

/// An argument of a function or a loss: a burn tensor of floats or integers.
pub trait Argument: Sized {
    /// A description, such as `floats of rank 4`.
    fn expected() -> String;
    /// Converts a tensor, if it has the right kind and rank.
    fn take(tensor: AnyTensor) -> Option<Self>;
}

impl<const D: usize> Argument for Tensor<D> {
    fn expected() -> String {
        format!("floats of rank {D}")
    }

    fn take(tensor: AnyTensor) -> Option<Self> {
        (tensor.is_float() && tensor.shape().len() == D).then(|| Self::from_dispatch(tensor.0))
    }
}

impl<const D: usize> Argument for Tensor<D, Int> {
    fn expected() -> String {
        format!("integers of rank {D}")
    }

    fn take(tensor: AnyTensor) -> Option<Self> {
        let is_int = matches!(TensorMetadata::dtype(&tensor.0), DType::I32 | DType::I64);
        (is_int && tensor.shape().len() == D).then(|| Self::from_dispatch(tensor.0))
    }
}

/// Why a call of a function or a loss failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CallError {
    /// The name is unknown.
    #[error(
        "unknown {what} `{name}`{}; there are {}{}",
        did_you_mean(nearest(name, known.iter().copied())),
        .known.join(", "),
        elsewhere(what)
    )]
    Unknown {
        /// `function of the model`, `registered loss` or `registered function`.
        what: &'static str,
        /// The name asked for.
        name: String,
        /// All names.
        known: Vec<&'static str>,
    },
    /// A registered function is called as a loss, or a loss as a function.
    #[error(
        "`{name}` is a registered {is}: call it by `{is}(\"{name}\", ..)`, which gives a {gives}"
    )]
    Kind {
        /// The name asked for.
        name: String,
        /// `loss` or `function`.
        is: &'static str,
        /// What a call of it gives.
        gives: &'static str,
    },
    /// The number of tensors is wrong.
    #[error("`{name}` takes {expected} tensors, found {found}")]
    Arity {
        /// The function or the loss.
        name: String,
        /// How many it takes.
        expected: usize,
        /// How many were given.
        found: usize,
    },
    /// A tensor has the wrong kind or rank.
    #[error("`{name}` takes {expected} as its tensor {index}, found {found}")]
    Argument {
        /// The function or the loss.
        name: String,
        /// Which of its tensors, from 1.
        index: usize,
        /// Kind and rank.
        expected: String,
        /// Kind and shape.
        found: String,
    },
    /// A registered loss gives several numbers, such as one for each example.
    #[error(
        "loss `{name}` gives a tensor of shape [{numbers}], expected one number, of shape [1]; end it in `.mean()` or `.sum()`"
    )]
    NotOneNumber {
        /// The loss.
        name: String,
        /// How many numbers it gives.
        numbers: usize,
    },
    /// burn's own batch normalisation. Its running statistics are no buffers: they would be trained as weights are, and
    /// all clones of a model share them.
    #[error(
        "the model's layer `{path}` is burn's own `BatchNorm`, whose running statistics cannot be traced; use `fedround::models::layers::BatchNorm`"
    )]
    SharedStatistics {
        /// Where the layer is in the model.
        path: String,
    },
    /// A layer asks its device whether this is training, and is told no while it is traced. The model would be
    /// trained without it.
    #[error(
        "the model's layer `{path}` is a `{layer}` that does in a traced model what it does in inference; use {instead}, or, if that is meant, set its `training` to `Param::from_bool(false)`, also of a layer inside another one by `.freeze_group(ParamGroup::from_predicate(\"training\"))`",
        instead = match &**layer {
            "Dropout" => "`fedround::models::layers::Dropout`",
            _ => "a layer that asks the `ForwardCx`",
        }
    )]
    DeviceSwitched {
        /// Where the layer is in the model.
        path: String,
        /// Its type.
        layer: String,
    },
}

/// Where there are more functions than the model has, or how to register more.
fn elsewhere(what: &str) -> &'static str {
    match what {
        CallError::FUNCTION => "; the networks in `AUXILIARIES` give more, which `assemble` adds",
        CallError::REGISTERED_LOSS => {
            "; register your own by `Cli::loss`, or from Rust by `Losses::with`"
        }
        CallError::REGISTERED_FUNCTION => {
            "; register your own by `Cli::function`, or from Rust by `Losses::with_function`"
        }
        _ => "",
    }
}

impl CallError {
    /// What a model has, among what may be [unknown](Self::Unknown).
    pub(crate) const FUNCTION: &str = "function of the model";
    /// What algorithms call by `loss`.
    pub(crate) const REGISTERED_LOSS: &str = "registered loss";
    /// What algorithms call by `function`.
    pub(crate) const REGISTERED_FUNCTION: &str = "registered function";

    /// The same of a function that is known by another name.
    pub(crate) fn of(mut self, function: &str) -> Self {
        match &mut self {
            Self::Unknown { .. }
            | Self::Kind { .. }
            | Self::SharedStatistics { .. }
            | Self::DeviceSwitched { .. } => {}
            Self::Arity { name, .. }
            | Self::Argument { name, .. }
            | Self::NotOneNumber { name, .. } => function.clone_into(name),
        }
        self
    }
}

/// Takes the arguments of a call one by one.
pub(crate) struct Arguments<'a> {
    name: &'a str,
    tensors: &'a [AnyTensor],
    taken: usize,
}

impl<'a> Arguments<'a> {
    /// For a function that takes `expected` tensors.
    pub fn new(
        name: &'a str,
        tensors: &'a [AnyTensor],
        expected: usize,
    ) -> Result<Self, CallError> {
        if tensors.len() != expected {
            return Err(CallError::Arity {
                name: name.to_owned(),
                expected,
                found: tensors.len(),
            });
        }
        Ok(Self {
            name,
            tensors,
            taken: 0,
        })
    }

    /// The next argument.
    pub fn take<A: Argument>(&mut self) -> Result<A, CallError> {
        let tensor = self.tensors.get(self.taken);
        self.taken += 1;
        tensor
            .cloned()
            .and_then(A::take)
            .ok_or_else(|| CallError::Argument {
                name: self.name.to_owned(),
                index: self.taken,
                expected: A::expected(),
                found: tensor.map_or_else(|| "nothing".to_owned(), AnyTensor::describe),
            })
    }
}

type Call<M> =
    Box<dyn Fn(&M, &str, &[AnyTensor], &ForwardCx) -> Result<AnyTensor, CallError> + Send + Sync>;

/// A named function of a model: from its parameters and some tensors to one tensor.
pub struct Function<M> {
    name: &'static str,
    call: Call<M>,
}

impl<M> Function<M> {
    /// A function from a method such as `fn forward(&self, x: Tensor<4>, cx: &ForwardCx) ->
    /// Tensor<2>`, with any number of tensors up to four between the model and the context.
    pub fn new<A>(name: &'static str, method: impl Method<M, A>) -> Self {
        Self {
            name,
            call: Box::new(move |model, name, inputs, cx| method.call(model, name, inputs, cx)),
        }
    }

    /// Its name.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Calls it.
    ///
    /// # Errors
    ///
    /// Another number, kind or rank of tensors than the function takes.
    pub fn call(
        &self,
        model: &M,
        inputs: &[AnyTensor],
        cx: &ForwardCx,
    ) -> Result<AnyTensor, CallError> {
        (self.call)(model, self.name, inputs, cx)
    }
}

/// A method of a model that may be a [`Function`]. `A` is the tuple of what it takes.
pub trait Method<M, A>: Send + Sync + 'static {
    #[doc(hidden)]
    fn call(
        &self,
        model: &M,
        name: &str,
        inputs: &[AnyTensor],
        cx: &ForwardCx,
    ) -> Result<AnyTensor, CallError>;
}

macro_rules! method {
    ($count:literal: $($arg:ident)*) => {
        impl<M, F, R, $($arg: Argument),*> Method<M, ($($arg,)*)> for F
        where
            F: Fn(&M, $($arg,)* &ForwardCx) -> R + Send + Sync + 'static,
            R: Into<AnyTensor>,
        {
            #[allow(
                unused_mut,
                unused_variables,
                non_snake_case,
                reason = "types name the arguments, of which there may be none"
            )]
            fn call(
                &self,
                model: &M,
                name: &str,
                inputs: &[AnyTensor],
                cx: &ForwardCx,
            ) -> Result<AnyTensor, CallError> {
                let mut arguments = Arguments::new(name, inputs, $count)?;
                $(let $arg = arguments.take()?;)*
                Ok(self(model, $($arg,)* cx).into())
            }
        }
    };
}
method!(0:);
method!(1: A);
method!(2: A B);
method!(3: A B C);
method!(4: A B C D);
