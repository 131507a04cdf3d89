//! Specs that compile, as users write them.

mod dp_fed_avg;
mod fed_avg;
mod fed_prox;
mod lists;
mod locations;
mod nested_loops;
mod optimizers;
mod plug_in;
mod server_numbers;
