//! Checks that noise is added to clipped values, and that a claim of differential privacy holds.

use super::super::{
    Broken, ConstEval, Direction, Dp, Exposure, FedOp, Module, Op, OpKind, Place, Privacy,
    PrivacyOp, Value, VerifyError,
};
use super::error;

/// 14. Noise is added to what is clipped: noise of any size hides nothing of a value that can be
///     arbitrarily large.
pub(super) fn noise_follows_clip(module: &Module) -> Vec<VerifyError> {
    let privacy = Privacy::of(module);
    let raw = |value: &Value| privacy.exposure(*value) == Exposure::Raw;
    let unbounded = |op: &&Op| adds_noise(op) && op.operands.iter().any(raw);
    let noises = module.all_ops().filter(unbounded);
    noises
        .map(|op| error(op, Broken::NoiseWithoutClip))
        .collect()
}

/// 15. Under a claim of *local* differential privacy whatever a client uploads is noised by the
///     client, or derived from no data. Under a claim of *central* differential privacy whatever
///     an aggregate tells the next round (its parameters, a server state, a broadcast) is noised. Where
///     that fails and there is noise that is known to be none, the error is at this noise.
pub(super) fn claims_hold(module: &Module) -> Vec<VerifyError> {
    let mut errors = Vec::new();
    let mut held = Vec::new();
    for op in module.all_ops() {
        if let OpKind::Privacy(PrivacyOp::Claim(dp)) = op.kind
            && !held.contains(&dp)
        {
            held.push(dp);
            let claim = op.loc.to_string();
            let broken = match dp {
                Dp::Local => local(module, &claim),
                Dp::Central => central(module, &claim),
            };
            let none = match broken.is_empty() {
                true => vec![],
                false => no_noise(module, dp, &claim),
            };
            errors.extend(match none.is_empty() {
                true => broken,
                false => none,
            });
        }
    }
    errors
}

/// 21. Noise of a tree is added once in a round, over the passes of a reshuffled cohort: only then is
///     each client in at most one leaf of a tree.
pub(super) fn trees_are_over_passes(module: &Module) -> Vec<VerifyError> {
    let known = ConstEval::of(module);
    let is_tree = |op: &&Op| op.kind == OpKind::Privacy(PrivacyOp::TreeNoise);
    let once = |op: &Op| {
        let mut rounds = module.funcs.iter().flat_map(|func| &func.body.ops);
        rounds.any(|own| std::ptr::eq(own, op))
    };
    let passes = |op: &Op| {
        let cohort = op.operands.get(2).and_then(|v| known.made(*v));
        cohort.is_some_and(|op| op.kind == OpKind::Fed(FedOp::Reshuffled))
    };
    let trees = module.all_ops().filter(is_tree);
    let broken = trees.filter_map(|op| match (once(op), passes(op)) {
        (false, _) => Some(error(op, Broken::TreeInLoop)),
        (true, false) => Some(error(op, Broken::TreeCohort)),
        (true, true) => None,
    });
    broken.collect()
}

fn adds_noise(op: &Op) -> bool {
    matches!(
        op.kind,
        OpKind::Privacy(PrivacyOp::Noise | PrivacyOp::TreeNoise | PrivacyOp::Laplace)
    )
}

fn no_noise(module: &Module, dp: Dp, claim: &str) -> Vec<VerifyError> {
    let known = ConstEval::of(module);
    let noises = module.all_ops().filter(|op| adds_noise(op));
    let none = noises.filter_map(|op| {
        let scale = *op.operands.get(1)?;
        let broken = Broken::NoNoise {
            dp: dp.name(),
            claim: claim.to_owned(),
            scale: known.no_noise(scale)?.to_string(),
            hypers: known.hypers(scale),
        };
        Some(error(op, broken))
    });
    none.collect()
}

fn local(module: &Module, claim: &str) -> Vec<VerifyError> {
    let privacy = Privacy::of(module);
    let on_server = |op: &&Op| {
        let place = op.results.first().map(|value| module.type_of(*value).place);
        adds_noise(op) && place == Some(Place::Server)
    };
    let after = module.all_ops().find(on_server);
    let after = after.map(|op| op.loc.to_string());
    let exposed = |op: &&Op| {
        let mut sent = module.sent_by_clients(op);
        sent.any(|value| privacy.exposure(*value) > Exposure::Noised)
    };
    let uploads = module.all_ops().filter(exposed);
    uploads
        .map(|op| {
            let (claim, after) = (claim.to_owned(), after.clone());
            error(op, Broken::LocalDp { claim, after })
        })
        .collect()
}

fn central(module: &Module, claim: &str) -> Vec<VerifyError> {
    let privacy = Privacy::of(module);
    let mut told: Vec<(Value, &'static str)> = Vec::new();
    let mut tell = |value: Option<&Value>, to: &'static str| {
        for aggregate in value.into_iter().flat_map(|value| privacy.open(*value)) {
            if !told.iter().any(|(known, _)| *known == aggregate) {
                told.push((aggregate, to));
            }
        }
    };
    for op in module.all_ops() {
        match op.kind {
            OpKind::Fed(FedOp::SetServerState(_)) => tell(op.operands.last(), "a server state"),
            // As they are when they are sent.
            OpKind::Fed(FedOp::Scatter) => tell(op.results.first(), "the clients"),
            OpKind::Fed(FedOp::Broadcast | FedOp::Dispatch) => {
                tell(op.results.first(), "a broadcast")
            }
            _ => {}
        }
    }
    for func in &module.funcs {
        tell(func.body.yields.first(), "the next global parameters");
    }
    let broken = |op: &Op| {
        let told = told.iter().find(|(value, _)| op.results.contains(value));
        let reaches = told.map(|(_, reaches)| *reaches);
        // What one client sends to another passes no server that adds noise.
        let across = op.kind.direction() == Some(Direction::Across)
            && (op.operands.iter()).any(|value| privacy.exposure(*value) > Exposure::Noised);
        let reaches = reaches.or(across.then_some("other clients"))?;
        let claim = claim.to_owned();
        Some(error(op, Broken::CentralDp { claim, reaches }))
    };
    module.all_ops().filter_map(broken).collect()
}

#[cfg(test)]
mod tests;
