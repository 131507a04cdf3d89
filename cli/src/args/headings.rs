//! Headings of groups of options in help texts.

pub(crate) const DATA: &str = "Data";
pub(crate) const MODEL: &str = "Model";
pub(crate) const PRIVACY: &str = "Noise of differential privacy";
pub(crate) const ENGINE: &str = "Devices and memory";
pub(crate) const FAULTS: &str = "Clients that fail, are late or join later";
pub(crate) const TESTS: &str = "Evaluation";
