//! Files that outlive a process: files that are written whole or not at all ([`write_atomically`]), checkpoints
//! with a checksum ([`Archive`]), and a store for the states of more clients than fit into memory
//! ([`ClientStore`]). [`hex()`] writes digests as text.
//!
//! This crate knows bytes, shapes and types, and neither burn nor devices.

mod archive;
mod archive_error;
mod atomic;
mod client_store;
mod error;
mod hex;
mod lock;
mod space;
mod tensor;

pub use archive::Archive;
pub use archive_error::ArchiveError;
pub use atomic::{write_atomically, write_secret};
pub use client_store::{ClientState, ClientStore, ClientStoreError, KEPT_CHECKPOINTS, StoreMark};
pub use error::StoreError;
pub use hex::hex;
pub use lock::FolderLock;
pub use tensor::{ElementType, TensorBytes};
