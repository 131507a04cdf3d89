//! Identities of a process at a SuperLink: the key of a party, and the secret of a coordinator.

mod error;
mod executor;
mod key;
mod key_file;

#[cfg(test)]
mod tests;

pub use error::KeyError;
pub use executor::ExecutorSecret;
pub use key::NodeKey;
