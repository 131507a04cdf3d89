//! The run-time values of the federated dialect, and the environment that holds those of a round.

pub(crate) mod batching;

use std::collections::BTreeSet;
use std::sync::{Arc, OnceLock};

use burn::tensor::DispatchTensor;
use burn_dispatch::DispatchDevice;
use fedround_ir::fed::Value;

use fedround_exec::ExecError;
use fedround_exec::tensor::{from_floats, transfer, transfer_all};

/// What a fed value is at run time.
#[derive(Clone)]
pub(crate) enum RtVal {
    /// One tensor for each leaf of the parameters.
    Params(Vec<DispatchTensor>),
    /// A number in host memory.
    Host(f64),
    /// A tensor: a scalar of one element, inputs, features, logits or labels.
    Tensor(DispatchTensor),
    /// A mini-batch: how many examples, and the columns that the program reads.
    Batch(usize, Vec<DispatchTensor>),
    /// The client whose code runs.
    Client,
    /// The clients of a round.
    Cohort(Arc<[usize]>),
    /// One value for each client of a cohort, in its order.
    Clients(Arc<[usize]>, Vec<RtVal>),
    /// The same value on every client of a cohort.
    Broadcast(Arc<[usize]>, Box<RtVal>),
    /// A client's own value, which is at its party.
    Held,
    /// A number of each client of a group, under [`Each`](Self::Each).
    Numbers(Arc<Numbers>),
    /// The values of a group of clients, joined along a new first axis of each tensor.
    Each(Box<RtVal>),
}

/// A number of each client of a group: in host memory, where it may be a weight that nobody has to wait
/// for, and on their device once code there reads it.
pub(crate) struct Numbers {
    values: Vec<f32>,
    on_device: OnceLock<DispatchTensor>,
}

impl Numbers {
    pub fn new(values: Vec<f32>) -> Self {
        Self {
            values,
            on_device: OnceLock::new(),
        }
    }

    /// Of the `k`-th client.
    pub fn of(&self, k: usize) -> Option<f64> {
        self.values.get(k).copied().map(f64::from)
    }

    /// `[K, 1]`, on the device of the group.
    pub fn tensor(&self, device: &DispatchDevice) -> DispatchTensor {
        let copy = || from_floats(self.values.clone(), &[self.values.len(), 1], device);
        self.on_device.get_or_init(copy).clone()
    }
}

impl RtVal {
    /// A value with a client axis.
    pub fn each(value: Self) -> Self {
        Self::Each(Box::new(value))
    }

    /// The value with its tensors on a device.
    ///
    /// # Errors
    ///
    /// A device where one of them is failed.
    pub fn at(self, device: &DispatchDevice) -> Result<Self, ExecError> {
        Ok(match self {
            Self::Params(leaves) => Self::Params(transfer_all(leaves, device)?),
            Self::Tensor(t) => Self::Tensor(transfer(t, device)?),
            Self::Batch(n, columns) => Self::Batch(n, transfer_all(columns, device)?),
            Self::Clients(ids, values) => {
                let values = values.into_iter().map(|value| value.at(device));
                Self::Clients(ids, values.collect::<Result<_, _>>()?)
            }
            Self::Broadcast(ids, value) => Self::Broadcast(ids, Box::new(value.at(device)?)),
            Self::Each(value) => Self::each(value.at(device)?),
            // A device where they are read gets them then.
            Self::Numbers(own) => Self::Numbers(Arc::new(Numbers::new(own.values.clone()))),
            host @ (Self::Host(_) | Self::Client | Self::Cohort(_) | Self::Held) => host,
        })
    }

    /// The tensors of a value of one client, or of the server.
    pub fn tensors(&self) -> &[DispatchTensor] {
        match self {
            Self::Params(leaves) => leaves,
            Self::Tensor(t) => std::slice::from_ref(t),
            _ => &[],
        }
    }

    /// The value under the client axis.
    pub fn unwrapped(&self) -> &Self {
        match self {
            Self::Each(value) => value,
            other => other,
        }
    }
}

/// The values that are defined at a point of the round.
#[derive(Clone)]
pub(crate) struct Env(Vec<Option<RtVal>>);

impl Env {
    pub fn new(values: usize) -> Self {
        Self(vec![None; values])
    }

    pub fn set(&mut self, v: Value, x: RtVal) {
        self.0[v.0 as usize] = Some(x);
    }

    pub fn peek(&self, v: Value) -> Option<&RtVal> {
        self.0[v.0 as usize].as_ref()
    }

    /// Drops what there is of some clients.
    pub fn drop_clients(&mut self, dropped: &BTreeSet<usize>) {
        let left = |ids: &[usize]| {
            ids.iter()
                .copied()
                .filter(|id| !dropped.contains(id))
                .collect()
        };
        for value in self.0.iter_mut().flatten() {
            match value {
                RtVal::Cohort(ids) | RtVal::Broadcast(ids, _) => *ids = left(ids),
                RtVal::Clients(ids, values) => {
                    let mut at = ids.iter();
                    values.retain(|_| at.next().is_none_or(|id| !dropped.contains(id)));
                    *ids = left(ids);
                }
                _ => {}
            }
        }
    }

    /// Reads a value, emptying it if `last` says that nothing reads it again.
    pub fn read(&mut self, v: Value, last: &[Value]) -> Option<RtVal> {
        let slot = &mut self.0[v.0 as usize];
        if last.contains(&v) {
            slot.take()
        } else {
            slot.clone()
        }
    }
}
