//! The order of the passes from a staged module to a linked one.

use fedround_ir::fed::{Module, verify_linked};

use super::analysis::{Warning, unused, warnings, zero_gradients};
use crate::error::PassError;
use crate::manager::{PassManager, PassTarget};

/// A module of one `fed.round`, verified and simplified.
#[derive(Clone, Debug)]
pub struct Linked {
    /// The program.
    pub module: Module,
    /// Things that are valid but probably not what was meant.
    pub warnings: Vec<Warning>,
}

/// The passes that run in turns after `link-hooks` until nothing changes.
const SIMPLIFY: [&str; 3] = ["canonicalize", "cse", "dce"];

/// Links and simplifies a staged module.
///
/// # Errors
/// [`PassError`], if it breaks a rule of the dialect or its hooks cannot be bound.
pub fn link(module: Module) -> Result<Linked, PassError> {
    link_with(module, &mut PassManager::new())
}

/// [`link`] under a pass manager of the caller's. `canonicalize`, `cse` and `dce` run in turns until
/// none of them changes anything.
///
/// # Errors
/// As [`link`].
pub fn link_with(mut module: Module, manager: &mut PassManager) -> Result<Linked, PassError> {
    module.check("before link-hooks".to_owned())?;
    let mut warnings = warnings(&module);
    let name = module.name().to_owned();
    manager.run_all(&["link-hooks"], &name, &mut module)?;
    warnings.extend(unused(&module));
    warnings.extend(zero_gradients(&module));
    manager.run_in_turns(&SIMPLIFY, &name, &mut module)?;
    verify_linked(&module).map_err(|errors| PassError::Verify {
        when: "after linking".to_owned(),
        errors,
    })?;
    Ok(Linked { module, warnings })
}

/// Prepares a linked module for execution: moves invariant work out of loops and fuses maps. Reports and
/// printed texts show the module before this.
///
/// # Errors
/// A pass broke a rule of the dialect: a bug in fedround, not in the program.
pub fn lay_out(module: &mut Module, manager: &mut PassManager) -> Result<(), PassError> {
    let name = module.name().to_owned();
    manager
        .run_all(&["licm", "fuse-maps"], &name, module)
        .map(drop)
}

#[cfg(test)]
mod tests {
    use fedround::{BoxedAlgorithm, stage};
    use fedround_ir::fed::{difference, equal};

    use super::*;
    use crate::testing::{FedAvg, FedProx, linked};

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
    fn linking_simplifies_in_the_order_of_the_registry() {
        let mut manager = PassManager::new();
        link_with(stage(&FedAvg::default()).unwrap(), &mut manager).unwrap();
        let ran: Vec<&str> = manager.timings().iter().map(|timing| timing.step).collect();
        let passes = Module::passes().iter().map(|pass| pass.name);
        assert_eq!(ran, passes.take(4).collect::<Vec<_>>());
    }
}
