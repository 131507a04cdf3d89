//! Specs that compile, as users write them.

mod dp_fed_avg;
mod fed_avg;
mod fed_prox;
mod lists;
// One of its expressions begins on a line of its own.
#[rustfmt::skip]
mod locations;
mod masked_turns;
mod nested_loops;
mod operators;
mod optimizers;
mod plug_in;
mod released_inputs;
mod server_numbers;
