//! The examples of all clients, and their assignment to clients.

use fedround_data::Examples;

/// Examples, and their assignment to clients.
#[derive(Clone, Debug)]
pub struct FederatedDataset {
    /// The examples of all clients.
    pub examples: Examples,
    /// For each client, the indices of its examples.
    pub client_indices: Vec<Vec<usize>>,
}
