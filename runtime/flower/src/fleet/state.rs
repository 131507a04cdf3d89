//! The state that a party keeps between its processes: the number of its node.

use std::path::{Path, PathBuf};

use fedround_store::write_atomically;
use serde::{Deserialize, Serialize};

use crate::error::FlowerError;
use crate::id::NodeId;

const FILE: &str = "node.json";

/// A node that this party was. A party that is started again while the SuperLink takes it for
/// online cannot ask for its number.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct NodeState {
    pub(super) node_id: NodeId,
    /// In PEM. Another key is another node.
    pub(super) public_key: String,
    /// The SuperLink's address. Another SuperLink gives another number.
    pub(super) superlink: String,
}

impl NodeState {
    pub(super) fn read(folder: &Path) -> Result<Option<Self>, FlowerError> {
        let path = file(folder);
        let failed = |problem: String| FlowerError::State {
            path: path.clone(),
            problem,
        };
        if !path.exists() {
            return Ok(None);
        }
        let text = std::fs::read(&path).map_err(|error| failed(error.to_string()))?;
        let state = serde_json::from_slice(&text).map_err(|error| failed(error.to_string()))?;
        Ok(Some(state))
    }

    pub(super) fn write(&self, folder: &Path) -> Result<(), FlowerError> {
        let path = file(folder);
        let text = serde_json::to_vec_pretty(self).map_err(|error| FlowerError::State {
            path: path.clone(),
            problem: error.to_string(),
        })?;
        Ok(write_atomically(&path, &[&text])?)
    }
}

fn file(folder: &Path) -> PathBuf {
    folder.join(FILE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_comes_back_and_a_broken_file_is_named() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(NodeState::read(folder.path()).unwrap(), None);
        let state = NodeState {
            node_id: NodeId(u64::MAX),
            public_key: "PEM".to_owned(),
            superlink: "https://example.org".to_owned(),
        };
        state.write(folder.path()).unwrap();
        assert_eq!(NodeState::read(folder.path()).unwrap(), Some(state));
        std::fs::write(file(folder.path()), "{").unwrap();
        let error = NodeState::read(folder.path()).unwrap_err();
        assert!(error.to_string().contains(FILE), "{error}");
    }
}
