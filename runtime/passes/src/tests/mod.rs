//! Tests of several passes together.

mod gathered;
mod optimizers;
mod turns;
