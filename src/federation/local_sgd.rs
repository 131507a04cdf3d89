//! Local training that every framework knows: steps of plain SGD on the mean cross-entropy of a batch,
//! with a proximal term or without.

use fedround_algorithms::{FedAvg, FedProx};
use fedround_dsl::{BoxedAlgorithm, set, stage};
use fedround_exec::Program;
use fedround_ir::fed::{FedOp, HyperValue, Module, OpKind, difference};
use fedround_passes::fed::{dce, link};

/// What a client does in a round of FedAvg, or of FedProx over it: from the model that it receives, it takes
/// steps `w ← w − lr · ∇(ℓ(w; b) + μ/2 ‖w − wᵗ‖²)` over all batches of its examples, several times, and
/// sends the model with the number of its examples.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LocalSgd {
    /// How often it goes over its examples.
    pub epochs: usize,
    /// Examples in a batch.
    pub batch: usize,
    /// The step size.
    pub lr: f64,
    /// `μ`; `None` without a proximal term.
    pub proximal_mu: Option<f64>,
}

/// Why the clients of a program do something else.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "clients of {algorithm} do not train as those of fedavg and fedprox do, by plain SGD on cross-entropy with or without \
     a proximal term: {difference}"
)]
pub struct NotLocalSgd {
    /// The algorithm.
    pub algorithm: String,
    /// Where its program differs from theirs.
    pub difference: String,
}

impl LocalSgd {
    /// What the clients of a program do. It is found in the program and not in its name: server-side work, such
    /// as that of FedAvgM and FedOpt, may be any.
    ///
    /// # Errors
    ///
    /// They do something else.
    pub fn of(program: &Program) -> Result<Self, NotLocalSgd> {
        let linked = program.linked();
        match program.phases().len() {
            1 => Self::of_round(linked),
            _ => Err(NotLocalSgd {
                algorithm: linked.name().to_owned(),
                difference: "it has several phases".to_owned(),
            }),
        }
    }

    fn of_round(linked: &Module) -> Result<Self, NotLocalSgd> {
        let other = |difference: String| NotLocalSgd {
            algorithm: linked.name().to_owned(),
            difference,
        };
        let Some(found) = until_aggregation(linked) else {
            return Err(other("they send nothing that is averaged".to_owned()));
        };
        let work = Self::read(&found);
        // A weight of 1 is not in the code, so that a proximal term may be there without one.
        let candidates = match work.proximal_mu {
            Some(mu) => vec![Some(mu)],
            None => vec![None, Some(1.0)],
        };
        let mut first = None;
        for proximal_mu in candidates {
            let work = Self {
                proximal_mu,
                ..work
            };
            match work.reference().map(|module| difference(&module, &found)) {
                Some(None) => return Ok(work),
                Some(Some(difference)) => _ = first.get_or_insert(difference),
                None => {}
            }
        }
        Err(other(first.unwrap_or_else(|| {
            "its settings are out of their range".to_owned()
        })))
    }

    /// The settings that some code reads. A factor of 1 is not in the code.
    fn read(module: &Module) -> Self {
        let value = |field: &str| {
            let mut hypers = module.hypers.iter();
            let hyper = hypers.find(|hyper| hyper.field() == field)?;
            Some(hyper.value.clone())
        };
        let real = |field: &str| match value(field)? {
            HyperValue::Float(x) => Some(x),
            _ => None,
        };
        let count = |field: &str| match value(field) {
            Some(HyperValue::Int(n)) => n,
            _ => 1,
        };
        Self {
            epochs: count("epochs"),
            batch: count("batch"),
            lr: real("lr").unwrap_or(1.0),
            proximal_mu: real("mu"),
        }
    }

    /// Whether two are the same up to the rounding of settings to 32 bits.
    pub(super) fn is_nearly(&self, other: &Self) -> bool {
        let near = |a: f64, b: f64| (a - b).abs() <= 1e-6 * a.abs();
        // A term of weight 0 is none: a program with one is compiled without it.
        let term = |work: &Self| work.proximal_mu.filter(|mu| *mu != 0.0);
        let terms = match (term(self), term(other)) {
            (Some(a), Some(b)) => near(a, b),
            (a, b) => a == b,
        };
        let counts = (self.epochs, self.batch) == (other.epochs, other.batch);
        counts && terms && near(self.lr, other.lr)
    }

    /// The program of FedAvg or FedProx with these settings; `None` if they are out of range.
    fn reference(&self) -> Option<Module> {
        let mut algorithm: BoxedAlgorithm = match self.proximal_mu {
            Some(_) => Box::new(FedProx::<FedAvg>::default()),
            None => Box::new(FedAvg::default()),
        };
        for (name, value) in self.settings() {
            set(&mut *algorithm, name, value).ok()?;
        }
        let linked = link(stage(&*algorithm).ok()?).ok()?;
        until_aggregation(&linked.module)
    }

    /// The settings by the names of FedAvg's and FedProx's hyper-parameters.
    pub fn settings(&self) -> Vec<(&'static str, HyperValue)> {
        let mut all = vec![
            ("epochs", HyperValue::Int(self.epochs)),
            ("batch", HyperValue::Int(self.batch)),
            ("lr", HyperValue::Float(self.lr)),
        ];
        all.extend(self.proximal_mu.map(|mu| ("mu", HyperValue::Float(mu))));
        all
    }
}

/// A linked program up to its first reduction, whose value it gives: what clients receive, do and send.
fn until_aggregation(linked: &Module) -> Option<Module> {
    let mut module = linked.clone();
    let round = &mut module.funcs.first_mut()?.body;
    let reduces = |kind: &OpKind| matches!(kind, OpKind::Fed(FedOp::Reduce(_)));
    let at = round.ops.iter().position(|op| reduces(&op.kind))?;
    round.yields.clone_from(&round.ops.get(at)?.results);
    round.ops.truncate(at + 1);
    dce(&mut module);
    Some(module)
}

#[cfg(test)]
mod tests {
    use fedround_dsl::phases;

    use super::*;

    /// Whatever else is added to the bundled algorithms: who is among these is decided here, by hand.
    #[test]
    fn a_few_algorithms_train_plainly() {
        let registry = fedround_algorithms::registry();
        let plain = |name: &&str| {
            let staged = phases(&*registry.parse(name).unwrap()).unwrap();
            let [only] = &staged[..] else { return false };
            LocalSgd::of_round(&link(only.module.clone()).unwrap().module).is_ok()
        };
        let names: Vec<&str> = registry.names().into_iter().filter(plain).collect();
        assert_eq!(names, ["fedavg", "fedavgm", "fedopt", "fedprox"]);
    }
}
