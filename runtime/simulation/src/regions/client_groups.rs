//! Deals the clients of a cohort to devices and groups, and prepares what each group reads.

use std::cmp::Reverse;
use std::collections::HashMap;

use burn_backend::TensorMetadata;
use fedround_ir::fed::{FedOp, OpKind, OptOp, Value};
use fedround_passes::schedule::{Block, Item};

use crate::context::RoundContext;
use crate::error::RunError;
use crate::value::RtVal;
use crate::value::batching::stack;

/// What a map reads, on one device: what all clients share is carried there once.
pub(crate) struct Given<'a> {
    operands: Vec<Operand<'a>>,
    /// Values of the server.
    pub around: Vec<(Value, RtVal)>,
}

#[allow(
    clippy::large_enum_variant,
    reason = "with GPUs built in a tensor's handle is large; few of these live at a time"
)]
enum Operand<'a> {
    Shared(RtVal),
    Each(&'a [RtVal]),
}

impl<'a> Given<'a> {
    /// What a map's operands are to the clients of a device.
    pub fn new(
        cx: &RoundContext<'_>,
        operands: &[&'a RtVal],
        around: &[(Value, RtVal)],
    ) -> Result<Self, RunError> {
        let device = cx.program.device();
        let operand = |value: &&'a RtVal| match value {
            RtVal::Clients(_, values) => Ok(Operand::Each(values)),
            RtVal::Broadcast(_, value) => Ok(Operand::Shared(value.as_ref().clone().at(device)?)),
            value => Ok(Operand::Shared((*value).clone())),
        };
        let around = around.iter().cloned();
        let around = around.map(|(v, value)| Ok((v, value.at(device)?)));
        Ok(Self {
            operands: operands
                .iter()
                .map(operand)
                .collect::<Result<_, RunError>>()?,
            around: around.collect::<Result<_, RunError>>()?,
        })
    }

    /// The arguments of a group; `None` where values of its clients do not stack.
    pub fn arguments(
        &self,
        cx: &RoundContext<'_>,
        members: &[usize],
    ) -> Result<Option<Vec<RtVal>>, RunError> {
        let device = cx.program.device();
        let mut arguments = Vec::with_capacity(self.operands.len());
        for operand in &self.operands {
            let argument = match operand {
                Operand::Shared(value) => Some(value.clone()),
                Operand::Each(values) => {
                    let own = members.iter().map(|&i| values[i].clone().at(device));
                    let mut own: Vec<RtVal> = own.collect::<Result<_, _>>()?;
                    match own.len() {
                        1 => own.pop(),
                        _ => stack(&own, device),
                    }
                }
            };
            arguments.push(argument);
        }
        Ok(arguments.into_iter().collect())
    }
}

/// Whether code makes values that have not as many rows for every client: it runs for one at a time.
fn is_ragged(block: &Block) -> bool {
    let ragged = |kind: &OpKind| {
        matches!(
            kind,
            OpKind::Opt(OptOp::OneBatch | OptOp::Collect)
                | OpKind::Fed(FedOp::LocalClasses)
                | OpKind::Opt(OptOp::SampleRows | OptOp::SmallestRows | OptOp::ForRows(_))
        )
    };
    block.items.iter().any(|(item, _)| match item {
        Item::Control(control) => {
            ragged(&control.op.kind) || control.body.as_ref().is_some_and(is_ragged)
        }
        Item::Compute(_) => false,
    })
}

/// The clients of a map in [`groups`], for devices of which there is one at least if there are clients.
pub(crate) fn deal(
    devices: &[RoundContext<'_>],
    body: &Block,
    ids: &[usize],
    operands: &[&RtVal],
) -> Vec<(usize, Vec<usize>)> {
    let Some(home) = devices.first() else {
        return vec![];
    };
    let alone = is_ragged(body);
    let sizes = devices.iter().map(|cx| if alone { 1 } else { cx.group });
    let sizes: Vec<usize> = sizes.collect();
    let shapes = |i: usize| operands.iter().map(|v| shape(v, i)).collect();
    groups(ids, &home.dataset.client_indices, &sizes, shapes)
}

/// All of so many clients in blocks of `least` clients or more, for devices of which there is one at least.
/// A map that reads the same for all clients deals those of a block to the devices and groups that it would
/// deal them to among all clients.
pub(crate) fn blocks(
    devices: &[RoundContext<'_>],
    clients: usize,
    least: usize,
) -> Vec<Vec<usize>> {
    let Some(home) = devices.first() else {
        return vec![];
    };
    let body = home.program.schedule().round.items.iter();
    let alone = body.clone().any(|(item, _)| match item {
        Item::Control(control) => control.body.as_ref().is_some_and(is_ragged),
        Item::Compute(_) => false,
    });
    let sizes = devices.iter().map(|cx| if alone { 1 } else { cx.group });
    let sizes: Vec<usize> = sizes.collect();
    let parts = &home.dataset.client_indices;
    let mut order: Vec<usize> = (0..clients).collect();
    sort(&mut order, &sizes, |&k| Reverse(parts[k].len()));
    cut(&order, &sizes, least)
}

/// Cuts clients in the order in which they are dealt into blocks that each device gets whole groups of.
fn cut(order: &[usize], sizes: &[usize], least: usize) -> Vec<Vec<usize>> {
    let whole = sizes.iter().fold(1, |all, &size| lcm(all, size.max(1))) * sizes.len();
    let length = whole * least.div_ceil(whole).max(1);
    let mut blocks: Vec<Vec<usize>> = order.chunks(length).map(<[usize]>::to_vec).collect();
    // A block with fewer clients than devices would be dealt to some of these alone.
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

/// Sorts clients for devices with groups of these sizes. Those that train alone stay in their order.
fn sort<K: Ord>(order: &mut [usize], sizes: &[usize], key: impl FnMut(&usize) -> K) {
    if sizes.iter().any(|&size| size > 1) {
        order.sort_by_cached_key(key);
    }
}

/// The device of each group of clients, and their positions in the cohort. Clients are dealt to the
/// devices in turn, so that each gets as many, and of all sizes; of device `d`, up to `sizes[d]` are
/// a group: with features and labels of the same shapes, and of like sizes, so that few sit out. Who
/// meets whom depends on these alone, never on which device is faster.
fn groups(
    ids: &[usize],
    parts: &[Vec<usize>],
    sizes: &[usize],
    shapes: impl Fn(usize) -> Vec<Vec<usize>>,
) -> Vec<(usize, Vec<usize>)> {
    let mut order: Vec<usize> = (0..ids.len()).collect();
    sort(&mut order, sizes, |&i| {
        (shapes(i), Reverse(parts[ids[i]].len()))
    });
    let mut all = vec![];
    for (device, &size) in sizes.iter().enumerate() {
        let own = order.iter().skip(device).step_by(sizes.len());
        let own: Vec<usize> = own.copied().collect();
        let alike = own.chunk_by(|&i, &j| size <= 1 || shapes(i) == shapes(j));
        let groups = alike.flat_map(|alike| alike.chunks(size.max(1)));
        let groups: Vec<&[usize]> = groups.collect();
        let done = |g: usize| (g + 1) as f64 / groups.len() as f64;
        let groups = groups.iter().enumerate();
        all.extend(groups.map(|(g, members)| (done(g), (device, members.to_vec()))));
    }
    // Results are taken in this order: none waits long if all devices take as long.
    all.sort_by(|(a, _), (b, _)| a.total_cmp(b));
    all.into_iter().map(|(_, group)| group).collect()
}

/// How often each client stands earlier in the list: not at all, but for visits.
pub(crate) fn turns(ids: &[usize]) -> Vec<usize> {
    let mut met: HashMap<usize, usize> = HashMap::new();
    let turn = |&id: &usize| {
        let met = met.entry(id).or_default();
        *met += 1;
        *met - 1
    };
    ids.iter().map(turn).collect()
}

/// The shape of the `i`-th client's features or labels; of anything else, which has one shape for
/// all clients, an empty one.
fn shape(value: &RtVal, i: usize) -> Vec<usize> {
    match value {
        RtVal::Clients(_, values) => match values.get(i) {
            Some(RtVal::Tensor(t)) => t.shape().as_slice().to_vec(),
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
        groups(&ids, &parts, sizes, |_| vec![])
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
            sort(&mut order, sizes, |&k| Reverse(parts[k].len()));
            let blocks = cut(&order, sizes, 10);
            assert!(blocks.len() > 1, "{sizes:?}");
            let most = blocks.iter().map(Vec::len).max();
            assert!(most <= Some(48 + 2), "{sizes:?}: {most:?}");
            let mut found = vec![];
            for ids in &blocks {
                let all = groups(ids, &parts, sizes, |_| vec![]).into_iter();
                let named = |members: Vec<usize>| members.iter().map(|&i| ids[i]).collect();
                found.extend(all.map(|(at, members)| (at, named(members))));
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
