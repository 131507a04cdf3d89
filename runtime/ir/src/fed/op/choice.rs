//! Cohorts that are chosen from values of the server.

/// How the server chooses clients from what it knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Choice {
    /// `fed.bernoulli`: `(f32@server p) -> cohort@server`; each client with probability `p`, independently.
    /// Or `({f32}@server) -> cohort@server`; each client of a cohort with its own probability.
    Bernoulli,
    /// `fed.sample_by`: `({f32}@server scores, f32@server n) -> cohort@server`; `n` clients without
    /// replacement, each next one with probability proportional to its score. Clients whose score is 0
    /// or less are never drawn.
    SampleBy,
    /// `fed.top`: `({f32}@server scores, f32@server n) -> cohort@server`; the `n` clients with the largest
    /// scores, of equal ones those with the smaller numbers.
    Top,
    /// `fed.where`: `({f32}@server) -> cohort@server`; the clients whose number is above 0.
    Where,
    /// `fed.union`: `(cohort@server, cohort@server) -> cohort@server`; the clients of either, each once.
    Union,
}
