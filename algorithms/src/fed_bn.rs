//! FedBN: normalisation layers stay on their client.

use fedround::prelude::*;

use crate::FedAvg;

/// FedBN. Li et al. 2021, "FedBN: Federated Learning on Non-IID Features via Local Batch
/// Normalization", Algorithm 1, <https://arxiv.org/abs/2102.07623>.
///
/// A model without batch normalisation has nothing to keep, and the rounds are the base's.
///
/// Departs:
/// - What the paper leaves open, the layers of a client that was never drawn, are the global ones,
///   which are never trained.
#[derive(Hyper, Debug, Clone)]
pub struct FedBn<A = FedAvg> {
    /// What trains.
    pub base: A,
}

#[federated(base = base)]
impl<A: Algorithm> Algorithm for FedBn<A> {
    fn client_update(&self, k: &ClientCx, w: Params) -> Params {
        let w = self.base.client_update(k, k.personal(&["BatchNorm"], &w));
        k.set_personal(&["BatchNorm"], &w);
        w.replace_parts(&["BatchNorm"], &k.global_params())
    }

    fn personalize(&self, k: &ClientCx, w: Params) -> Params {
        k.personal(&["BatchNorm"], &w)
    }
}
