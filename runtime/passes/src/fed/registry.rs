//! The passes over the fed dialect by name, in the order of their first run.

use fedround_ir::fed::{Module, verify, verify_linked};

use super::transform::{canonicalize, cse, dce, fuse_maps, licm, link_hooks};
use crate::error::PassError;
use crate::manager::{Ir, Pass, PassTarget};

impl PassTarget for Module {
    const DIALECT: &'static str = "fed";

    fn passes() -> &'static [Pass<Self>] {
        &FED
    }

    fn check(&self, when: String) -> Result<(), PassError> {
        verify(self).map_err(|errors| PassError::Verify { when, errors })
    }

    fn ir<'a>(&'a self, _: &'a str) -> Ir<'a> {
        Ir::Fed(self)
    }
}

const FED: [Pass<Module>; 6] = [
    Pass::new(
        "link-hooks",
        "bind hooks to their definitions and inline them into one round",
        |module, _| {
            *module = link_hooks(module)?;
            let when = "the algorithm is not valid".to_owned();
            verify_linked(module).map_err(|errors| PassError::Verify { when, errors })?;
            Ok(true)
        },
    ),
    Pass::new(
        "canonicalize",
        "drop terms that a factor of 0 or 1 makes trivial, order operands",
        |module, _| Ok(canonicalize(module)),
    ),
    Pass::new(
        "cse",
        "compute once what a region computes twice",
        |module, _| Ok(cse(module)),
    ),
    Pass::new(
        "dce",
        "drop ops, loop values and hyper-parameters that nothing reads",
        |module, _| Ok(dce(module)),
    ),
    Pass::new(
        "licm",
        "move work on parameters that a loop does not change out of it",
        |module, _| Ok(licm(module)),
    ),
    Pass::new(
        "fuse-maps",
        "make a map over what another map gave part of it",
        |module, _| Ok(fuse_maps(module)),
    ),
];
