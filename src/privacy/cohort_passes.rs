//! The ε of noise on sums over cohorts in passes, also of a tree over the rounds of a pass (DP-FTRL).

use std::fmt::Write;

use fedround_metrics::passes::Passes;
use fedround_metrics::privacy::gaussian_epsilon;
use fedround_passes::fed::{Draw, Mechanism};

use super::bound::{NoBound, after_rounds};

/// The noise on some sums over one cohort, of which each client is in one a pass.
pub(super) struct InPasses {
    all: Vec<Passes>,
    /// The clients of a cohort, and all.
    clients: (usize, usize),
}

impl InPasses {
    /// The noise on sums over one cohort, in a federation with this number of clients; `None` for other cohorts.
    pub(super) fn of(joint: &[&Mechanism], clients: usize) -> Option<Self> {
        let mut size = None;
        let all = joint.iter().map(|mechanism| {
            let sum = mechanism.cohort?;
            let Draw::Passes(m) = sum.draw else {
                return None;
            };
            let m = *size.insert(m.min(clients).max(1));
            Some(Passes {
                length: (clients / m).max(1) as u64,
                tree: sum.tree,
                // One client replaced moves the sum by two bounds.
                noise: mechanism.scale / (2.0 * mechanism.bound),
            })
        });
        let all = all.collect::<Option<Vec<Passes>>>()?;
        Some(Self {
            all,
            clients: (size?, clients),
        })
    }

    /// ε after `rounds` rounds if one client is replaced (`moved = 1`) or sends zeros (`moved = 0.5`). Several
    /// Gaussian mechanisms combine as `μ² = Σ μᵢ²`.
    fn epsilon_of(&self, rounds: u64, moved: f64, delta: f64) -> Result<f64, NoBound> {
        let squares = self.all.iter().map(|passes| passes.sigma(rounds).powi(-2));
        let sensitivity = moved * squares.sum::<f64>().sqrt();
        match rounds {
            0 => Ok(0.0),
            _ => Ok(gaussian_epsilon(sensitivity, 1.0, delta)?),
        }
    }

    /// ε after `rounds` rounds if one client is replaced.
    pub(super) fn epsilon(&self, rounds: u64, delta: f64) -> Result<f64, NoBound> {
        self.epsilon_of(rounds, 1.0, delta)
    }

    /// The section of `explain`.
    pub(super) fn text(&self, delta: f64) -> String {
        let ((m, clients), mut text) = (self.clients, String::new());
        let Some(first) = self.all.first() else {
            return text;
        };
        // Writing to a `String` cannot fail.
        let _ = writeln!(
            text,
            "    {m} of {clients} clients take part, each once in a pass of {} rounds",
            first.length
        );
        for tree in self.all.iter().filter(|passes| passes.tree) {
            let nodes = tree.sums(tree.length);
            let _ = writeln!(
                text,
                "    a pass has a tree, and a client is in {nodes} of its nodes at most"
            );
        }
        for (neighbour, moved) in [("is replaced", 1.0), ("sends zeros", 0.5)] {
            let _ = writeln!(text, "    one {neighbour}:");
            text += &after_rounds(&[delta], |rounds, delta| {
                self.epsilon_of(rounds, moved, delta)
            });
        }
        text
    }
}
