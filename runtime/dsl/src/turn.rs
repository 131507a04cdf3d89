//! The graphs that an algorithm is staged to: one for each phase and each named evaluation.

/// Which of an algorithm's graphs is staged.
#[derive(Clone, Debug, Default)]
pub(crate) struct Turn {
    /// The phase that is staged; `None` for the rounds after the last phase.
    pub phase: Option<String>,
    /// For the evaluation of this name.
    pub evaluation: Option<String>,
}

/// What an algorithm has named while it was staged.
#[derive(Debug, Default)]
pub(crate) struct Named {
    /// Phases, with their rounds.
    pub phases: Vec<(String, usize)>,
    /// Evaluations.
    pub evaluations: Vec<String>,
}
