//! A part of the clients' own models that the server averages after all.

use fedround::prelude::*;

use crate::Adcol;

/// What the clients of [`SharedHead`] share.
#[derive(Hyper, Clone, Copy, Debug, PartialEq, Eq)]
pub enum SharedPart {
    /// The head.
    Head,
    /// The predictor, in networks with a projection head.
    Predictor,
}

/// ADCOL with a shared predictor. Li, He and Song 2023, "Adversarial Collaborative Learning on
/// Non-IID Features", B.10, <https://icml.cc/virtual/2023/poster/24741>: the server averages the
/// parties' predictors in each round, all else is as before.
///
/// Over any base whose clients keep models of their own, from which `personalize` gives the part
/// that goes up; every client goes on with the mean. Nothing else crosses that did not. Over another
/// base, such as FedAvg, the part would stay as it is: the compiler warns of that.
#[derive(Hyper, Debug, Clone)]
#[hyper(name = "shared-head")]
pub struct SharedHead<A = Adcol> {
    /// What trains.
    pub base: A,
    /// The part: `head`, or `predictor` in networks with a projection head.
    #[hyper(default = SharedPart::Head)]
    pub part: SharedPart,
}

/// The part that is shared.
fn parts(part: SharedPart) -> [&'static str; 1] {
    [part.word()]
}

#[federated(base = base)]
impl<A: Algorithm> Algorithm for SharedHead<A> {
    fn round(&self, server: &ServerCx, w: Server<Params>) -> Server<Params> {
        let next = self.base.round(server, w.clone());
        let w_k = w.broadcast(&server.current_cohort()).map(|k, w| {
            let own = self.base.personalize(k, w.clone());
            w.replace_parts(&parts(self.part), &own)
        });
        next.replace_parts(&parts(self.part), &self.aggregate(server, w_k))
    }

    fn personalize(&self, k: &ClientCx, w: Params) -> Params {
        let own = self.base.personalize(k, w.clone());
        own.replace_parts(&parts(self.part), &w)
    }
}
