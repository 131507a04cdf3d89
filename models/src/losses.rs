//! Losses: functions of tensors to one scalar. What a loss treats as a constant goes through
//! [`stop_gradient`](crate::stop_gradient).

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use burn::tensor::activation::{log_softmax, softplus};
use burn::tensor::{Int, Tensor};

use crate::function::Arguments;
use crate::{AnyTensor, Argument, CallError};

/// `−1/n Σ ln softmax(z)[y]`: mean over the batch, in nats.
///
/// # Shapes
///
/// - `logits`: `[batch, classes]`
/// - `labels`: `[batch]`, each in `0..classes`
/// - output: `[1]`
pub fn cross_entropy(logits: Tensor<2>, labels: Tensor<1, Int>) -> Tensor<1> {
    let [batch, _] = logits.dims();
    log_softmax(logits, 1)
        .gather(1, labels.reshape([batch, 1]))
        .mean()
        .neg()
}

/// The contrastive loss of Li, He and Song 2021 (MOON), Eq. (3): mean over the batch of
/// `−ln e^{s⁺/τ} / (e^{s⁺/τ} + e^{s⁻/τ})`, with `s⁺ = cos(z, near)` and `s⁻ = cos(z, far)`. A zero
/// vector has cosine 0 with every other.
///
/// # Shapes
///
/// - `z`, `near`, `far`: `[batch, features]`
/// - `tau`: `[1]`
/// - output: `[1]`, in nats
pub fn contrast(z: Tensor<2>, near: Tensor<2>, far: Tensor<2>, tau: Tensor<1>) -> Tensor<1> {
    let norm = |x: Tensor<2>| (x.clone() * x).sum_dim(1).add_scalar(1e-16).sqrt();
    let cosine = |other: Tensor<2>| {
        let product = (z.clone() * other.clone()).sum_dim(1);
        product / (norm(z.clone()) * norm(other))
    };
    // ln(1 + e^{(s⁻ − s⁺)/τ}), which no exponential overflows in.
    let gap = (cosine(far) - cosine(near)) / tau.reshape([1, 1]);
    softplus(gap, 1.0).mean()
}

type Call<R> = Arc<dyn Fn(&str, &[AnyTensor]) -> Result<R, CallError> + Send + Sync>;

/// A function that may be a loss: from one to four tensors of floats or integers, such as logits
/// `[batch, classes]` and labels `[batch]`, to a scalar `[1]`. `A` is the tuple of what it takes.
/// With another `R`, a function to features of that form.
pub trait Loss<A, R = Tensor<1>>: Send + Sync + 'static {
    #[doc(hidden)]
    fn call(&self, name: &str, inputs: &[AnyTensor]) -> Result<R, CallError>;
}

macro_rules! loss {
    ($count:literal: $($arg:ident)+) => {
        impl<F, R, $($arg: Argument),+> Loss<($($arg,)+), R> for F
        where
            F: Fn($($arg),+) -> R + Send + Sync + 'static,
        {
            #[allow(non_snake_case, reason = "types name the arguments")]
            fn call(&self, name: &str, inputs: &[AnyTensor]) -> Result<R, CallError> {
                let mut arguments = Arguments::new(name, inputs, $count)?;
                $(let $arg = arguments.take()?;)+
                Ok(self($($arg),+))
            }
        }
    };
}
loss!(1: A);
loss!(2: A B);
loss!(3: A B C);
loss!(4: A B C D);

/// The losses that specs may name, and other functions without parameters.
#[derive(Clone)]
pub struct Losses {
    losses: BTreeMap<&'static str, Call<Tensor<1>>>,
    functions: BTreeMap<&'static str, Call<AnyTensor>>,
}

impl fmt::Debug for Losses {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self.losses.keys().chain(self.functions.keys());
        f.debug_set().entries(names).finish()
    }
}

impl Losses {
    /// No loss and no function.
    pub(crate) fn none() -> Self {
        Self {
            losses: BTreeMap::new(),
            functions: BTreeMap::new(),
        }
    }

    /// Adds a loss, which a spec then calls with `loss("name", (&logits, &labels))`. One of the same name is
    /// replaced, also a bundled one.
    #[must_use]
    pub fn with<A>(mut self, name: &'static str, loss: impl Loss<A>) -> Self {
        let call = move |name: &str, inputs: &[AnyTensor]| loss.call(name, inputs);
        self.losses.insert(name, Arc::new(call));
        self
    }

    /// Adds a function to features, which a spec then calls with `function("name", (&x, &y))`. One of the same
    /// name is replaced, also a bundled one.
    #[must_use]
    pub fn with_function<A, R: Into<AnyTensor> + 'static>(
        mut self,
        name: &'static str,
        function: impl Loss<A, R>,
    ) -> Self {
        let call =
            move |name: &str, inputs: &[AnyTensor]| function.call(name, inputs).map(Into::into);
        self.functions.insert(name, Arc::new(call));
        self
    }

    /// The loss of a name, of some tensors.
    ///
    /// # Errors
    ///
    /// No loss has the name, or a function has it, or the loss takes another number, kind or rank of tensors, or it
    /// gives several numbers instead of one.
    pub fn call(&self, name: &str, inputs: &[AnyTensor]) -> Result<Tensor<1>, CallError> {
        let loss = self.losses.get(name).ok_or_else(|| {
            let name = name.to_owned();
            match self.functions.contains_key(&*name) {
                true => CallError::Kind {
                    name,
                    is: "function",
                    gives: "tensor",
                },
                false => CallError::Unknown {
                    what: CallError::REGISTERED_LOSS,
                    name,
                    known: self.losses.keys().copied().collect(),
                },
            }
        })?;
        let value = loss(name, inputs)?;
        match value.dims() {
            [1] => Ok(value),
            [numbers] => Err(CallError::NotOneNumber {
                name: name.to_owned(),
                numbers,
            }),
        }
    }

    /// The function of a name, of some tensors.
    ///
    /// # Errors
    ///
    /// As [`call`](Self::call).
    pub fn call_function(&self, name: &str, inputs: &[AnyTensor]) -> Result<AnyTensor, CallError> {
        let function = self.functions.get(name).ok_or_else(|| {
            let name = name.to_owned();
            match self.losses.contains_key(&*name) {
                true => CallError::Kind {
                    name,
                    is: "loss",
                    gives: "number",
                },
                false => CallError::Unknown {
                    what: CallError::REGISTERED_FUNCTION,
                    name,
                    known: self.functions.keys().copied().collect(),
                },
            }
        })?;
        function(name, inputs)
    }
}
