//! Laws that hold whatever the data: what an algorithm reduces to, and what its results depend on.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test stops at its first error"
)]

mod callers_examples;
mod callers_input;
mod choice;
mod client_memory;
mod clusters;
#[path = "../common/mod.rs"]
mod common;
mod counts;

mod adapters;
mod aggregation;
mod augment;
mod auxiliaries;
mod baselines;
mod batch_columns;
mod batching;
mod cohort_size;
mod compositions;
mod compression;
mod computed_weights;
mod derived;
mod descent;
mod dropout;
mod evaluations;
mod faults;
mod fed_prox;
mod first_values;
mod functions;
mod label_counts;
mod mime;
mod mixing;
mod models;
mod moved_statistics;
mod newcomer;
mod non_finite;
mod one_pass;
mod oort;
mod optimizers;
mod own_statistics;
mod papers;
mod parties;
mod peers;
mod phases;
mod precision;
mod privacy;
mod proofs;
mod prox_skip;
mod public;
mod reduction;
mod released;
mod roc_curves;
mod rows;
mod seeds;
mod seen;
mod server;
mod server_states;
mod short_runs;
mod spec_forms;
mod state;
mod tracing;
mod training;
mod turns;
mod validation;
mod words;
