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
}

/// How a cohort is drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Draw {
    /// Each client with this probability of its own.
    Bernoulli(f64),
    /// A fixed number of clients, this fraction of all, without replacement.
    Fraction(f64),
}

impl<'m> Finder<'m> {
    /// If an op sums up what each client of a cohort clips, returns the op that clips, and the sum. The
    /// code must have this form, under a claim of central differential privacy, and outside of loops:
    ///
    /// ```text
    /// S ← sample(C) or bernoulli(p)
    /// for k ∈ S: x_k ← clip(f(k, what was broadcast))
    /// noise(Σ x_k)
    /// ```
    ///
    /// What is broadcast tells of clients of this round only through noise, and the claim holds it to that
    /// in all rounds. Then a client changes its own value alone. The mean of a cohort that has no fixed
    /// size has no bound, as its divisor changes, too.
    pub(super) fn client_by_client(
        &self,
        sum: &'m Op,
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
        let draw = self.draw(self.sent_to(map)?)?;
        let bounded = clip.kind == OpKind::Privacy(PrivacyOp::Clip)
            && !(mean && matches!(draw, Draw::Bernoulli(_)));
        bounded.then_some((clip, CohortSum { draw, mean }))
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
            OpKind::Fed(FedOp::Choose(Choice::Bernoulli)) => share().map(Draw::Bernoulli),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use fedround::prelude::*;

    use super::*;
    use crate::fed::{Mechanisms, Unit, mechanisms};
    use crate::testing::{Closure, linked};

    /// What each client clips to 2: a gradient on its examples.
    fn clipped(k: &ClientCx, w: &Params) -> Params {
        let (b, w) = (k.batch(10), w.replace_parts(&["Buffer"], &w.zeros_like()));
        grad(&w, |w| cross_entropy(k.forward(w, &b.x), &b.y)).clip(2.0)
    }

    fn found(round: fn(&ServerCx, Server<Params>) -> Server<Params>) -> Mechanisms {
        mechanisms(&linked(&Closure(move |m: &mut fedround::Definer| {
            m.round(round)
        })))
    }

    fn of(round: fn(&ServerCx, Server<Params>) -> Server<Params>) -> CohortSum {
        let found = found(round);
        let [one] = found.known.as_slice() else {
            panic!("{found:?}")
        };
        assert_eq!(
            (one.bound, one.scale, one.unit, one.central),
            (2.0, 3.0, Unit::Client, true)
        );
        one.cohort.unwrap()
    }

    fn sum(server: &ServerCx, w: &Server<Params>, s_t: &Cohort) -> Server<Params> {
        server.claim(Dp::Central);
        w.broadcast(s_t).map(|k, w| clipped(k, &w)).sum()
    }

    #[test]
    fn dp_fed_avg_is_a_mechanism_of_clients() {
        let poisson = of(|server, w| {
            let sum = sum(server, &w, &server.bernoulli(0.25)).noise(3.0);
            w - 0.1 * sum
        });
        let draw = Draw::Bernoulli(0.25);
        assert_eq!(poisson, CohortSum { draw, mean: false });
        let fixed = of(|server, w| {
            server.claim(Dp::Central);
            let g_k = w.broadcast(&server.sample(0.5)).map(|k, w| clipped(k, &w));
            w - g_k.mean().noise(3.0)
        });
        let draw = Draw::Fraction(0.5);
        assert_eq!(fixed, CohortSum { draw, mean: true });
        let all = of(|server, w| {
            let sum = sum(server, &w, &server.all_clients()).noise(3.0);
            w - 0.1 * sum
        });
        assert_eq!(all.draw, Draw::Fraction(1.0));
    }

    #[test]
    fn what_is_not_bounded_by_a_client_has_no_epsilon() {
        let unknown = |round| {
            let found = found(round);
            assert!(found.known.is_empty(), "{found:?}");
            assert_eq!(found.unknown.len(), 1);
        };
        // The mean of a cohort of any size.
        unknown(|server, w| {
            server.claim(Dp::Central);
            let g_k = w
                .broadcast(&server.bernoulli(0.5))
                .map(|k, w| clipped(k, &w));
            w - g_k.mean().noise(3.0)
        });
        // Added several times.
        unknown(|server, w| {
            let s_t = server.all_clients();
            let first = sum(server, &w, &s_t);
            fedround::__private::for_each(
                fedround::__private::range(3),
                w,
                |_, w: Server<Params>| w - first.noise(3.0),
            )
        });
        // Without a claim, what is told in other rounds may be anything.
        unknown(|server, w| {
            let g_k = w
                .broadcast(&server.all_clients())
                .map(|k, w| clipped(k, &w));
            w - g_k.sum().noise(3.0)
        });
    }

    #[test]
    fn a_clip_without_noise_is_no_mechanism() {
        let found = found(|server, w| {
            let g_k = w
                .broadcast(&server.all_clients())
                .map(|k, w| clipped(k, &w));
            w - g_k.mean()
        });
        assert!(found.known.is_empty() && found.unknown.is_empty());
    }
}
