//! The passes over the fed dialect by name, in the order of their first run.

use fedround_ir::fed::{Module, verify, verify_linked};

use super::transform::{canonicalize, cse, dce, fuse_maps, licm, link_hooks};
use crate::error::PassError;
use crate::manager::{Ir, Pass, Program};

impl Program for Module {
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
    Pass {
        name: "link-hooks",
        about: "bind hooks to their definitions and inline them into one round",
        number: None,
        run: |module, _| {
            *module = link_hooks(module)?;
            let when = "after link-hooks".to_owned();
            verify_linked(module).map_err(|errors| PassError::Verify { when, errors })?;
            Ok(true)
        },
    },
    Pass {
        name: "canonicalize",
        about: "drop terms that a factor of 0 or 1 makes trivial, order operands",
        number: None,
        run: |module, _| Ok(canonicalize(module)),
    },
    Pass {
        name: "cse",
        about: "compute once what a region computes twice",
        number: None,
        run: |module, _| Ok(cse(module)),
    },
    Pass {
        name: "dce",
        about: "drop ops, loop values and hyper-parameters that nothing reads",
        number: None,
        run: |module, _| Ok(dce(module)),
    },
    Pass {
        name: "licm",
        about: "move work on parameters that a loop does not change out of it",
        number: None,
        run: |module, _| Ok(licm(module)),
    },
    Pass {
        name: "fuse-maps",
        about: "make a map over what another map gave part of it",
        number: None,
        run: |module, _| Ok(fuse_maps(module)),
    },
];
