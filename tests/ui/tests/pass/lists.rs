//! Lists of models, loops that are written out, and chosen cohorts compile and link.
#![deny(warnings)]

use fedround::prelude::*;

/// The clients with the largest losses train, and the server mixes several models.
#[derive(Hyper, Debug, Clone)]
pub struct Mixed {
    /// How many models.
    #[hyper(default = 3, range = 1..)]
    pub models: usize,
}

#[federated]
impl Algorithm for Mixed {
    fn round(&self, server: &ServerCx, w: Server<Params>) -> Server<Params> {
        let models = server.states_or("model", &server.initial_models(&w, self.models));
        let score = server.all_clients().map_on_server(|k| {
            k.set_state("seen", &(k.scalar_state("seen") + 1.0));
            1.0 / (k.scalar_state("seen") + k.stream("tie").uniform())
        });
        let s_t = server.top(&score, 2).union(&server.bernoulli(0.1));
        let (w_k, flag_k) = server.broadcast_all(&models, &s_t).map(|k, models| {
            let b = k.batch(10);
            let losses = list(self.models, |j| k.loss(&models[j], &b));
            (
                pick(&models, &argmin(&losses)),
                k.stream("send").bernoulli(0.5),
            )
        });
        let w_k = w_k.restrict(&server.clients_where(&flag_k.gather()));
        let mut next = w_k.mean();
        for j in 0..self.models {
            next += 0.1 * &models[j];
        }
        for j in 0..self.models {
            server.set_states(
                "model",
                &list(self.models, |i| (&models[i] - &models[j]) * 0.5),
            );
        }
        next
    }
}

#[test]
fn compiles() {
    fedround::stage(&Mixed::default()).unwrap();
}
