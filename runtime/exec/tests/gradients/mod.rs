//! Every gradient rule, first and second order, against burn's autodiff and finite differences;
//! and every imported function's values against burn's own.
//!
//! Each case is one function of burn tensors, see [`case::Case::check`].

mod activations;
mod arithmetic;
mod attention;
mod case;
mod convolutions;
mod differences;
mod indexing;
mod losses;
mod meta;
mod methods;
mod models;
mod norms;
mod pass;
mod resampling;
mod structure;
