//! Tests the kernels against their definitions, against burn-flex, and with different numbers of threads.

#![allow(clippy::unwrap_used, reason = "a test stops at its first error")]

mod adjoint;
mod against_burn;
mod fused;
mod fused_in_place;
mod fused_product;
mod fused_sums;
mod kept_buffers;
mod matmul;
mod pools;
mod team;
mod winograd_parts;
