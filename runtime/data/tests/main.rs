//! Datasets and files of a user's own: good ones, bad ones, and ones that are damaged at random.

#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "helpers of tests"
)]

mod bad_cifar;
mod bad_idx;
mod bombs;
mod common;
mod formats;
mod fuzz;
mod own;
mod real_files;
mod text_files;
mod text_formats;
