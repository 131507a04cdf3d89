//! Passes over the fed and tensor dialects, one per file.

pub mod fed;
pub mod tensor;
pub mod units;
