//! Draws from named random streams, on the server and on clients.
//!
//! The key of a draw is made of the round, the stream's name, the drawer, and how often it drew from the stream
//! before. Draws from one stream therefore do not change the draws from other streams, or any other random choice.

use fedround_exec::tensor::from_ints;
use fedround_ir::fed::Op;
use fedround_random::{Purpose, StreamKey};

use crate::context::RoundContext;
use crate::error::RunError;
use crate::value::RuntimeValue;

/// The key of a named stream in this round, before the drawer and the number of the draw.
pub(crate) fn stream_key(cx: RoundContext<'_>, name: &str) -> StreamKey {
    cx.key(Purpose::Named).with_name(name)
}

/// `fed.permutation`: a random permutation, as a tensor of indices.
pub(crate) fn permutation(
    cx: RoundContext<'_>,
    op: &Op,
    key: StreamKey,
) -> Result<RuntimeValue, RunError> {
    let n = cx.count(op, 0)?;
    let order = fedround_random::permutation(n, key).into_iter();
    let order: Vec<i32> = order.map(|i| i as i32).collect();
    let order = from_ints(order, &[n], cx.program.device());
    Ok(RuntimeValue::Tensor(order))
}
