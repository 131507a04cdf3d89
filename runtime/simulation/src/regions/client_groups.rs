//! Assigns the clients of a cohort to devices and groups, and prepares the operands of each group.

use std::cmp::Reverse;
use std::collections::HashMap;

use burn_backend::TensorMetadata;
use fedround_ir::fed::{FedOp, Module, OpKind, OptOp, Value};
use fedround_passes::schedule::{Block, Control};

use crate::context::RoundContext;
use crate::controls::controls;
use crate::error::RunError;
use crate::value::RuntimeValue;
use crate::value::batching::stack_group;

/// A map's operands on one device. Values that all clients share are copied to the device once.
pub(crate) struct DeviceOperands<'a> {
    operands: Vec<Operand<'a>>,
    /// Values of the server that the map's code reads.
    pub server_values: Vec<(Value, RuntimeValue)>,
}

#[allow(
    clippy::large_enum_variant,
    reason = "with GPUs built in a tensor's handle is large; few of these live at a time"
)]
enum Operand<'a> {
    /// One value for all clients.
    Shared(RuntimeValue),
    /// A value for each client, in the order of the cohort.
    PerClient(&'a [RuntimeValue]),
}

impl<'a> DeviceOperands<'a> {
    /// Copies the shared operands of a map to a device.
    pub fn new(
        cx: &RoundContext<'_>,
        operands: &[&'a RuntimeValue],
        server_values: &[(Value, RuntimeValue)],
    ) -> Result<Self, RunError> {
        let device = cx.program.device();
        let operand = |value: &&'a RuntimeValue| match value {
            RuntimeValue::Clients(_, values) => Ok(Operand::PerClient(values)),
            RuntimeValue::Broadcast(_, value) => {
                Ok(Operand::Shared(value.as_ref().clone().move_to(device)?))
            }
            value => Ok(Operand::Shared((*value).clone())),
        };
        let server_values = server_values.iter().cloned();
        let server_values = server_values.map(|(v, value)| Ok((v, value.move_to(device)?)));
        Ok(Self {
            operands: operands
                .iter()
                .map(operand)
                .collect::<Result<_, RunError>>()?,
            server_values: server_values.collect::<Result<_, RunError>>()?,
        })
    }

    /// The arguments of a group, stacked over its members, which are positions in the cohort. `None` if the values
    /// of the members cannot be stacked.
    pub fn arguments(
        &self,
        cx: &RoundContext<'_>,
        members: &[usize],
    ) -> Result<Option<Vec<RuntimeValue>>, RunError> {
        let device = cx.program.device();
        let mut arguments = Vec::with_capacity(self.operands.len());
        for operand in &self.operands {
            let argument = match operand {
                Operand::Shared(value) => Some(value.clone()),
                Operand::PerClient(values) => {
                    let own = members.iter().map(|&i| values[i].clone().move_to(device));
                    stack_group(own.collect::<Result<_, _>>()?, device)
                }
            };
            arguments.push(argument);
        }
        Ok(arguments.into_iter().collect())
    }
}

/// Whether code has to run for one client at a time: it makes or keeps values whose number of rows differs between
/// clients, which cannot be stacked, or it has a loop over batches in a loop over batches, whose steps clients count
/// differently.
fn is_ragged(module: &Module, block: &Block) -> bool {
    let walks_batches = |control: &Control| control.op.kind == OpKind::Opt(OptOp::ForBatches);
    controls(block).into_iter().any(|control| {
        let op = &control.op;
        let values = || op.operands.iter().chain(&op.results);
        let has_rows = || values().any(|v| module.type_of(*v).kind.has_rows());
        match &op.kind {
            OpKind::Opt(
                OptOp::OneBatch
                | OptOp::Collect
                | OptOp::SampleRows
                | OptOp::SmallestRows
                | OptOp::ForRows(_),
            )
            | OpKind::Fed(FedOp::LocalClasses) => true,
            OpKind::Opt(OptOp::ForBatches) => {
                let body = control.body.as_ref();
                has_rows() || body.is_some_and(|body| controls(body).into_iter().any(walks_batches))
            }
            kind => kind.state().is_some() && has_rows(),
        }
    })
}

/// The largest number of clients in a group, of each device. Ragged code runs for one client at a time.
fn group_sizes(devices: &[RoundContext<'_>], ragged: bool) -> Vec<usize> {
    let of = |cx: &RoundContext<'_>| if ragged { 1 } else { cx.group_size };
    devices.iter().map(of).collect()
}

/// Assigns the clients of a map to devices and [groups](device_groups). There is at least one device if there are
/// clients.
pub(crate) fn assign_groups(
    devices: &[RoundContext<'_>],
    body: &Block,
    ids: &[usize],
    operands: &[&RuntimeValue],
) -> Vec<(usize, Vec<usize>)> {
    let Some(main_device) = devices.first() else {
        return vec![];
    };
    let module = &main_device.program.schedule().module;
    let sizes = group_sizes(devices, is_ragged(module, body));
    let shapes = |i: usize| operands.iter().map(|v| shape(v, i)).collect();
    device_groups(ids, &main_device.dataset.client_indices, &sizes, shapes)
}

/// Cuts all clients into blocks of at least `min_block` clients, so that a map can run block by block. If the map's
/// operands are the same for all clients, each block is assigned to the same devices and groups as the whole would be.
pub(crate) fn client_blocks(devices: &[RoundContext<'_>], min_block: usize) -> Vec<Vec<usize>> {
    let Some(main_device) = devices.first() else {
        return vec![];
    };
    let schedule = main_device.program.schedule();
    let has_ragged_map = controls(&schedule.round).into_iter().any(|control| {
        let body = control.body.as_ref();
        let body = body.filter(|_| control.op.kind == OpKind::Fed(FedOp::Map));
        body.is_some_and(|body| is_ragged(&schedule.module, body))
    });
    let sizes = group_sizes(devices, has_ragged_map);
    let parts = &main_device.dataset.client_indices;
    let mut order: Vec<usize> = (0..main_device.clients()).collect();
    sort_for_groups(&mut order, &sizes, |&k| Reverse(parts[k].len()));
    cut_blocks(&order, &sizes, min_block)
}

/// Cuts clients, in the order in which they are assigned, into blocks of which each device gets whole groups.
fn cut_blocks(order: &[usize], sizes: &[usize], min_block: usize) -> Vec<Vec<usize>> {
    let whole = sizes.iter().fold(1, |all, &size| lcm(all, size.max(1))) * sizes.len();
    let length = whole * min_block.div_ceil(whole).max(1);
    let mut blocks: Vec<Vec<usize>> = order.chunks(length).map(<[usize]>::to_vec).collect();
    // A block with fewer clients than devices would leave some devices without clients.
    if blocks.len() > 1
        && let Some(last) = blocks.pop_if(|last| last.len() < sizes.len())
        && let Some(before) = blocks.last_mut()
    {
        before.extend(last);
    }
    blocks.iter_mut().for_each(|block| block.sort_unstable());
    blocks
}

fn lcm(a: usize, b: usize) -> usize {
    let (mut x, mut y) = (a, b);
    while y > 0 {
        (x, y) = (y, x % y);
    }
    a / x * b
}

/// Sorts clients by a key if any device trains groups of several clients. Otherwise the order stays.
fn sort_for_groups<K: Ord>(order: &mut [usize], sizes: &[usize], key: impl FnMut(&usize) -> K) {
    if sizes.iter().any(|&size| size > 1) {
        order.sort_by_cached_key(key);
    }
}

/// The groups of a cohort: for each, its device and its clients' positions in the cohort.
///
/// Clients are assigned to the devices in turn, so that each device gets equally many, with few and with many
/// examples. On device `d`, up to `sizes[d]` clients form a group. They have features and labels of the same shapes,
/// and similar numbers of examples, so that few sit out a step. The groups do not depend on the devices' speeds.
fn device_groups(
    ids: &[usize],
    parts: &[Vec<usize>],
    sizes: &[usize],
    shapes: impl Fn(usize) -> Vec<Vec<usize>>,
) -> Vec<(usize, Vec<usize>)> {
    let mut order: Vec<usize> = (0..ids.len()).collect();
    sort_for_groups(&mut order, sizes, |&i| {
        (shapes(i), Reverse(parts[ids[i]].len()))
    });
    let mut all = vec![];
    for (device, &size) in sizes.iter().enumerate() {
        let own = order.iter().skip(device).step_by(sizes.len());
        let own: Vec<usize> = own.copied().collect();
        let same_shapes = own.chunk_by(|&i, &j| size <= 1 || shapes(i) == shapes(j));
        let groups = same_shapes.flat_map(|clients| clients.chunks(size.max(1)));
        let groups: Vec<&[usize]> = groups.collect();
        let done = |g: usize| (g + 1) as f64 / groups.len() as f64;
        let groups = groups.iter().enumerate();
        all.extend(groups.map(|(g, members)| (done(g), (device, members.to_vec()))));
    }
    // Outcomes are taken in this order, interleaved so that no device waits long if all are equally fast.
    all.sort_by(|(a, _), (b, _)| a.total_cmp(b));
    all.into_iter().map(|(_, group)| group).collect()
}

/// For each client, how often it appears earlier in the list: 0, except in visits.
pub(crate) fn turns(ids: &[usize]) -> Vec<usize> {
    let mut counts: HashMap<usize, usize> = HashMap::new();
    let turn = |&id: &usize| {
        let count = counts.entry(id).or_default();
        *count += 1;
        *count - 1
    };
    ids.iter().map(turn).collect()
}

/// The shape of the `i`-th client's features or labels. Other values have the same shape for all clients; for
/// them the result is empty.
fn shape(value: &RuntimeValue, i: usize) -> Vec<usize> {
    match value {
        RuntimeValue::Clients(_, values) => match values.get(i) {
            Some(RuntimeValue::Tensor(t)) => t.shape().as_slice().to_vec(),
            _ => vec![],
        },
        _ => vec![],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The groups of clients 0, 1, … with so many examples each.
    fn dealt(examples: &[usize], sizes: &[usize]) -> Vec<(usize, Vec<usize>)> {
        let ids: Vec<usize> = (0..examples.len()).collect();
        let parts: Vec<Vec<usize>> = examples.iter().map(|&n| vec![0; n]).collect();
        device_groups(&ids, &parts, sizes, |_| vec![])
    }

    #[test]
    fn one_device_gets_all_in_order() {
        let alone = [(0, vec![0]), (0, vec![1]), (0, vec![2])];
        assert_eq!(dealt(&[1, 3, 2], &[1]), alone);
        assert_eq!(dealt(&[1, 3, 2], &[2]), [(0, vec![1, 2]), (0, vec![0])]);
    }

    #[test]
    fn devices_get_as_many_of_like_sizes() {
        let sizes = [9, 8, 7, 6, 5, 4, 3];
        let expected = [(0, vec![0, 2]), (1, vec![1, 3, 5]), (0, vec![4, 6])];
        assert_eq!(
            dealt(&sizes, &[2, 4]),
            [&expected[..1], &[expected[2].clone(), expected[1].clone()]].concat()
        );
        // Each device's groups at the pace at which it works.
        let at: Vec<usize> = dealt(&[1; 12], &[1, 3]).iter().map(|(at, _)| *at).collect();
        assert_eq!(at, [0, 0, 0, 1, 0, 0, 0, 1]);
    }

    #[test]
    fn blocks_have_the_groups_of_all_clients() {
        let examples: Vec<usize> = (0..97).map(|k| 3 + k * 7 % 11).collect();
        let parts: Vec<Vec<usize>> = examples.iter().map(|&n| vec![0; n]).collect();
        for sizes in [&[1][..], &[5], &[2, 3], &[1, 4], &[1, 1], &[8, 1, 2]] {
            let mut order: Vec<usize> = (0..97).collect();
            sort_for_groups(&mut order, sizes, |&k| Reverse(parts[k].len()));
            let blocks = cut_blocks(&order, sizes, 10);
            assert!(blocks.len() > 1, "{sizes:?}");
            let most = blocks.iter().map(Vec::len).max();
            assert!(most <= Some(48 + 2), "{sizes:?}: {most:?}");
            let mut found = vec![];
            for ids in &blocks {
                let all = device_groups(ids, &parts, sizes, |_| vec![]).into_iter();
                let named = |members: Vec<usize>| members.iter().map(|&i| ids[i]).collect();
                found.extend(all.map(|(device, members)| (device, named(members))));
            }
            let mut expected = dealt(&examples, sizes);
            expected.sort();
            found.sort();
            assert_eq!(found, expected, "{sizes:?}");
        }
    }

    #[test]
    fn a_device_without_clients_is_idle() {
        assert_eq!(dealt(&[1], &[8, 8]), [(0, vec![0])]);
        assert!(dealt(&[], &[1, 1]).is_empty());
    }
}
