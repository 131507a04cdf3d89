//! Privacy accounting: the ε of the noise that an algorithm adds to what clients tell, after some rounds.
//!
//! A run's [`Report`](crate::experiment::Report) has what it [`Spent`], with a [`Guarantee`] for each place of
//! noise. [`statement`] says in words what an algorithm gives before any run. Every ε is a proven bound, unless
//! it is called the usual figure, and is rounded up. Where no bound is known, there is none, and
//! [`Guarantee::no_bound`] says why.

mod bound;
mod cohort_passes;
mod grounds;
mod missed;
mod neighbours;
mod spent;
mod statement;

pub use bound::{DELTA, delta_text, smaller_delta};
pub use fedround_passes::fed::Unit;
pub use grounds::Grounds;
pub use missed::Missed;
pub use neighbours::Neighbours;
pub(crate) use spent::spent;
pub use spent::{AccountingInputs, Guarantee, NoiseSource, Spent, Total};
pub use statement::{StatementInputs, statement};
