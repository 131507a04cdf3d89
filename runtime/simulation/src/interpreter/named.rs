//! Draws from named random streams, on the server and on clients.
//!
//! A draw's key is the round, the stream's name, who draws and how often they drew from it before. Draws of
//! one name, and all other random choices, therefore stay as they are where another name is drawn from.

use fedround_exec::tensor::from_ints;
use fedround_ir::fed::Op;
use fedround_random::{Drawer, Purpose, StreamKey};

use crate::context::{RoundContext, missing};
use crate::error::RunError;
use crate::value::RtVal;

/// The key of a draw.
pub(crate) fn key(cx: RoundContext<'_>, name: &str, drawer: Drawer, draws: u64) -> StreamKey {
    let key = cx.key(Purpose::Named).with_name(name);
    key.with_drawer(drawer, draws)
}

/// `fed.permutation`.
pub(crate) fn permutation(
    cx: RoundContext<'_>,
    op: &Op,
    key: StreamKey,
) -> Result<RtVal, RunError> {
    let n = op.operands.first().and_then(|v| cx.program.index(*v));
    let n = n.ok_or_else(|| missing(op, "count"))?;
    let order = fedround_random::permutation(n, key).into_iter();
    let order: Vec<i32> = order.map(|i| i as i32).collect();
    let order = from_ints(order, &[n], cx.program.device());
    Ok(RtVal::Tensor(order))
}
