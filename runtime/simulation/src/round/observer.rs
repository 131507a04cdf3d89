//! Shows an observer of the simulation the values of single clients that the server sees, such as for attacks on
//! privacy.

use burn::tensor::DispatchTensor;
use burn_backend::TensorMetadata;
use fedround_exec::tensor::{read, read_ints};
use fedround_ir::fed::{Kind, Value};

use crate::context::RoundContext;
use crate::error::RunError;
use crate::value::RuntimeValue;

/// A value of one client on the server, as [`Simulation::run_round_observed`] shows it.
///
/// [`Simulation::run_round_observed`]: crate::Simulation::run_round_observed
#[derive(Clone, Debug, PartialEq)]
pub struct ServerObservation {
    /// The round, from 1.
    pub round: usize,
    /// The value in the linked program. If a client sent it, the wire table has a row for it.
    pub value: Value,
    /// Parameters, features, labels or a number.
    pub kind: Kind,
    /// Whether the client sent it. Otherwise the server computed it for the client: rows that it concatenates with
    /// those of other clients, or the client's weight in a mean.
    pub sent: bool,
    /// The client's number.
    pub client: usize,
    /// The leaves of parameters, or a single tensor for other kinds. The elements of labels are whole numbers.
    pub tensors: Vec<ObservedTensor>,
}

/// A tensor in host memory.
#[derive(Clone, Debug, PartialEq)]
pub struct ObservedTensor {
    /// Its sizes.
    pub shape: Vec<usize>,
    /// Its elements in row-major order.
    pub values: Vec<f32>,
}

/// A function that is shown the values of single clients.
pub(crate) type Observer<'a> = &'a mut (dyn FnMut(ServerObservation) + 'a);

impl ServerObservation {
    /// A client's value, read into host memory. `None` if it is a number that the client sent, or a value that only
    /// exists on the client.
    fn of(
        cx: RoundContext<'_>,
        (of, sent): (Value, bool),
        client: usize,
        value: &RuntimeValue,
    ) -> Result<Option<Self>, RunError> {
        let kind = cx.program.schedule().module.type_of(of).kind;
        let tensors = match (kind, value) {
            (Kind::Params, RuntimeValue::Params(leaves)) => leaves
                .iter()
                .map(observed_floats)
                .collect::<Result<_, _>>()?,
            (Kind::Tensor, RuntimeValue::Tensor(t)) => vec![observed_floats(t)?],
            (Kind::Labels, RuntimeValue::Tensor(t)) => vec![observed_ints(t)?],
            (Kind::Scalar, RuntimeValue::Tensor(t)) if !sent => vec![observed_floats(t)?],
            (Kind::Scalar, RuntimeValue::Number(x)) if !sent => vec![ObservedTensor {
                shape: vec![1],
                values: vec![*x as f32],
            }],
            _ => return Ok(None),
        };
        Ok(Some(Self {
            round: cx.round,
            value: of,
            kind,
            sent,
            client,
            tensors,
        }))
    }
}

/// Shows a client's value to the observer, if there is one. `of` is the value in the program, and whether the client
/// sent it.
pub(crate) fn show(
    observer: &mut Option<Observer<'_>>,
    cx: RoundContext<'_>,
    of: (Value, bool),
    client: usize,
    value: &RuntimeValue,
) -> Result<(), RunError> {
    if let Some(observer) = observer
        && let Some(observation) = ServerObservation::of(cx, of, client, value)?
    {
        observer(observation);
    }
    Ok(())
}

/// Shows the values of all clients of a cohort.
pub(crate) fn show_all(
    observer: &mut Option<Observer<'_>>,
    cx: RoundContext<'_>,
    of: (Value, bool),
    value: Option<&RuntimeValue>,
) -> Result<(), RunError> {
    let Some((ids, values)) = value.and_then(RuntimeValue::by_client) else {
        return Ok(());
    };
    let mut each = ids.iter().zip(values);
    each.try_for_each(|(&id, value)| show(observer, cx, of, id, value))
}

/// A tensor of floats, in host memory.
fn observed_floats(t: &DispatchTensor) -> Result<ObservedTensor, RunError> {
    Ok(ObservedTensor {
        shape: t.shape().as_slice().to_vec(),
        values: read(t.clone())?,
    })
}

/// A tensor of integers, in host memory.
fn observed_ints(t: &DispatchTensor) -> Result<ObservedTensor, RunError> {
    let values = read_ints(t.clone())?.into_iter();
    Ok(ObservedTensor {
        shape: t.shape().as_slice().to_vec(),
        values: values.map(|x| x as f32).collect(),
    })
}
