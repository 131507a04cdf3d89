//! Cyclic weight transfer: clients train one after the other.

use fedround::prelude::*;

use crate::FedAvg;

/// The order of the clients in [`Cyclic`].
#[derive(Hyper, Clone, Copy, Debug, PartialEq, Eq)]
pub enum CyclicOrder {
    /// By number, the same in each round.
    Fixed,
    /// Drawn anew in each round.
    Drawn,
}

/// Cyclic weight transfer. Chang et al. 2018, "Distributed deep learning networks among institutions for
/// medical imaging", section "Cyclical weight transfer", <https://doi.org/10.1093/jamia/ocy017>. Each
/// institution trains the model that the one before it trained; a round is one cycle through all of them.
///
/// Departs:
/// - A model goes from one client to the next through the server, which has it in between.
/// - Institutions train by the base's local steps; the base's epochs are the paper's frequency of transfers.
///
/// Defaults: the order of the institutions is fixed, as in the paper.
#[derive(Hyper, Debug, Clone)]
pub struct Cyclic<A = FedAvg> {
    /// What trains.
    pub base: A,
    /// The order in which clients take turns.
    #[hyper(default = CyclicOrder::Fixed)]
    pub order: CyclicOrder,
}

#[federated(base = base)]
impl<A: Algorithm> Algorithm for Cyclic<A> {
    fn round(&self, server: &ServerCx, w: Server<Params>) -> Server<Params> {
        let s_t = match self.order {
            CyclicOrder::Fixed => server.all_clients(),
            CyclicOrder::Drawn => server.sample(1.0),
        };
        let mut w = w;
        for client in s_t.in_turn() {
            let w_k = w.broadcast(&client).map(|k, w| self.client_update(k, w));
            w = w_k.mean();
        }
        w
    }
}
