//! Errors of a simulation.

use fedround_data::DataError;
use fedround_exec::{CompileError, ExecError};
use fedround_ir::Loc;
use fedround_random::NoSecret;
use fedround_store::ClientStoreError;
use std::path::PathBuf;

use crate::faults::FaultsError;
use crate::non_finite::Diverged;
use crate::parties::{ContentError, PayloadError, Unreachable};

/// A round could not be run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// A segment met a new batch shape and could not be compiled for it.
    #[error(transparent)]
    Compile(CompileError),
    /// The system provided no secret for the noise of differential privacy.
    #[error(transparent)]
    Noise(#[from] NoSecret),
    /// Examples could not be read.
    #[error(transparent)]
    Data(#[from] DataError),
    /// The file of clients' states could not be read or written.
    #[error(transparent)]
    ClientStates(#[from] ClientStoreError),
    /// The file of clients' states could not be removed.
    #[error("cannot remove {}, which has the states of a run that begins anew: {source}", path.display())]
    RemoveStates {
        /// The file.
        path: PathBuf,
        /// The system's answer.
        source: std::io::Error,
    },
    /// The file named for clients' states exists and holds something else.
    #[error(
        "expected no file at {}, or one with states of clients, found another file; give the states a file of their own",
        path.display()
    )]
    NotAStatesFile {
        /// The file.
        path: PathBuf,
    },
    /// A state of a client is a mask, which cannot be written to the file of clients' states.
    #[error("the state `{name}` holds masks, and only floats and integers can be kept in a file")]
    StateOfMasks {
        /// The state.
        name: String,
    },
    /// Encoded parameters could not be decoded.
    #[error(transparent)]
    Decode(#[from] fedround_codec::DecodeError),
    /// A plan could not be run on the device.
    #[error(transparent)]
    Exec(#[from] ExecError),
    /// An operation got a value of another kind than the verifier guarantees.
    #[error("{loc}: internal error: `{op}` got no {expected}; please report this program")]
    Value {
        /// The op.
        op: String,
        /// What it needs.
        expected: &'static str,
        /// Its line in the spec.
        loc: Loc,
    },
    /// A cohort of clients by their numbers, none of which exists.
    #[error(
        "{loc}: this line names clients by number and needs at least {least} clients; the run has {clients}"
    )]
    NoClient {
        /// The federation's clients.
        clients: usize,
        /// The smallest number of clients for which the cohort is not empty.
        least: usize,
        /// The line of the spec.
        loc: Loc,
    },
    /// Rows, numbers or clients of which there are none, or weights that sum to zero.
    #[error("{loc}: there is no result: {why}")]
    Empty {
        /// The reason.
        why: &'static str,
        /// The line of the spec.
        loc: Loc,
    },
    /// A probability outside the range from 0 to 1.
    #[error("{loc}: `{op}` needs probabilities from 0 to 1, found {found}")]
    Probability {
        /// The op.
        op: String,
        /// The number.
        found: f64,
        /// The line of the spec.
        loc: Loc,
    },
    /// A score or count is NaN.
    #[error(
        "{loc}: `{op}` chooses clients by numbers, and {} is not a number; keep it finite, as by `x.max(0.0)` before a root or a logarithm",
        client.map_or_else(|| "their count".to_owned(), |k| format!("that of client {k}"))
    )]
    Score {
        /// The op.
        op: String,
        /// The client with this score; `None` for a count.
        client: Option<usize>,
        /// The line of the spec.
        loc: Loc,
    },
    /// Clients' features have different shapes, and cannot be added.
    #[error(
        "{loc}: clients' features of shapes {expected:?} and {found:?} cannot be added; give each client as many rows, or `.gather()` them"
    )]
    Rows {
        /// The shape of the first client's features.
        expected: Vec<usize>,
        /// The shape of another client's features.
        found: Vec<usize>,
        /// The line of the spec.
        loc: Loc,
    },
    /// Values whose rows belong together have different numbers of rows.
    #[error("{loc}: values used together need equally many rows; found {expected} and {found}")]
    ZippedRows {
        /// The number of rows of the first value.
        expected: usize,
        /// The number of rows of another value.
        found: usize,
        /// The line of the spec.
        loc: Loc,
    },
    /// The share of a trimmed mean is out of range.
    #[error(
        "{loc}: a share of {found} cannot be cut off at both ends of the clients' values; give one from 0 to below 0.5"
    )]
    Trim {
        /// The share.
        found: f64,
        /// The line of the spec.
        loc: Loc,
    },
    /// A tensor without a row for each client.
    #[error(
        "{loc}: `split` gives each of {clients} clients a {of}; expected a tensor with {clients} {of}s, found one of shape {found:?}"
    )]
    Split {
        /// The cohort's clients.
        clients: usize,
        /// What each of them is given.
        of: &'static str,
        /// The tensor's shape.
        found: Vec<usize>,
        /// The line of the spec.
        loc: Loc,
    },
    /// A mixing matrix of another size than the cohort's.
    #[error(
        "{loc}: {clients} clients mix; expected a matrix of shape [{clients}, {clients}], or with a row and a column for each of all clients if the cohort is of `server.all_clients()`, found one of shape {found:?}"
    )]
    Mixing {
        /// The cohort's clients.
        clients: usize,
        /// The matrix's shape.
        found: Vec<usize>,
        /// The line of the spec.
        loc: Loc,
    },
    /// A row of a mixing matrix does not sum to 1.
    #[error(
        "{loc}: row {row} of the mixing matrix sums to {found}; expected 1: divide the row by its sum, or give the client a weight of its own value"
    )]
    MixingRow {
        /// The index of the row, from 0.
        row: usize,
        /// Its sum.
        found: f32,
        /// The line of the spec.
        loc: Loc,
    },
    /// A state of features or labels is read before it is set.
    #[error(
        "{loc}: the state `{name}` is read before it is set; set it in an earlier round or phase"
    )]
    Unset {
        /// Its name.
        name: String,
        /// The line of the spec.
        loc: Loc,
    },
    /// A client has no examples to train on.
    #[error("client {client} has no examples; every client needs at least one")]
    NoExamples {
        /// The client.
        client: usize,
    },
    /// A label is not one of the model's classes.
    #[error(
        "an example has the label {label}; expected one of the {classes} classes, numbered from 0"
    )]
    Label {
        /// The label.
        label: i32,
        /// How many classes the model was built for.
        classes: usize,
    },
    /// A classifier does not give a number for each class.
    #[error(
        "the model gives {found} numbers for an example; expected {classes}, one for each class"
    )]
    Outputs {
        /// How many classes the model was built for.
        classes: usize,
        /// How many numbers it gives.
        found: usize,
    },
    /// A language model does not give a number for each token.
    #[error(
        "the model gives {found} numbers for each token of an example; expected at least {tokens}, because the largest id is {}",
        tokens.saturating_sub(1)
    )]
    TokenOutputs {
        /// One more than the largest id.
        tokens: usize,
        /// How many numbers it gives, rounded down.
        found: usize,
    },
    /// The system cannot start a thread to prepare batches, to feed a device or to write clients' states.
    #[error(
        "cannot start a thread (to prepare batches, to feed a device or to write clients' states): {0}; use fewer --threads"
    )]
    Thread(std::io::Error),
    /// The spec reads a column that the clients' examples lack.
    #[error("the spec reads column `{0}` of a batch, which the data does not have")]
    Column(String),
    /// A function of the model gives another shape than decoding needs.
    #[error("the model's `{function}` gives {found:?}, expected {expected}")]
    Decodes {
        /// The name of the function.
        function: &'static str,
        /// What decoding needs.
        expected: String,
        /// The shape that it has.
        found: Vec<usize>,
    },
    /// The algorithm reads public examples, and there are none.
    #[error(
        "{loc}: the algorithm reads public examples, and there are none; set a share of the training examples aside (`Experiment::public_share`), or give some (`Experiment::public_examples`, `Simulation::with_public`)"
    )]
    NoPublic {
        /// The line of the spec.
        loc: Loc,
    },
    /// Graph capture is required on a device that has none.
    #[error("graph capture is required, but the CPU cannot capture graphs")]
    CaptureOnCpu,
    /// A late client is the only client.
    #[error("a late client needs at least one other client; found {clients} in all")]
    NobodyElse {
        /// The number of clients, including the late client.
        clients: usize,
    },
    /// A late client takes part in every round after it has joined, which contradicts passes over all clients.
    #[error(
        "{loc}: `reshuffled` calls each client once per pass, but a late client trains in every round; remove the late client, or draw the cohort with `sample`"
    )]
    LateInPasses {
        /// The line of the spec.
        loc: Loc,
    },
    /// The stored noise of a tree does not fit the model.
    #[error("{loc}: the stored tree noise has other shapes than this model's parameters")]
    TreeNodes {
        /// The line of the spec.
        loc: Loc,
    },
    /// Losses, parameters or states became NaN or infinite.
    #[error("round {round}: {what}")]
    Diverged {
        /// The round.
        round: usize,
        /// Where it happened first.
        what: Diverged,
    },
    /// The settings of failing clients are invalid.
    #[error(transparent)]
    Faults(#[from] FaultsError),
    /// No party can be reached.
    #[error(transparent)]
    Unreachable(#[from] Unreachable),
    /// A round in which noise is told did not begin; see [`Parties::before_noise`](crate::parties::Parties::before_noise).
    #[error(
        "round {round} did not begin, because a later process would not know of its noise: {why}"
    )]
    NoiseNotNoted {
        /// The round.
        round: usize,
        /// Why it could not be written down.
        why: String,
    },
    /// A message between the server and a party cannot be written.
    #[error(transparent)]
    Payload(#[from] PayloadError),
    /// A value cannot be sent to or from a party.
    #[error(transparent)]
    Content(#[from] ContentError),
    /// Parties failed after the server had used what they sent. The simulation repeats such a round without them, and
    /// does not return this error.
    #[error("clients {clients:?} failed after they had sent values of the round")]
    Lost {
        /// The clients of these parties.
        clients: Vec<usize>,
    },
    /// An evaluation with a name cannot be made at parties.
    #[error(
        "the evaluation `{name}` cannot be made at parties, which evaluate the models without a name alone; run a simulation, or leave it out of the algorithm"
    )]
    EvaluationAtParties {
        /// The name of the evaluation.
        name: String,
    },
    /// An evaluation reads a state of the server, which parties do not have.
    #[error(
        "{loc}: an evaluation at parties cannot read states of the server; have clients keep what they need as states of their own"
    )]
    ServerStateAtParties {
        /// The line of the spec.
        loc: Loc,
    },
    /// Personal models are trained on clients' examples, which a coordinator does not have.
    #[error(
        "personal models are made where the clients' examples are, at the parties; the coordinator has none"
    )]
    PersonalModelsAtParties,
    /// Too few clients of a cohort take part. The simulation skips such a round, and does not return this error.
    #[error("{responded} of {called} clients responded; at least {needed} are needed")]
    TooFew {
        /// The number of clients that were called.
        called: usize,
        /// The number of clients that responded.
        responded: usize,
        /// The smallest number with which a round is carried out.
        needed: usize,
    },
}

impl RunError {
    /// The error if a cohort is empty: the simulation skips such a round.
    pub(crate) fn nobody() -> Self {
        Self::TooFew {
            called: 0,
            responded: 0,
            needed: 1,
        }
    }
}

impl From<CompileError> for RunError {
    fn from(error: CompileError) -> Self {
        match error {
            CompileError::Exec(error) => Self::Exec(error),
            error => Self::Compile(error),
        }
    }
}
