//! Weights clients' models by the labels that they have in common: an oracle for AdFL.

use fedround::prelude::*;

use crate::FedAvg;

/// The oracle of AdFL's weights. In Danilenka, Ganzha, Paprzycki and Mańdziuk 2022, "Using adversarial
/// images to improve outcomes of federated learning for non-IID data", Eq. (1) to (3),
/// <https://arxiv.org/abs/2206.08124>, models weigh by how well they and the others read each other's
/// images of each class. Here a model reads all images of the classes of its own client perfectly, and no
/// others: `q[j][k][c]` is 1 if clients `j` and `k` both have class `c`, and else 0.
///
/// In the paper's terms it shows how far weights of this kind can get, whatever the images are. Clients
/// tell the names of their classes, which AdFL's do not.
///
/// Departs: where no two clients have a class in common, the models weigh the same.
#[derive(Hyper, Debug, Clone)]
#[hyper(name = "label-overlap")]
pub struct LabelOverlap<A = FedAvg> {
    /// What trains.
    pub base: A,
}

#[federated(base = base)]
impl<A: Algorithm> Algorithm for LabelOverlap<A> {
    fn aggregate(&self, _: &ServerCx, m_k: Clients<Params>) -> Server<Params> {
        let (m_k, c_k) =
            m_k.map(|k, m| (m, k.classes().release("names of classes, for an oracle")));
        let (m_k, c_k) = (m_k.gather(), c_k.gather());
        let all = c_k.concat();
        // Σ_{j ≠ k} of the classes in common; Eq. (3) has them twice, of each side.
        let w_k = c_k.map(|k, c| {
            let shared = function("among", (&k.get(&all).labels(), &c.labels()));
            let own = function("among", (&c.labels(), &c.labels()));
            loss("sum", &shared) - loss("sum", &own)
        });
        let sum = w_k.sum();
        let w_k = w_k.map(|k, w| k.get(&sum).select(w, 1.0));
        m_k.weighted_mean(&w_k)
    }
}
