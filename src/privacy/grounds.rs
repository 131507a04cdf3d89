//! What the ε of noise rests on.

use fedround_passes::fed::{Draw, Mechanism};

/// What the ε of training with noise rests on.
const TRAINED: &str = "  \
  Of training with noise:
  - it hides a row: in each round it is there, or gives a gradient of zero, and all others are as they
    are. It does not hide the example behind it, which trained the models that made the others, nor
    how many rows there are;
  - a pass has a row in one batch, and Gaussian noise composes without loss (Balle and Wang 2018; Dong,
    Roth and Su 2022): that is proven;
  - the usual figure is that of steps that draw each row with probability q of its own, by Rényi
    accounting (Mironov, Talwar and Zhang 2019). Of shuffled batches it is not proven, and may be far
    too low (Chua et al. 2024);
  - a δ above 1/N allows that a row is revealed completely;
  - the server is honest: it is about what others get of what is trained there, not about the
    server, which has the rows.
";

/// What the ε of training with noise on clients rests on.
const TRAINED_BY_CLIENTS: &str = "  \
  Of training with noise on clients:
  - it hides a row of a client from the server and from all others: in each round it is there, or
    gives a gradient of zero, and all others are as they are. It does not hide how many there are;
  - a pass has a row in one batch, and Gaussian noise composes without loss (Balle and Wang 2018;
    Dong, Roth and Su 2022): that is proven. Nothing is taken off for batches that are drawn.
";

/// What the ε of noise on a sum over a cohort rests on.
const CLIENTS: &str = "  \
  Of noise on a sum over a cohort:
  - it hides all of a client's data, from what is made of the sum: clients who take part with a
    probability of their own are there or not, clients of a cohort of fixed size are replaced;
  - RDP is Rényi accounting: of Mironov, Talwar and Zhang 2019 with a probability, of Wang, Balle and
    Kasiviswanathan 2019, Theorem 27, of a fixed size. PLD is by privacy loss distributions (Zhu, Dong
    and Wang 2022), of a fixed size by Balle, Barthe and Gaboardi 2018, with the derivation in
    runtime/metrics/src/pld.rs. Both are bounds, over all rounds; the lower one counts;
  - several sums over one cohort are one Gaussian mechanism (Andrew et al. 2021, Theorem 1);
  - who takes part must be secret, and all who are drawn must answer: a mean over fewer has a larger ε.
    That a round is skipped for which nobody was drawn is not hidden;
  - the server is honest: it has every client's value without noise.
";

/// What the ε of noise in a loop rests on.
const REPEATED: &str = "  \
  Of noise that a round adds several times: each time there may be another value in place of the one
  that differs. Gaussian noise composes without loss, and the ε of Laplace noise adds up. Nothing is
  taken off because an example is in some of the batches alone.
";

/// What the ε of a release rests on.
const RELEASED: &str = "  \
  Of a release: one row or value differs, and all others are as they are, where models that were
  trained on an example may have made other rows, too. How many there are is not hidden.
";

/// What the ε of noise on sums over cohorts in passes rests on.
const IN_PASSES: &str = "  \
  Of noise on a sum over a cohort in passes:
  - it hides all of a client's data, from what is made of the sums: one client is replaced by another, or
    sends zeros (the neighbours of Kairouz et al. 2021);
  - a client takes part once in a pass, and is in one sum, or in the nodes of the pass's tree above its
    round. Gaussian noise composes without loss over nodes and passes (Dong, Roth and Su 2022). Nothing
    rests on who takes part when, which may be known;
  - rounds are those of a run from its start, of an algorithm without other phases;
  - the server is honest: it has every client's value without noise.
";

/// What an ε rests on: what differs between two federations that it is to hide, which theorems count, and
/// what is assumed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Grounds {
    /// Training with noise on the server. It hides a row.
    RowsOnServer,
    /// Training with noise on clients. It hides a row of a client.
    RowsOnClients,
    /// Noise on a sum over a cohort. It hides all of a client's data.
    Cohort,
    /// Noise on a sum over a cohort in passes. It hides all of a client's data.
    CohortInPasses,
    /// Noise that a round adds several times.
    Repeated,
    /// Noise on a value or on rows that are released.
    Release,
}

impl Grounds {
    const ALL: [Self; 6] = [
        Self::RowsOnServer,
        Self::RowsOnClients,
        Self::Cohort,
        Self::CohortInPasses,
        Self::Repeated,
        Self::Release,
    ];

    /// The grounds of a mechanism, one or two.
    pub(super) fn of(mechanism: &Mechanism) -> Vec<Self> {
        let all = Self::ALL.into_iter();
        all.filter(|grounds| grounds.apply_to(mechanism)).collect()
    }

    fn apply_to(self, m: &Mechanism) -> bool {
        match self {
            Self::RowsOnServer => m.steps.is_some() && m.central,
            Self::RowsOnClients => m.steps.is_some() && !m.central,
            Self::Cohort => m.cohort.is_some() && !in_passes(m),
            Self::CohortInPasses => in_passes(m),
            Self::Repeated => m.steps.is_none() && !once(m),
            Self::Release => m.steps.is_none() && m.cohort.is_none(),
        }
    }

    /// The same in words, as `fedround explain` prints it: a list of lines.
    pub fn text(self) -> &'static str {
        match self {
            Self::RowsOnServer => TRAINED,
            Self::RowsOnClients => TRAINED_BY_CLIENTS,
            Self::Cohort => CLIENTS,
            Self::CohortInPasses => IN_PASSES,
            Self::Repeated => REPEATED,
            Self::Release => RELEASED,
        }
    }
}

/// What the ε of some mechanisms rest on.
pub(super) fn of_all(known: &[Mechanism]) -> String {
    let any = |grounds: &Grounds| known.iter().any(|m| grounds.apply_to(m));
    let parts = Grounds::ALL.into_iter().filter(any);
    let parts: String = parts.map(Grounds::text).collect();
    parts
        + "  Each line is of its own noise alone: over lines, phases and releases ε adds up, and so does δ.\n  \
        Nothing is said of what crosses without noise.\n"
}

/// Whether it is on a sum over a cohort in passes.
fn in_passes(mechanism: &Mechanism) -> bool {
    let draw = mechanism.cohort.map(|sum| sum.draw);
    matches!(draw, Some(Draw::Passes(_)))
}

/// Whether a round adds some noise once.
pub(super) fn once(mechanism: &Mechanism) -> bool {
    let loops = mechanism.repetitions.as_ref();
    loops.is_some_and(|loops| loops.times == 1 && loops.batches.is_empty())
}
