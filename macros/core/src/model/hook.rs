//! The hooks of an algorithm: the methods of `Algorithm` that a spec may define.

/// A method of `Algorithm`. A test of the crate that declares the trait holds this table against it.
#[derive(Debug, PartialEq, Eq)]
pub struct Hook {
    /// The method's name.
    pub name: &'static str,
    /// Names and types of its parameters after `&self`, as `Algorithm` declares them.
    pub params: &'static [(&'static str, &'static str)],
}

/// Every hook, in the order in which `Algorithm` declares them.
pub static HOOKS: [Hook; 9] = [
    Hook {
        name: "round",
        params: &[("server", "&ServerCx"), ("w", "Server<Params>")],
    },
    Hook {
        name: "client_update",
        params: &[("k", "&ClientCx"), ("w", "Params")],
    },
    Hook {
        name: "aggregate",
        params: &[("server", "&ServerCx"), ("w_k", "Clients<Params>")],
    },
    Hook {
        name: "gradient",
        params: &[("k", "&ClientCx"), ("w", "&Params"), ("b", "&Batch")],
    },
    Hook {
        name: "loss",
        params: &[("k", "&ClientCx"), ("w", "&Params"), ("b", "&Batch")],
    },
    Hook {
        name: "regularizer",
        params: &[("k", "&ClientCx"), ("w", "&Params")],
    },
    Hook {
        name: "personalize",
        params: &[("k", "&ClientCx"), ("w", "Params")],
    },
    Hook {
        name: "evaluate",
        params: &[("server", "&ServerCx"), ("w", "Server<Params>")],
    },
    Hook {
        name: "server_gradient",
        params: &[
            ("s", "&ServerComputeCx"),
            ("w", "&Params"),
            ("x", "&Tensor"),
            ("y", "&Labels"),
        ],
    },
];

impl Hook {
    /// All hooks' names.
    pub fn names() -> [&'static str; HOOKS.len()] {
        HOOKS.each_ref().map(|hook| hook.name)
    }

    /// The hook of a method's name.
    pub fn from_name(name: &str) -> Option<&'static Self> {
        HOOKS.iter().find(|hook| hook.name == name)
    }
}
