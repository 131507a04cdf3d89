//! Stochastic gradient push: clients send to each other, without a server's model.

use fedround::prelude::*;

/// Who sends to whom in [`PushSum`].
#[derive(Hyper, Clone, Copy, Debug, PartialEq, Eq)]
pub enum PushSumTopology {
    /// To the client 1, 2, 4, … places on, by turns.
    Exponential,
    /// To the two neighbours in a circle.
    Ring,
    /// To the four neighbours in a grid whose borders meet.
    Torus,
    /// To one other, drawn anew in each round.
    Random,
    /// To all others.
    Complete,
    /// To a partner, drawn anew in each round, who sends back.
    Pairs,
    /// To some neighbours in a graph that is drawn anew in each round, who send back.
    Regular,
}

/// Stochastic gradient push (SGP). Assran et al. 2019, "Stochastic Gradient Push for Distributed Deep
/// Learning", Algorithm 1, <https://arxiv.org/abs/1811.10792>. Each client keeps `x`, whose weights in what
/// it receives need not sum to 1, and its push-sum weight `p`; it trains the de-biased `z = x / p`. Where
/// the weights of what a client receives do sum to 1, `p` stays 1, and this is decentralised SGD.
///
/// Departs:
/// - A client may take several steps between two exchanges, with `p` as it is.
/// - Running statistics of normalisation layers are mixed with the parameters, and stay those of the
///   initial model.
/// - Evaluation tests the mean of the clients' `z`, which no client has, and each client's own.
///
/// Defaults: the paper's directed exponential graph, with one neighbour in each round.
#[derive(Hyper, Debug, Clone)]
#[hyper(name = "push-sum")]
pub struct PushSum {
    /// Who sends to whom.
    #[hyper(default = PushSumTopology::Exponential)]
    pub topology: PushSumTopology,
    /// Neighbours of a client in the regular graph.
    #[hyper(default = 4, range = 1..)]
    pub degree: usize,
    /// Local epochs between two exchanges.
    #[hyper(default = 1, range = 1..)]
    pub epochs: usize,
    /// Examples in a local batch.
    #[hyper(default = 10, range = 1..)]
    pub batch: usize,
    /// `γ`: local step size.
    #[hyper(default = 0.1, range = 0.0..=1000000.0)]
    pub lr: f32,
}

#[federated]
impl Algorithm for PushSum {
    fn round(&self, server: &ServerCx, _: Server<Params>) -> Server<Params> {
        let topology = match self.topology {
            PushSumTopology::Exponential => Topology::Exponential,
            PushSumTopology::Ring => Topology::Ring,
            PushSumTopology::Torus => Topology::Torus,
            PushSumTopology::Random => Topology::Random,
            PushSumTopology::Complete => Topology::Complete,
            PushSumTopology::Pairs => Topology::Pairs,
            PushSumTopology::Regular => regular(self.degree),
        };
        let x_0 = server.initial_params(0).broadcast(&server.all_clients());
        let (x, p) = x_0.map(|k, x_0| {
            let (mut x, p) = (k.state_or("x", &x_0), k.scalar_state_or("p", 1.0));
            for b in k.batches(self.epochs, self.batch) {
                x -= self.lr * self.gradient(k, &(&x / &p), &b);
            }
            (x, p)
        });
        let (x, p) = x.zip(&p).mix(topology);
        let z = x.zip(&p).map(|k, (x, p)| {
            k.set_state("x", &x);
            k.set_state("p", &p);
            x / p
        });
        z.consensus()
    }

    fn personalize(&self, k: &ClientCx, w: Params) -> Params {
        k.state_or("x", &w) / k.scalar_state_or("p", 1.0)
    }
}
