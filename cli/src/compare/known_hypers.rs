//! The hyper-parameters of all algorithms of a comparison, for errors of a name that none of them has.

use fedround_dsl::Hyper;
use fedround_names::nearest;

use crate::advice::aliases;
use crate::settings::hypers;

/// Names that may be given.
#[derive(Default)]
pub(super) struct KnownHypers {
    /// Those for whatever algorithm has them.
    shared: Vec<String>,
    /// Those for one algorithm, as in `fedprox.mu`.
    own: Vec<String>,
}

impl KnownHypers {
    /// Adds those of an algorithm, whose own ones begin with `prefix`.
    pub fn add(&mut self, prefix: &str, algorithm: &dyn Hyper) {
        for (name, _) in hypers::named(algorithm) {
            self.own.push(format!("{prefix}.{name}"));
            if !self.shared.contains(&name) {
                self.shared.push(name);
            }
        }
    }

    /// The name that was probably meant: first what others call so, as of an error of a single run.
    pub fn nearest(&self, name: &str) -> Option<String> {
        let field = name.rsplit('.').next().unwrap_or_default();
        let ours = aliases::hyper(field).filter(|ours| self.shared.iter().any(|own| own == ours));
        let all = || self.shared.iter().chain(&self.own).map(String::as_str);
        ours.or_else(|| nearest(name, all())).map(str::to_owned)
    }

    /// All names, without those for one algorithm.
    pub fn listed(&self) -> String {
        self.shared.join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_others_come_before_names_that_are_spelt_alike() {
        let mut known = KnownHypers::default();
        for spec in ["fedavg", "fedprox"] {
            known.add(spec, &*fedround_algorithms::registry().parse(spec).unwrap());
        }
        let nearest = |name: &str| known.nearest(name).unwrap_or_default();
        assert_eq!(nearest("learning_rate"), "lr");
        assert_eq!(nearest("fedavg.learning-rate"), "lr");
        assert_eq!(nearest("epoch"), "epochs");
        assert_eq!(nearest("fedprx.mu"), "fedprox.mu");
        // Nobody here has one.
        assert_ne!(nearest("server_learning_rate"), "server_lr");
        assert!(known.listed().contains("lr, ") && !known.listed().contains('.'));
    }
}
