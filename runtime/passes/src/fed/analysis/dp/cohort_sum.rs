//! Noise on sums over a cohort of values that each client clips (DP-FedAvg). The analysis proves that one
//! client changes the sum by no more than the bound, and says how the cohort is drawn.

use fedround_ir::fed::{Choice, Dp, Exposure, FedOp, Op, OpKind, PrivacyOp, Reduce, Value};

use super::Finder;

/// A sum over a cohort of values that each client clips.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CohortSum {
    /// How the cohort is drawn.
    pub draw: Draw,
    /// Whether it is divided by the size of the cohort.
    pub mean: bool,
    /// Whether it has the noise of a tree over the rounds of a pass, of which each node has the scale.
    pub tree: bool,
    /// The cohort. Noise on several sums over one cohort is noise on one vector, also where clients compute a
    /// later sum from what an earlier one told: Gaussian noise composes so, and who takes part is drawn once.
    pub cohort: Value,
}

/// How a cohort is drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Draw {
    /// Each client with this probability of its own.
    Bernoulli(f64),
    /// A fixed number of clients, this fraction of all, without replacement.
    Fraction(f64),
    /// So many, by passes over a random order of all: each client at most once in a pass.
    Passes(usize),
}

impl<'m> Finder<'m> {
    /// If an op sums up what each client of a cohort clips, to which another op adds noise, returns the op that
    /// clips, and the sum. The code must have this form, under a claim of central differential privacy, and outside of loops:
    ///
    /// ```text
    /// S ← sample(C), bernoulli(p) or reshuffled(m)
    /// for k ∈ S: x_k ← clip(f(k, what was broadcast))
    /// noise(Σ x_k), or tree_noise(Σ x_k) over the passes of reshuffled(m)
    /// ```
    ///
    /// What is broadcast tells of clients of this round only through noise, and the claim holds it to that
    /// in all rounds. Then a client changes its own value alone. The mean of a cohort that has no fixed
    /// size has no bound, as its divisor changes, too; nor has one in passes, of which clients may fail. The bound may be a number that is broadcast with the
    /// rest.
    pub(super) fn client_by_client(
        &self,
        sum: &'m Op,
        noise: &Op,
        around: &[&Op],
    ) -> Option<(&'m Op, CohortSum)> {
        let mean = match sum.kind {
            OpKind::Fed(FedOp::Reduce(Reduce::Sum)) => false,
            OpKind::Fed(FedOp::Reduce(Reduce::Mean)) => true,
            _ => return None,
        };
        if !around.is_empty() || !self.claims().any(|dp| dp == Dp::Central) {
            return None;
        }
        let value = *sum.operands.first()?;
        let map = self.known.made(value)?;
        let at = map.results.iter().position(|v| *v == value)?;
        let clip = self.known.made(*map.regions.first()?.yields.get(at)?)?;
        let cohort = self.sent_to(map)?;
        let draw = self.draw(cohort)?;
        let bounded = clip.kind == OpKind::Privacy(PrivacyOp::Clip)
            && (!mean || matches!(draw, Draw::Fraction(_)));
        let tree = noise.kind == OpKind::Privacy(PrivacyOp::TreeNoise);
        // The tree has leaves for the rounds of the same passes.
        if !bounded || (tree && noise.operands.get(2) != Some(&cohort)) {
            return None;
        }
        let sum = CohortSum {
            draw,
            mean,
            tree,
            cohort,
        };
        Some((clip, sum))
    }

    /// The value of the server that the code of a map on clients has as an argument.
    pub(super) fn broadcast_as(&self, argument: Value) -> Option<Value> {
        let of_map = |op: &&Op| op.kind == OpKind::Fed(FedOp::Map);
        self.module.all_ops().filter(of_map).find_map(|map| {
            let args = &map.regions.first()?.args;
            let at = args.iter().position(|arg| *arg == argument)?;
            // First comes the client.
            let sent = map.operands.get(at.checked_sub(1)?)?;
            let made = self.known.made(*sent)?;
            let broadcast = made.kind == OpKind::Fed(FedOp::Broadcast);
            made.operands.first().copied().filter(|_| broadcast)
        })
    }

    /// The cohort of a map on clients, each of which has only what is its own and what may be told to all.
    fn sent_to(&self, map: &Op) -> Option<Value> {
        if map.kind != OpKind::Fed(FedOp::Map) || self.visits(map) {
            return None;
        }
        let mut cohort = None;
        for operand in &map.operands {
            let made = self.known.made(*operand)?;
            cohort = Some(match made.kind {
                OpKind::Fed(FedOp::Broadcast) => {
                    let told = self.privacy.exposure(*operand) <= Exposure::Noised
                        && self.privacy.open(*operand).next().is_none();
                    *made.operands.get(1).filter(|_| told)?
                }
                OpKind::Fed(FedOp::Map) => self.sent_to(made)?,
                _ => return None,
            });
        }
        cohort
    }

    fn draw(&self, cohort: Value) -> Option<Draw> {
        let made = self.known.made(cohort)?;
        let share = || match made.operands.as_slice() {
            [share] => self.known.number(*share),
            _ => None,
        };
        match made.kind {
            OpKind::Fed(FedOp::AllClients) => Some(Draw::Fraction(1.0)),
            OpKind::Fed(FedOp::Sample) => share().map(Draw::Fraction),
            OpKind::Fed(FedOp::Reshuffled) => {
                let m = made.operands.first()?;
                self.known.count(*m).map(Draw::Passes)
            }
            OpKind::Fed(FedOp::Choose(Choice::Bernoulli)) => share().map(Draw::Bernoulli),
            _ => None,
        }
    }
}
