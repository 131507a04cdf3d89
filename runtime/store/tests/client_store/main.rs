//! The store of clients' states, from outside.

#![allow(clippy::expect_used, clippy::unwrap_used, reason = "helpers of tests")]

mod damage;
mod model;
mod rollback;

use fedround_store::{ClientState, ClientStore, ElementType, TensorBytes};

/// A tensor of some numbers.
fn tensor(numbers: &[f32]) -> TensorBytes {
    TensorBytes {
        element: ElementType::F32,
        shape: vec![numbers.len()],
        data: numbers.iter().flat_map(|x| x.to_le_bytes()).collect(),
    }
}

/// A state of two tensors, the second of which is filled with `x`.
fn state(name: &str, client: usize, round: usize, x: f32, size: usize) -> ClientState {
    ClientState {
        name: name.to_owned(),
        client,
        round,
        tensors: vec![tensor(&[round as f32]), tensor(&vec![x; size])],
    }
}

/// The number with which a state is filled.
fn value(store: &ClientStore, name: &str, client: usize) -> Option<f32> {
    let tensors = store.get(name, client).unwrap()?;
    let number = tensors[1].data.first_chunk::<4>().unwrap();
    Some(f32::from_le_bytes(*number))
}
