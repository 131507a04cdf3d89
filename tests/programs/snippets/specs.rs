//! The algorithms of docs/specs.md.

use fedround::algorithms::FedAvg;
use fedround::prelude::*;

#[derive(Hyper, Debug, Clone)]
pub struct FineTuned<A = FedAvg> {
    /// What trains.
    pub base: A,
    /// Passes before a test.
    #[hyper(default = 1, range = 1..)]
    pub tuning: usize,
    /// Examples of a batch.
    #[hyper(default = 10, range = 1..)]
    pub batch: usize,
    /// Step size.
    #[hyper(default = 0.1, range = 0.0..)]
    pub lr: f32,
}

#[federated(base = base)]
impl<A: Algorithm> Algorithm for FineTuned<A> {
    fn personalize(&self, k: &ClientCx, w: Params) -> Params {
        let mut w = w;
        for b in k.batches(self.tuning, self.batch) {
            w -= self.lr * self.gradient(k, &w, &b);
        }
        w
    }
}

/// FedNTD. Lee et al. 2022, Eq. (5) and (6).
#[derive(Hyper, Debug, Clone)]
pub struct NotTrue<A = FedAvg> {
    /// What trains.
    pub base: A,
    /// `β`.
    #[hyper(default = 1.0, range = 0.0..)]
    pub beta: f32,
    /// `τ`.
    #[hyper(default = 1.0, range = 0.01..)]
    pub tau: f32,
}

#[federated(base = base)]
impl<A: Algorithm> Algorithm for NotTrue<A> {
    fn loss(&self, k: &ClientCx, w: &Params, b: &Batch) -> Scalar {
        let (z, t) = (k.forward(w, &b.x), k.forward(&k.global_params(), &b.x));
        self.base.loss(k, w, b) + self.beta * loss("ntd", (&z, &t, &b.y, &self.tau))
    }
}

pub mod losses {
    use fedround::burn::tensor::{Int, Tensor, activation::log_softmax};

    /// `KL(softmax(t/τ) ‖ softmax(z/τ))` without the true class, the mean over the batch.
    pub fn ntd(z: Tensor<2>, t: Tensor<2>, y: Tensor<1, Int>, tau: Tensor<1>) -> Tensor<1> {
        let ([n, classes], device) = (z.dims(), z.device());
        let all = Tensor::<1, Int>::arange(0..classes as i64, &device);
        let truth = y.reshape([n, 1]).equal(all.reshape([1, classes]));
        let tau = tau.reshape([1, 1]);
        let others = |z: Tensor<2>| (z / tau.clone()).mask_fill(truth.clone(), -1e9);
        let (z, t) = (log_softmax(others(z), 1), log_softmax(others(t), 1));
        (t.clone().exp() * (t - z)).sum_dim(1).mean()
    }
}

#[derive(Hyper, Debug, Clone)]
pub struct Feedback<A = FedAvg> {
    /// What trains.
    pub base: A,
    /// Share of the entries that are sent.
    #[hyper(default = 0.1, range = 0.0..=1.0)]
    pub share: f32,
}

#[federated(base = base)]
impl<A: Algorithm> Algorithm for Feedback<A> {
    fn client_update(&self, k: &ClientCx, w: Params) -> Params {
        let update = self.base.client_update(k, w.clone()) - &w + k.state("e_k");
        let sent = update.encode(Codec::top_k(self.share));
        k.set_state("e_k", &(update - &sent));
        w + sent
    }
}

#[derive(Hyper, Debug, Clone)]
pub struct Gossip<A = FedAvg> {
    /// What trains.
    pub base: A,
}

#[federated(base = base)]
impl<A: Algorithm> Algorithm for Gossip<A> {
    fn round(&self, server: &ServerCx, _: Server<Params>) -> Server<Params> {
        let x_0 = server.initial_params(0).broadcast(&server.all_clients());
        let x = x_0.map(|k, x_0| self.client_update(k, k.state_or("x", &x_0)));
        let x = x.mix(Topology::Ring).map(|k, x| {
            k.set_state("x", &x);
            x
        });
        x.consensus()
    }
}

#[derive(Hyper, Debug, Clone)]
pub struct Lined<A = FedAvg> {
    /// What trains.
    pub base: A,
    /// Clients in the line.
    #[hyper(default = 10, range = 1..)]
    pub peers: usize,
}

fn line(peers: Index) -> Vec<Vec<f32>> {
    let n = peers.count();
    let weight = |i: usize, j: usize| match i.abs_diff(j) {
        0 if i == 0 || i + 1 == n => 2.0 / 3.0,
        0 | 1 => 1.0 / 3.0,
        _ => 0.0,
    };
    let row = |i| (0..n).map(|j| weight(i, j)).collect();
    (0..n).map(row).collect()
}

#[federated(base = base)]
impl<A: Algorithm> Algorithm for Lined<A> {
    fn round(&self, server: &ServerCx, _: Server<Params>) -> Server<Params> {
        let x_0 = server.initial_params(0).broadcast(&server.all_clients());
        let x = x_0.map(|k, x_0| self.client_update(k, k.state_or("x", &x_0)));
        let weights = server.matrix(&line(self.peers));
        let x = x.mix_by(&weights).map(|k, x| {
            k.set_state("x", &x);
            x
        });
        x.consensus()
    }
}

#[derive(Hyper, Debug, Clone)]
pub struct Loudest<A = FedAvg> {
    /// What trains.
    pub base: A,
    /// Clients of a round.
    #[hyper(default = 5, range = 1..)]
    pub count: usize,
}

#[federated(base = base)]
impl<A: Algorithm> Algorithm for Loudest<A> {
    fn round(&self, server: &ServerCx, w: Server<Params>) -> Server<Params> {
        // The clients whose last reported loss is largest; those of whom there is none have 0.
        let loss = server
            .all_clients()
            .map_on_server(|k| k.scalar_state("loss"));
        let s_t = server.top(&loss, self.count);
        let (w_k, loss_k) = w.broadcast(&s_t).map(|k, w| {
            let loss = self.loss(k, &w, &k.batch(64));
            (self.client_update(k, w), loss)
        });
        loss_k.gather().map(|k, loss| k.set_state("loss", &loss));
        self.aggregate(server, w_k)
    }
}

#[derive(Hyper, Debug, Clone)]
pub struct Senders<A = FedAvg> {
    /// What trains.
    pub base: A,
    /// Least squared norm of an update that is sent.
    #[hyper(default = 0.1, range = 0.0..)]
    pub least: f32,
}

#[federated(base = base)]
impl<A: Algorithm> Algorithm for Senders<A> {
    fn round(&self, server: &ServerCx, w: Server<Params>) -> Server<Params> {
        let s_t = server.all_clients();
        let (w_k, sends_k) = w.broadcast(&s_t).map(|k, w| {
            let w = self.client_update(k, w);
            let sends = (&w - k.global_params()).sq_norm() - self.least;
            (w, sends)
        });
        let senders = server.clients_where(&sends_k.gather());
        self.aggregate(server, w_k.restrict(&senders))
    }
}

#[derive(Hyper, Debug, Clone)]
pub struct Arriving<A = FedAvg> {
    /// What trains.
    pub base: A,
    /// Clients that train at once.
    #[hyper(default = 10, range = 1..)]
    pub in_flight: usize,
    /// Updates of a round.
    #[hyper(default = 1, range = 1..)]
    pub buffer: usize,
    /// Weight of fresh updates.
    #[hyper(default = 0.5, range = 0.0..=1.0)]
    pub alpha: f32,
}

#[federated(base = base)]
impl<A: Algorithm> Algorithm for Arriving<A> {
    fn round(&self, server: &ServerCx, w: Server<Params>) -> Server<Params> {
        let arrived = server.arrivals(self.in_flight, self.buffer);
        let w_k = w.dispatch(&arrived).map(|k, w| self.client_update(k, w));
        let alpha = self.alpha
            * arrived
                .staleness()
                .map(|_, stale| 1.0 / (stale + 1.0))
                .mean();
        (1.0 - &alpha) * &w + alpha * w_k.mean()
    }
}

#[derive(Hyper, Debug, Clone)]
pub struct Averaged<A = FedAvg> {
    /// What trains.
    pub base: A,
}

#[federated(base = base)]
impl<A: Algorithm> Algorithm for Averaged<A> {
    fn round(&self, server: &ServerCx, w: Server<Params>) -> Server<Params> {
        let w = self.base.round(server, w);
        server.set_state("ema", &(0.9 * server.state("ema") + 0.1 * &w));
        w
    }

    fn client_update(&self, k: &ClientCx, w: Params) -> Params {
        let w = self.base.client_update(k, w);
        k.set_state("own", &w);
        w
    }

    fn evaluate(&self, server: &ServerCx, w: Server<Params>) -> Clients<Params> {
        let all = server.all_clients();
        let w_k = w.broadcast(&all);
        if server.evaluation("ema") {
            server.state("ema").broadcast(&all)
        } else if server.evaluation("mixed") {
            w_k.map(|k, w| 0.5 * k.state("own") + 0.5 * w)
        } else {
            w_k.map(|k, w| self.personalize(k, w))
        }
    }
}

#[derive(Hyper, Debug, Clone)]
pub struct Clustered<A = FedAvg> {
    /// What trains.
    pub base: A,
    /// The number of models.
    #[hyper(default = 2, range = 1..)]
    pub clusters: usize,
}

#[federated(base = base)]
impl<A: Algorithm> Algorithm for Clustered<A> {
    fn round(&self, server: &ServerCx, w: Server<Params>) -> Server<Params> {
        let s_t = server.all_clients();
        let models = server.states_or("model", &server.initial_models(&w, self.clusters));
        let (w_k, chosen_k) = server.broadcast_all(&models, &s_t).map(|k, models| {
            let b = k.batch(64);
            let losses = list(self.clusters, |j| self.loss(k, &models[j], &b));
            let chosen = argmin(&losses);
            (self.client_update(k, pick(&models, &chosen)), chosen)
        });
        let next = list(self.clusters, |j| {
            let n_k = chosen_k.map(|k, chosen| chosen.is(j) * k.num_examples());
            let n = n_k.sum();
            n.choose(&(w_k.weighted_sum(&n_k) / &n), &models[j]) // nobody chose it: it stays
        });
        server.set_states("model", &next);
        next[0].clone()
    }
}

#[derive(Hyper, Debug, Clone)]
pub struct InTurn<A = FedAvg> {
    /// What trains.
    pub base: A,
}

#[federated(base = base)]
impl<A: Algorithm> Algorithm for InTurn<A> {
    fn round(&self, server: &ServerCx, w: Server<Params>) -> Server<Params> {
        let mut w = w;
        for client in server.all_clients().in_turn() {
            let w_k = w.broadcast(&client).map(|k, w| self.client_update(k, w));
            w = w_k.mean();
        }
        w
    }
}
