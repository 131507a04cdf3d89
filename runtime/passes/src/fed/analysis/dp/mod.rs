//! Finds the mechanisms of differential privacy in a module: noise on bounded values, with the bounds
//! and the scales of the noise.

mod cohort_sum;
#[cfg(test)]
mod cohort_tests;
#[cfg(test)]
mod loop_tests;
mod repetitions;
mod row_steps;
#[cfg(test)]
mod tests;

use std::collections::HashSet;

use fedround_ir::Loc;
use fedround_ir::fed::{
    ConstEval, Dp, Exposure, FedOp, Module, Op, OpKind, OptOp, Place, Privacy, PrivacyOp, Region,
    Value,
};

use crate::loop_count::LoopCount;

pub use cohort_sum::{CohortSum, Draw};
pub use row_steps::RowSteps;

/// The distribution of the noise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoiseKind {
    /// A normal distribution, whose scale is its standard deviation.
    Gaussian,
    /// A Laplace distribution.
    Laplace,
}

/// What is bounded, and therefore hidden by the noise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Each row.
    Row,
    /// What a client sends, or what the server computes from it.
    Client,
}

/// Noise on a clipped value.
#[derive(Clone, Debug)]
pub struct Mechanism {
    /// The noise.
    pub noise: NoiseKind,
    /// Its standard deviation or scale.
    pub scale: f64,
    /// The bound on the L2 norm.
    pub bound: f64,
    /// Whether rounds compute the bound. It is 1 then, and the scale is in units of it.
    pub adaptive: bool,
    /// Whether the L1 norm of the value before clipping is at most 1.
    pub l1: bool,
    /// What is bounded.
    pub unit: Unit,
    /// Whether the server adds the noise.
    pub central: bool,
    /// For noise on a sum over the rows of a batch, each of which is clipped: how often it is added.
    pub steps: Option<RowSteps>,
    /// For noise on a sum over a cohort of values that each client clips: the sum.
    pub cohort: Option<CohortSum>,
    /// How often a round adds it, so that it may tell of a row or a client several times; `None` if that is
    /// not known before the round.
    pub repetitions: Option<LoopCount>,
    /// The place where the noise is added.
    pub loc: Loc,
}

/// The noise of a module that is added to values which tell something about clients.
#[derive(Clone, Debug, Default)]
pub struct Mechanisms {
    /// Noise whose bound and scale are known numbers.
    pub known: Vec<Mechanism>,
    /// The places of all other noise. The graph does not say how much that hides.
    pub unknown: Vec<Loc>,
}

impl Mechanisms {
    /// The known ones, with those together that are one mechanism: noise on sums over the same cohort.
    pub fn joint(&self) -> Vec<Vec<&Mechanism>> {
        let mut groups: Vec<Vec<&Mechanism>> = vec![];
        let cohort = |mechanism: &Mechanism| mechanism.cohort.map(|sum| sum.cohort);
        for mechanism in &self.known {
            let same = |group: &&mut Vec<&Mechanism>| {
                let first = group.first().and_then(|first| cohort(first));
                first.is_some() && first == cohort(mechanism)
            };
            match groups.iter_mut().find(same) {
                Some(group) => group.push(mechanism),
                None => groups.push(vec![mechanism]),
            }
        }
        groups
    }
}

/// The mechanisms of a linked module: noise on a value that was clipped as a whole, on a sum over the rows
/// of a batch that were clipped one by one, or on a sum over a cohort of what each client clipped.
pub fn mechanisms(module: &Module) -> Mechanisms {
    let mut finder = Finder {
        module,
        privacy: Privacy::of(module),
        known: ConstEval::of(module),
        trained: HashSet::new(),
    };
    let mut noises = vec![];
    for func in &module.funcs {
        finder.region(&func.body, &[], &mut noises);
    }
    let mut found = Mechanisms::default();
    for (op, around) in noises {
        let of = op.operands.first();
        // Random numbers and no more, where it is added to what tells nothing.
        if of.is_none_or(|of| finder.privacy.exposure(*of) == Exposure::Public) {
            continue;
        }
        match finder.mechanism(op, &around) {
            Some(mechanism) => found.known.push(mechanism),
            None => found.unknown.push(op.loc),
        }
    }
    found
}

/// An op that adds noise, and the ops whose regions it is in, outermost first.
type NoiseOp<'m> = (&'m Op, Vec<&'m Op>);

pub(super) struct Finder<'m> {
    pub(super) module: &'m Module,
    pub(super) privacy: Privacy,
    pub(super) known: ConstEval<'m>,
    /// What gradients are of.
    pub(super) trained: HashSet<Value>,
}

impl<'m> Finder<'m> {
    fn region(&mut self, region: &'m Region, around: &[&'m Op], noises: &mut Vec<NoiseOp<'m>>) {
        for op in &region.ops {
            self.trained.extend(op.differentiated());
            if matches!(
                op.kind,
                OpKind::Privacy(PrivacyOp::Noise | PrivacyOp::TreeNoise | PrivacyOp::Laplace)
            ) {
                noises.push((op, around.to_vec()));
            }
            // Noise in a loss is there to train with, unless it is to keep a claim.
            if op.kind == OpKind::Opt(OptOp::Grad) && self.claims().next().is_none() {
                continue;
            }
            let around = [around, &[op]].concat();
            for inner in &op.regions {
                self.region(inner, &around, noises);
            }
        }
    }

    fn mechanism(&self, op: &Op, around: &[&Op]) -> Option<Mechanism> {
        let [of, scale, ..] = op.operands.as_slice() else {
            return None;
        };
        let tree = op.kind == OpKind::Privacy(PrivacyOp::TreeNoise);
        let made = self.known.made(*of)?;
        let mut cohort = None;
        let (clip, unit, steps) = match made.kind {
            OpKind::Privacy(PrivacyOp::ClipRows) => (made, Unit::Row, None),
            OpKind::Privacy(PrivacyOp::Clip) if !tree => (made, Unit::Client, None),
            OpKind::Fed(FedOp::Reduce(_))
                if tree || op.kind == OpKind::Privacy(PrivacyOp::Noise) =>
            {
                let (clip, sum) = self.client_by_client(made, op, around)?;
                cohort = Some(sum);
                (clip, Unit::Client, None)
            }
            OpKind::Opt(OptOp::ForRows(_)) if op.kind == OpKind::Privacy(PrivacyOp::Noise) => {
                let (clip, steps) = self.row_by_row(made, *of, around)?;
                (clip, Unit::Row, Some(steps))
            }
            _ => return None,
        };
        let [clipped, bound] = clip.operands.as_slice() else {
            return None;
        };
        let (scale, bound, adaptive) = self.numbers(*scale, *bound)?;
        // Noise of a node is of one round, and hides what clients sent in others.
        if tree && adaptive {
            return None;
        }
        let unit_l1 = self
            .known
            .made(*clipped)
            .is_some_and(|op| op.kind == OpKind::Privacy(PrivacyOp::L1Rows));
        Some(Mechanism {
            noise: match op.kind {
                OpKind::Privacy(PrivacyOp::Laplace) => NoiseKind::Laplace,
                _ => NoiseKind::Gaussian,
            },
            scale,
            bound,
            adaptive,
            l1: unit_l1 && unit == Unit::Row,
            unit,
            central: self.central(op),
            steps,
            cohort,
            repetitions: self.repetitions(around, unit),
            loc: op.loc,
        })
    }

    /// The scale of noise and the bound of a clip, as numbers; of a bound that clients were sent, in units
    /// of it, which is said.
    fn numbers(&self, scale: Value, bound: Value) -> Option<(f64, f64, bool)> {
        match (self.known.factor(scale), self.known.factor(bound)) {
            ((scale, None), (bound, None)) => Some((scale, bound, false)),
            ((scale, Some(unit)), (bound, Some(sent))) => {
                let same = self.broadcast_as(sent) == Some(unit);
                same.then_some((scale / bound, 1.0, true))
            }
            _ => None,
        }
    }

    /// Whether an op is the server's.
    pub(super) fn central(&self, op: &Op) -> bool {
        let place = op.results.first().map(|v| self.module.type_of(*v).place);
        place == Some(Place::Server)
    }

    /// The models of differential privacy that the round is held to.
    pub(super) fn claims(&self) -> impl Iterator<Item = Dp> {
        let ops = self.module.funcs.iter().flat_map(|func| &func.body.ops);
        ops.filter_map(|op| match op.kind {
            OpKind::Privacy(PrivacyOp::Claim(dp)) => Some(dp),
            _ => None,
        })
    }
}
