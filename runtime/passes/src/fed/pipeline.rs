//! The passes in order, from a staged module to a linked one.

use fedround_ir::fed::{Module, verify, verify_linked};

use super::unused::unused;
use super::{PassError, Warning, canonicalize, cse, dce, link_slots, warnings};

/// A module of one `fed.round`, verified and simplified.
#[derive(Clone, Debug)]
pub struct Linked {
    /// The program.
    pub module: Module,
    /// What is legal but seldom meant.
    pub warnings: Vec<Warning>,
}

type Simplify = fn(&mut Module) -> bool;

const LINK_SLOTS: &str = "link-slots";
const SIMPLIFY: [(&str, Simplify); 3] =
    [("canonicalize", canonicalize), ("cse", cse), ("dce", dce)];

/// The names of the passes, in order of their first run.
pub fn passes() -> Vec<&'static str> {
    [LINK_SLOTS]
        .into_iter()
        .chain(SIMPLIFY.map(|(name, _)| name))
        .collect()
}

/// Links and simplifies a staged module.
///
/// # Errors
/// [`PassError`], if it breaks a rule of the dialect or its slots cannot be bound.
pub fn link(module: Module) -> Result<Linked, PassError> {
    link_observed(module, |_, _, _| {})
}

/// [`link`], with a look at the module before and after each run of a pass. `canonicalize`, `cse`
/// and `dce` run in turns until none changes anything; runs that change nothing are shown too.
///
/// # Errors
/// As [`link`].
pub fn link_observed(
    module: Module,
    mut observe: impl FnMut(&'static str, &Module, &Module),
) -> Result<Linked, PassError> {
    verify(&module).map_err(|errors| PassError::Verify {
        when: "before link-slots",
        errors,
    })?;
    let mut warnings = warnings(&module);
    let mut linked = link_slots(&module)?;
    observe(LINK_SLOTS, &module, &linked);
    verify_linked(&linked).map_err(|errors| PassError::Verify {
        when: "after link-slots",
        errors,
    })?;
    warnings.extend(unused(&linked));
    let mut changed = true;
    while changed {
        changed = false;
        for (name, pass) in SIMPLIFY {
            let before = linked.clone();
            changed |= pass(&mut linked);
            observe(name, &before, &linked);
            verify_linked(&linked).map_err(|errors| PassError::Verify {
                when: after(name),
                errors,
            })?;
        }
    }
    Ok(Linked {
        module: linked,
        warnings,
    })
}

fn after(pass: &str) -> &'static str {
    match pass {
        "canonicalize" => "after canonicalize",
        "cse" => "after cse",
        _ => "after dce",
    }
}

#[cfg(test)]
mod tests {
    use fedround::{BoxedAlgorithm, stage};
    use fedround_ir::fed::{difference, equal};

    use super::super::testing::{FedAvg, FedProx, linked};
    use super::*;

    #[test]
    fn fed_prox_without_its_term_is_fed_avg() {
        let fed_avg = linked(&FedAvg::default());
        let fed_prox = linked(&FedProx {
            base: FedAvg::default(),
            mu: 0.0,
        });
        assert_eq!(difference(&fed_avg, &fed_prox), None);
    }

    #[test]
    fn fed_prox_with_its_term_is_not() {
        let fed_avg = linked(&FedAvg::default());
        assert!(!equal(
            &fed_avg,
            &linked(&FedProx {
                base: FedAvg::default(),
                mu: 0.1
            })
        ));
    }

    #[test]
    fn a_plug_in_twice_has_both_terms() {
        let inner: BoxedAlgorithm = Box::new(FedProx {
            base: FedAvg::default(),
            mu: 0.1,
        });
        let module = linked(&FedProx {
            base: inner,
            mu: 0.2,
        });
        let names: Vec<&str> = module.hypers.iter().map(|hyper| hyper.field()).collect();
        assert_eq!(names, ["fraction", "epochs", "batch", "mu", "mu_2", "lr"]);
    }

    #[test]
    fn a_pass_is_seen_by_name() {
        let mut seen = Vec::new();
        let module = stage(&FedAvg::default()).unwrap();
        let _ = link_observed(module, |name, _, _| seen.push(name)).unwrap();
        assert_eq!(seen[..4], passes());
    }
}
