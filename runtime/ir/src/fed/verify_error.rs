//! The errors that the verifier reports.

use std::fmt;

use super::{Hook, Kind};
use crate::Loc;

/// A broken invariant of a fed module: which op, where, what was expected and what was found.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{loc}: {op}: {broken}")]
pub struct VerifyError {
    /// Name of the op, or of the function as `fedavg::round`.
    pub op: String,
    /// Where the user wrote it.
    pub loc: Loc,
    /// Which invariant.
    pub broken: Broken,
}

/// The invariants of the verifier, in the order of its module doc.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Broken {
    /// A value without a type.
    #[error("value {value} has no type: the module's table ends at {len}")]
    Untyped {
        /// Its number.
        value: u32,
        /// Length of the table.
        len: usize,
    },
    /// A value defined twice.
    #[error("value {value} is defined twice; every value has one definition")]
    Redefined {
        /// Its number.
        value: u32,
    },
    /// A value read where it is not defined.
    #[error(
        "value {value} is read before its definition or outside the region that defines it; yield it from that region to read it here"
    )]
    Undefined {
        /// Its number.
        value: u32,
    },
    /// A server's value in client code.
    #[error(
        "`{found}` is captured by code that runs on clients; send it with `.broadcast(&cohort)` and take it as an argument of `map`"
    )]
    Captured {
        /// Its type.
        found: String,
    },
    /// Wrong types.
    #[error("expected {what} {expected}, found {found}")]
    Types {
        /// Operands, results, region arguments or yields.
        what: &'static str,
        /// The expected types.
        expected: String,
        /// The found types.
        found: String,
    },
    /// A wrong number of regions.
    #[error("expected {expected} regions, found {found}")]
    Regions {
        /// How many it has by definition.
        expected: usize,
        /// How many were found.
        found: usize,
    },
    /// An op at the wrong place.
    #[error("runs on {expected} only, found in code of {found}")]
    Placement {
        /// Where it may run.
        expected: &'static str,
        /// Where it was found.
        found: &'static str,
    },
    /// Something that may never cross between server and clients.
    #[error(
        "`{found}` may not cross between clients and server; only parameters, numbers, and features or labels that were released may"
    )]
    Crosses {
        /// Its type.
        found: String,
    },
    /// Something derived from examples that leaves its client without a statement that it may.
    #[error(
        "`{found}` of {from} is derived from examples and leaves its client; if it may, say why: `.release(\"why\")`"
    )]
    Release {
        /// Its type.
        found: String,
        /// The op that gives it and where.
        from: String,
    },
    /// Noise on a value without a bound.
    #[error(
        "noise hides nothing of a value that may be arbitrarily large; bound each client's part of it first: `.clip(bound)`"
    )]
    NoiseWithoutClip,
    /// Noise that is none, under a claim of differential privacy.
    #[error(
        "{dp} differential privacy is claimed at {claim}, but the standard deviation of this noise is {scale}, or that times another number; expected a finite one above 0{}",
        match hypers.is_empty() {
            true => String::new(),
            false => format!(". It is computed from `{}`", hypers.join("` and `")),
        }
    )]
    NoNoise {
        /// Which is claimed.
        dp: &'static str,
        /// Where it is claimed.
        claim: String,
        /// What is known of its standard deviation.
        scale: String,
        /// The hyper-parameters that this comes from.
        hypers: Vec<String>,
    },
    /// Noise of a tree in a loop.
    #[error("noise of a tree is added once in a round; take `tree_noise` out of the loop")]
    TreeInLoop,
    /// Noise of a tree over rounds in which a client may take part several times.
    #[error(
        "noise of a tree hides clients that take part once in a pass; give it the cohort of `server.reshuffled(m)`"
    )]
    TreeCohort,
    /// An upload without noise under a claim of local differential privacy.
    #[error(
        "local differential privacy is claimed at {claim}, but what is uploaded here has no noise{}; clip it and add noise in client code: `.clip(bound).noise(sigma)` with `sigma` above 0",
        .after.as_ref().map(|at| format!(" before it is aggregated (noise is added after, at {at})")).unwrap_or_default()
    )]
    LocalDp {
        /// Where it is claimed.
        claim: String,
        /// Where the server adds noise instead, if it does.
        after: Option<String>,
    },
    /// An aggregate without noise under a claim of central differential privacy.
    #[error(
        "central differential privacy is claimed at {claim}, but this aggregate reaches {reaches} without noise on what is bounded; clip each client's part, with weights of a bound, such as `k.num_examples().min(100.0)`, and add noise to the aggregate: `.noise(sigma)` with `sigma` above 0; gradients leave running statistics in their parameters: take them of a copy, `w.replace_parts(&[\"Buffer\"], &w.zeros_like())`"
    )]
    CentralDp {
        /// Where it is claimed.
        claim: String,
        /// What it reaches.
        reaches: &'static str,
    },
    /// A personal part that a client sends.
    #[error(
        "the part `{part}` of what clients send here is personal by {from}; replace it before: `.replace_parts(&[{part:?}], &k.global_params())`"
    )]
    Personal {
        /// The part.
        part: String,
        /// Where it is declared.
        from: String,
    },
    /// A state that is read but never set.
    #[error(
        "state `{state}` is read but never set, so it would keep its first value; set it with `set_state` or `set_personal`, also in a hook that replaces the one of a base which sets it"
    )]
    NeverWritten {
        /// Its name, the layer's own.
        state: String,
    },
    /// A state that an evaluation sets.
    #[error(
        "state `{state}` is set in `{}`, but an evaluation changes nothing: the value would be lost; set it in `client_update` or `round`, or leave it out",
        .hook.name()
    )]
    SetInEvaluation {
        /// Its name, with that of its layer.
        state: String,
        /// The hook.
        hook: Hook,
    },
    /// Values of two cohorts side by side.
    #[error(
        "values of two cohorts meet: each `sample` draws other clients; draw once and broadcast everything to that cohort"
    )]
    Cohorts,
    /// A loss with an op that has no gradient because it is not of tensors.
    #[error("expected a loss of tensors, found {found} in it; {instead}")]
    InLoss {
        /// What was found.
        found: &'static str,
        /// What to do instead.
        instead: &'static str,
    },
    /// A cohort that clients did not begin in.
    #[error(
        "only clients from `server.arrivals(..)` started in earlier rounds; pass that cohort here"
    )]
    NotArrivals,
    /// A round waits for arrivals twice.
    #[error("a round waits for arrivals once: use the cohort of its first `arrivals`")]
    Arrivals,
    /// Code of a visit keeps a state.
    #[error(
        "a closure of `evaluate_on` sets client state, but runs once for each visiting value; return the value and keep it on the server"
    )]
    VisitKeeps,
    /// A measurement that is read.
    #[error(
        "`consensus()` is only a measurement; no participant receives it. Return it from the round, do not read the round's argument, start from `server.initial_params(0)`, and keep the clients' models in client states"
    )]
    Measured,
    /// An evaluation of some clients.
    #[error(
        "expected `server.all_clients()`, found another cohort in an evaluation, which makes a model for every client; let each client's code choose the model, by a state of the client or by `k.number()`"
    )]
    EvaluatesSome,
    /// An evaluation that combines values of several clients.
    #[error(
        "an evaluation makes the models of a few clients at a time, so it cannot combine values of several clients; compute this in the round, and keep it in a server state: `server.set_state(\"name\", &x)`"
    )]
    EvaluationCombines,
    /// A constant matrix with a row that is not whole.
    #[error(
        "expected rows of {columns} finite numbers, found {entries} in all; give every row of the matrix as many, and at least one"
    )]
    Matrix {
        /// Numbers in a row.
        columns: usize,
        /// Numbers in all.
        entries: usize,
    },
    /// An encoding whose length is not known.
    #[error(
        "the setting of `{encoding}` is {found}, but must be known before the round and be {expected}; give a hyper-parameter or a literal"
    )]
    Encoding {
        /// Its name.
        encoding: &'static str,
        /// What it must be.
        expected: &'static str,
        /// What it is.
        found: String,
    },
    /// A cohort is drawn by a fraction of the clients outside of 0 to 1.
    #[error(
        "expected a fraction of the clients from 0 to 1, found {found}; for a number of clients, use `server.rotating(m, m)` or `server.reshuffled(m)`"
    )]
    Fraction {
        /// The fraction.
        found: String,
    },
    /// A state of two kinds.
    #[error(
        "state `{name}` was {expected} at its first use and is {found} here; use different names"
    )]
    State {
        /// Its name.
        name: String,
        /// Its kind at first.
        expected: Kind,
        /// Its kind here.
        found: Kind,
    },
    /// A bad hyper-parameter.
    #[error("hyper-parameter {found}: expected {expected}")]
    Hyper {
        /// What is wrong with which.
        found: String,
        /// What is right.
        expected: &'static str,
    },
    /// A bad function table.
    #[error("expected {expected}, found {found}")]
    Funcs {
        /// What is right.
        expected: &'static str,
        /// What was found.
        found: String,
    },
    /// A symbol that linking should have resolved.
    #[error("is left after link-hooks, which should have replaced it")]
    Unlinked,
}

/// Every broken invariant of a module, in program order. Never empty.
#[derive(Clone, Debug)]
pub struct VerifyErrors(pub Vec<VerifyError>);

impl fmt::Display for VerifyErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, error) in self.0.iter().enumerate() {
            if index > 0 {
                f.write_str("\n")?;
            }
            write!(f, "{error}")?;
        }
        Ok(())
    }
}

impl std::error::Error for VerifyErrors {}
