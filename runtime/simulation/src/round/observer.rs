//! Shows an observer of the simulation the values of single clients that the server sees.

use burn::tensor::DispatchTensor;
use burn_backend::TensorMetadata;
use fedround_exec::tensor::{read, read_ints};
use fedround_ir::fed::{Kind, Value};

use crate::context::RoundContext;
use crate::error::RunError;
use crate::value::RtVal;

/// A value of one client that is on the server, as [`Simulation::run_round_observed`] shows it.
///
/// [`Simulation::run_round_observed`]: crate::Simulation::run_round_observed
#[derive(Clone, Debug, PartialEq)]
pub struct ServerObservation {
    /// The round, from 1.
    pub round: usize,
    /// The value in the linked program. Of one that a client sent, it is that of the wire table's
    /// row.
    pub value: Value,
    /// Parameters, features, labels or a number.
    pub kind: Kind,
    /// Whether the client sent it; otherwise the server made it for the client: rows that it joins
    /// with those of the others, or a weight of the client in a mean.
    pub sent: bool,
    /// The client's number.
    pub client: usize,
    /// The leaves of parameters, or the one tensor of what else there is; numbers of labels are
    /// whole.
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

/// Who looks on.
pub(crate) type Observer<'a> = &'a mut (dyn FnMut(ServerObservation) + 'a);

impl ServerObservation {
    /// A client's value; `None` of a number that it sent, or of what has no value of its own.
    fn of(
        cx: RoundContext<'_>,
        (of, sent): (Value, bool),
        client: usize,
        value: &RtVal,
    ) -> Result<Option<Self>, RunError> {
        let kind = cx.program.schedule().module.type_of(of).kind;
        let tensors = match (kind, value) {
            (Kind::Params, RtVal::Params(leaves)) => {
                leaves.iter().map(floats).collect::<Result<_, _>>()?
            }
            (Kind::Tensor, RtVal::Tensor(t)) => vec![floats(t)?],
            (Kind::Labels, RtVal::Tensor(t)) => vec![whole(t)?],
            (Kind::Scalar, RtVal::Tensor(t)) if !sent => vec![floats(t)?],
            (Kind::Scalar, RtVal::Host(x)) if !sent => vec![ObservedTensor {
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

/// Shows a client's value, if someone looks on.
pub(crate) fn show(
    look: &mut Option<Observer<'_>>,
    cx: RoundContext<'_>,
    of: (Value, bool),
    client: usize,
    value: &RtVal,
) -> Result<(), RunError> {
    if let Some(look) = look
        && let Some(seen) = ServerObservation::of(cx, of, client, value)?
    {
        look(seen);
    }
    Ok(())
}

/// Shows the values of all clients of a cohort.
pub(crate) fn show_all(
    look: &mut Option<Observer<'_>>,
    cx: RoundContext<'_>,
    of: (Value, bool),
    value: Option<&RtVal>,
) -> Result<(), RunError> {
    match value {
        Some(RtVal::Clients(ids, values)) => {
            let mut each = ids.iter().zip(values);
            each.try_for_each(|(&id, value)| show(look, cx, of, id, value))
        }
        Some(RtVal::Broadcast(ids, value)) => {
            let mut each = ids.iter();
            each.try_for_each(|&id| show(look, cx, of, id, value))
        }
        _ => Ok(()),
    }
}

fn floats(t: &DispatchTensor) -> Result<ObservedTensor, RunError> {
    Ok(ObservedTensor {
        shape: t.shape().as_slice().to_vec(),
        values: read(t.clone())?,
    })
}

fn whole(t: &DispatchTensor) -> Result<ObservedTensor, RunError> {
    let values = read_ints(t.clone())?.into_iter();
    Ok(ObservedTensor {
        shape: t.shape().as_slice().to_vec(),
        values: values.map(|x| x as f32).collect(),
    })
}
