//! Who this process is: the key of a party, and the secret of a coordinator.

mod executor;
mod key;
mod key_file;

pub use executor::ExecutorSecret;
pub use key::NodeKey;
pub use key_file::KeyError;
