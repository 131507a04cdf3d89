//! A trained run with everything that was observed of it.

use std::path::Path;

use fedround::experiment::Run;

use super::observations::Observations;

/// A trained run as the measurements and pictures read it.
pub(super) struct Subject<'a> {
    pub spec: &'a str,
    pub run: &'a Run,
    pub observations: &'a Observations,
    pub dir: &'a Path,
}
