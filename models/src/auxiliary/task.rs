//! The task that auxiliary networks are built for.

use std::collections::BTreeMap;

use crate::Task;

/// What auxiliary networks are built for, besides their base model.
#[derive(Clone, Debug)]
pub struct AuxiliaryTask {
    /// What the base model was built for.
    pub task: Task,
    /// How many clients there are.
    pub clients: usize,
    /// The variants of networks, by the network's name, where they are needed; the others have their
    /// defaults.
    pub variants: BTreeMap<String, String>,
}
