//! Examples and the clients that own them.

use fedround_data::Examples;

/// Examples, and which of them each client has.
#[derive(Clone, Debug)]
pub struct FederatedDataset {
    /// Examples of all clients.
    pub examples: Examples,
    /// For each client, the indices of its examples.
    pub client_indices: Vec<Vec<usize>>,
}
