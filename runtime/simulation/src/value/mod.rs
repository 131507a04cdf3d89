//! The run-time values of the federated dialect, and the environment that holds the values of a round.

pub(crate) mod batching;

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, OnceLock};

use burn::tensor::DispatchTensor;
use burn_dispatch::DispatchDevice;
use fedround_ir::fed::Value;

use fedround_exec::ExecError;
use fedround_exec::tensor::{from_floats, transfer, transfer_all};

/// A value of a federated program at run time.
#[derive(Clone)]
pub(crate) enum RuntimeValue {
    /// Parameters: one tensor for each leaf of the model.
    Params(Vec<DispatchTensor>),
    /// A number in host memory.
    Number(f64),
    /// A tensor: a scalar of one element, inputs, features, logits or labels.
    Tensor(DispatchTensor),
    /// A mini-batch: the number of examples, and the columns that the program reads.
    Batch(usize, Vec<DispatchTensor>),
    /// A cohort: the clients' numbers.
    Cohort(Arc<[usize]>),
    /// One value for each client of a cohort, in its order.
    Clients(Arc<[usize]>, Vec<RuntimeValue>),
    /// The same value on every client of a cohort.
    Broadcast(Arc<[usize]>, Box<RuntimeValue>),
    /// A client's value that stays at its party. The server knows nothing of it.
    AtParty,
    /// A number of each client of a group; always inside [`Stacked`](Self::Stacked).
    Numbers(Arc<ClientNumbers>),
    /// The values of a group of clients, stacked along a new first axis of each tensor: the client axis.
    Stacked(Box<RuntimeValue>),
}

/// A number of each client of a group. It is in host memory, so that the server can use it as a weight without
/// waiting for the device. It is copied to the device when code reads it there.
pub(crate) struct ClientNumbers {
    /// One number for each client.
    values: Vec<f32>,
    /// The copy on the device, of shape `[K, 1]`; empty before it is needed.
    on_device: OnceLock<DispatchTensor>,
}

impl ClientNumbers {
    pub fn new(values: Vec<f32>) -> Self {
        Self {
            values,
            on_device: OnceLock::new(),
        }
    }

    /// The number of the `k`-th client.
    pub fn of(&self, k: usize) -> Option<f64> {
        self.values.get(k).copied().map(f64::from)
    }

    /// The numbers as a tensor of shape `[K, 1]` on the device of the group.
    pub fn tensor(&self, device: &DispatchDevice) -> DispatchTensor {
        let copy = || from_floats(self.values.clone(), &[self.values.len(), 1], device);
        self.on_device.get_or_init(copy).clone()
    }
}

impl RuntimeValue {
    /// Marks a value as having a client axis.
    pub fn stacked(value: Self) -> Self {
        Self::Stacked(Box::new(value))
    }

    /// As [`stacked`](Self::stacked), if the value is `grouped`, and otherwise the value itself.
    pub fn stacked_if(grouped: bool, value: Self) -> Self {
        match grouped {
            true => Self::stacked(value),
            false => value,
        }
    }

    /// Moves the tensors of a value to a device.
    ///
    /// # Errors
    ///
    /// A device that holds one of the tensors has failed.
    pub fn move_to(self, device: &DispatchDevice) -> Result<Self, ExecError> {
        Ok(match self {
            Self::Params(leaves) => Self::Params(transfer_all(leaves, device)?),
            Self::Tensor(t) => Self::Tensor(transfer(t, device)?),
            Self::Batch(n, columns) => Self::Batch(n, transfer_all(columns, device)?),
            Self::Clients(ids, values) => {
                let values = values.into_iter().map(|value| value.move_to(device));
                Self::Clients(ids, values.collect::<Result<_, _>>()?)
            }
            Self::Broadcast(ids, value) => Self::Broadcast(ids, Box::new(value.move_to(device)?)),
            Self::Stacked(value) => Self::stacked(value.move_to(device)?),
            // They are copied to the new device when code reads them there.
            Self::Numbers(own) => Self::Numbers(Arc::new(ClientNumbers::new(own.values.clone()))),
            own @ (Self::Number(_) | Self::Cohort(_) | Self::AtParty) => own,
        })
    }

    /// The values of some clients, in their order; `None` if one of them has no value, or this is no value of
    /// clients.
    pub fn of_clients(&self, ids: &Arc<[usize]>) -> Option<Cow<'_, Self>> {
        let own = self.clients()?;
        if own == ids {
            return Some(Cow::Borrowed(self));
        }
        let positions = own.iter().enumerate().map(|(i, id)| (*id, i));
        let positions: HashMap<usize, usize> = positions.collect();
        let position = |id: &usize| positions.get(id).copied();
        let positions: Vec<usize> = ids.iter().map(position).collect::<Option<_>>()?;
        let values = positions.into_iter().map(|i| self.of_client(i).cloned());
        let ids = Arc::clone(ids);
        Some(Cow::Owned(match self {
            Self::Broadcast(_, value) => Self::Broadcast(ids, value.clone()),
            _ => Self::Clients(ids, values.collect::<Option<_>>()?),
        }))
    }

    /// The clients that have a value each; `None` if this is no value of clients.
    pub fn clients(&self) -> Option<&Arc<[usize]>> {
        match self {
            Self::Clients(ids, _) | Self::Broadcast(ids, _) => Some(ids),
            _ => None,
        }
    }

    /// The [clients](Self::clients), and the value of each, in their order.
    pub fn by_client(&self) -> Option<(&Arc<[usize]>, Vec<&Self>)> {
        match self {
            Self::Clients(ids, values) => Some((ids, values.iter().collect())),
            Self::Broadcast(ids, value) => Some((ids, vec![value.as_ref(); ids.len()])),
            _ => None,
        }
    }

    /// The value of the `i`-th client of its cohort.
    pub fn of_client(&self, i: usize) -> Option<&Self> {
        match self {
            Self::Clients(_, values) => values.get(i),
            Self::Broadcast(_, value) => Some(value),
            _ => None,
        }
    }

    /// The clients that several values of clients have in common. They must be values of one cohort, of which some may
    /// lack clients that failed: the shortest list of clients is the common one.
    pub fn common_clients<'a>(values: impl Iterator<Item = &'a Self>) -> Option<Arc<[usize]>> {
        let ids = values.filter_map(Self::clients);
        ids.min_by_key(|ids| ids.len()).cloned()
    }

    /// The tensors of a value of one client, or of the server.
    pub fn tensors(&self) -> &[DispatchTensor] {
        match self {
            Self::Params(leaves) => leaves,
            Self::Tensor(t) => std::slice::from_ref(t),
            _ => &[],
        }
    }

    /// The value without the mark that it has a client axis.
    pub fn inner(&self) -> &Self {
        match self {
            Self::Stacked(value) => value,
            other => other,
        }
    }
}

/// The values of a program that are defined at a point of the round.
#[derive(Clone)]
pub(crate) struct Env(Vec<Option<RuntimeValue>>);

impl Env {
    /// An environment without values, for a program of `values` values.
    pub fn new(values: usize) -> Self {
        Self(vec![None; values])
    }

    pub fn set(&mut self, v: Value, x: RuntimeValue) {
        self.0[v.0 as usize] = Some(x);
    }

    /// Sets values in order: the arguments of a block, or the results of an operation.
    pub fn set_all(&mut self, all: &[Value], to: impl IntoIterator<Item = RuntimeValue>) {
        for (v, x) in all.iter().zip(to) {
            self.set(*v, x);
        }
    }

    /// A value, which stays defined.
    pub fn peek(&self, v: Value) -> Option<&RuntimeValue> {
        self.0[v.0 as usize].as_ref()
    }

    /// Removes clients from all cohorts, and drops their values.
    pub fn drop_clients(&mut self, dropped: &BTreeSet<usize>) {
        let left = |ids: &[usize]| {
            ids.iter()
                .copied()
                .filter(|id| !dropped.contains(id))
                .collect()
        };
        for value in self.0.iter_mut().flatten() {
            match value {
                RuntimeValue::Cohort(ids) | RuntimeValue::Broadcast(ids, _) => *ids = left(ids),
                RuntimeValue::Clients(ids, values) => {
                    let mut at = ids.iter();
                    values.retain(|_| at.next().is_none_or(|id| !dropped.contains(id)));
                    *ids = left(ids);
                }
                _ => {}
            }
        }
    }

    /// Reads a value. If it is in `last_uses`, nothing reads it again: it is moved out, so that it can be updated in
    /// place.
    pub fn read(&mut self, v: Value, last_uses: &[Value]) -> Option<RuntimeValue> {
        let slot = &mut self.0[v.0 as usize];
        if last_uses.contains(&v) {
            slot.take()
        } else {
            slot.clone()
        }
    }
}
