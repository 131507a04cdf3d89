//! The standard definitions of slots, for those that are called and that no layer defines:
//!
//! - `aggregate`: the mean of what the clients trained, weighted by their examples;
//! - `direction`: the gradient of `data_loss` and `penalty`;
//! - `data_loss`: the model's [`loss`](crate::ClientCx::loss), for classifiers cross-entropy of their
//!   predictions;
//! - `penalty`: none;
//! - `personalize`: the global model;
//! - `server_direction`: the gradient of the model's loss.

use fedround_ir::fed::{HyperValue, Module, Op, OpKind, Region, Slot};

use crate::hyper_field::unknown_field;
use crate::slots::call;
use crate::{Definer, Field, Hyper, HyperError, ServerCode, grad};

/// The innermost layer of algorithms that leave slots to it.
pub(crate) struct Standard;

impl Hyper for Standard {
    fn name(&self) -> &'static str {
        "standard"
    }

    fn fields(&self) -> &'static [Field] {
        &[]
    }

    fn get(&self, _: &str) -> Option<HyperValue> {
        None
    }

    fn set_own(&mut self, field: &str, _: HyperValue) -> Result<(), HyperError> {
        Err(unknown_field("standard", field, &[]))
    }
}

impl Standard {
    /// Defines some slots as the next layer.
    pub fn define(&self, slots: &[Slot], m: &mut Definer) {
        m.layer(self);
        for slot in slots {
            match slot {
                Slot::Aggregate => m.aggregate(|_, w_k| w_k.weighted_mean(|k| k.num_examples())),
                Slot::Direction => m.direction(|k, w, b| {
                    grad(w, |w| call::data_loss(k, w, b) + call::penalty(k, w))
                }),
                Slot::DataLoss => m.data_loss(|k, w, b| k.loss(w, b)),
                Slot::Penalty => m.penalty(|_, _| 0.0.into()),
                Slot::Personalize => m.personalize(|_, w| w),
                Slot::ServerDirection => {
                    m.server_direction(|s, w, x, y| grad(w, |w| s.loss(w, x, y)));
                }
                Slot::Round | Slot::ClientUpdate => {}
            }
        }
    }
}

/// The slots with a standard definition that a module calls and that none of its layers defines,
/// those that the definitions call in turn among them.
pub(crate) fn missing(module: &Module) -> Vec<Slot> {
    let mut called = vec![];
    for func in &module.funcs {
        calls(&func.body, func.layer, &mut called);
    }
    let defined = |slot: Slot, below: usize| {
        let mut layers = module.funcs.iter().filter(|f| f.slot == slot);
        layers.any(|f| f.layer < below)
    };
    let lacks = |slot: Slot| {
        called
            .iter()
            .any(|&(s, below)| s == slot && !defined(slot, below))
    };
    let direction = lacks(Slot::Direction);
    let wanted = |slot: Slot| match slot {
        Slot::Round | Slot::ClientUpdate => false,
        Slot::DataLoss | Slot::Penalty if direction => lacks(slot) || !defined(slot, usize::MAX),
        slot => lacks(slot),
    };
    Slot::ALL.into_iter().filter(|slot| wanted(*slot)).collect()
}

/// The slots that code calls, each with the layer below which its definition must be.
fn calls(region: &Region, layer: usize, called: &mut Vec<(Slot, usize)>) {
    let ops: &[Op] = &region.ops;
    for op in ops {
        match op.kind {
            OpKind::Call(slot) => called.push((slot, usize::MAX)),
            OpKind::Super(slot) => called.push((slot, layer)),
            _ => {}
        }
        op.regions.iter().for_each(|r| calls(r, layer, called));
    }
}
