//! The trait that an algorithm implements.
//!
//! The hooks are declared once, in the table at the end of this file. From the table, a macro generates
//! the trait [`Algorithm`], its implementation for boxes, the functions of [`call`] and [`base`], and the
//! methods of [`Definer`], which stage the body of a hook. `#[federated]` turns `self.hook(..)` into a call
//! of [`call`], and `self.base.hook(..)` into a call of [`base`].

use fedround_ir::Loc;
use fedround_ir::fed::{FedOp, Hook, Value};

use crate::hook_param::{Handle, HookParam};
use crate::{
    Batch, ClientCx, Clients, Definer, Hyper, Labels, Params, Scalar, Server, ServerComputeCx,
    ServerCx, Tensor,
};

/// An algorithm chosen at run time. Implements [`Algorithm`], so that it can be a base.
pub type BoxedAlgorithm = Box<dyn Algorithm>;

macro_rules! hooks {
    (
        $(#[$about:meta])*
        pub trait $algorithm:ident: $hyper:ident {
            $(
                $(#[$doc:meta])*
                fn $name:ident($cx:ident: $context:ty, $($arg:ident: $ty:ty),*) -> $out:ty = $hook:ident;
            )*
        }
    ) => {
        $(#[$about])*
        pub trait $algorithm: $hyper {
            $(
                $(#[$doc])*
                fn $name(&self, $cx: $context, $($arg: $ty),*) -> $out {
                    call::$name($cx, $($arg),*)
                }
            )*

            /// Stages every hook that this algorithm defines, its base's first. Written by
            /// `#[federated]`.
            #[doc(hidden)]
            fn define(&self, m: &mut Definer);
        }

        impl<A: Algorithm + ?Sized> Algorithm for Box<A> {
            $(
                fn $name(&self, $cx: $context, $($arg: $ty),*) -> $out {
                    (**self).$name($cx, $($arg),*)
                }
            )*
            fn define(&self, m: &mut Definer) {
                (**self).define(m);
            }
        }

        impl Definer {
            $(
                #[doc = concat!("Defines `", stringify!($name), "`.")]
                #[track_caller]
                pub fn $name(&mut self, body: impl FnOnce($context, $($ty),*) -> $out) {
                    let loc = Loc::caller();
                    self.hook(Hook::$hook, loc, |graph, args| {
                        let $cx = <$context as HookParam<'_>>::Handle::bind(graph, args);
                        $(let $arg = <$ty as HookParam<'_>>::Handle::bind(graph, args);)*
                        body(HookParam::of(&$cx), $(HookParam::of(&$arg)),*).operand(graph, loc)
                    });
                }
            )*
        }

        /// Calls of a hook's outermost definition, whichever layer it is in.
        pub mod call {
            use super::*;
            hooks!(@calls Call $($(#[$doc])* fn $name($cx: $context, $($arg: $ty),*) -> $out = $hook;)*);
        }

        /// Calls of the next inner definition of a hook.
        pub mod base {
            use super::*;
            hooks!(@calls Super $($(#[$doc])* fn $name($cx: $context, $($arg: $ty),*) -> $out = $hook;)*);
        }

        /// Each hook's name, and the names and types of its parameters after `&self`.
        #[cfg(test)]
        const DECLARED: &[(Hook, &str, &[(&str, &str)])] = &[$((
            Hook::$hook,
            stringify!($name),
            &[(stringify!($cx), stringify!($context)), $((stringify!($arg), stringify!($ty))),*],
        )),*];
    };
    (@calls $op:ident $(
        $(#[$doc:meta])*
        fn $name:ident($cx:ident: $context:ty, $($arg:ident: $ty:ty),*) -> $out:ty = $hook:ident;
    )*) => {$(
        $(#[$doc])*
        #[track_caller]
        pub fn $name($cx: $context, $($arg: $ty),*) -> $out {
            let (graph, loc) = (&$cx.graph, Loc::caller());
            let operands = [$cx.operand(graph, loc), $($arg.operand(graph, loc)),*];
            let operands: Vec<Value> = operands.into_iter().flatten().collect();
            let result = graph.op(FedOp::$op(Hook::$hook), &operands, loc);
            Handle::bind(graph, &mut std::iter::once(result))
        }
    )*};
}

hooks! {
    /// A federated algorithm, written as hooks. A plug-in may replace each of them.
    ///
    /// Implement it under `#[federated]`. If an impl leaves out a hook, that of its base is used. A hook
    /// that no layer defines has a [standard definition](crate::standard), except `round` and
    /// `client_update`: linking fails if one of them is called but not defined. In a plug-in,
    /// `self.base.hook(..)` is the base's definition, and `self.hook(..)` is always the outermost one.
    #[diagnostic::on_unimplemented(
        message = "`{Self}` is not a federated algorithm",
        label = "expected a type with `#[federated] impl Algorithm for ..`",
        note = "a plug-in over any base is written `#[federated(base = base)] impl<A: Algorithm> Algorithm for PlugIn<A>`"
    )]
    pub trait Algorithm: Hyper {
        /// One round, from global parameters to the next ones.
        fn round(server: &ServerCx, w: Server<Params>) -> Server<Params> = Round;

        /// Local training on client `k`, from the parameters it received.
        fn client_update(k: &ClientCx, w: Params) -> Params = ClientUpdate;

        /// Aggregates the parameters that the clients of a cohort trained.
        fn aggregate(server: &ServerCx, w_k: Clients<Params>) -> Server<Params> = Aggregate;

        /// The gradient that a local step follows; by default, that of `loss` plus `regularizer`.
        fn gradient(k: &ClientCx, w: &Params, b: &Batch) -> Params = Gradient;

        /// The loss on a batch.
        fn loss(k: &ClientCx, w: &Params, b: &Batch) -> Scalar = Loss;

        /// A term that is added to the loss, such as a proximal term. It does not depend on a batch.
        fn regularizer(k: &ClientCx, w: &Params) -> Scalar = Regularizer;

        /// The model of client `k`, made from the global one. It is evaluated on the client's own test
        /// examples, and nothing is sent.
        fn personalize(k: &ClientCx, w: Params) -> Params = Personalize;

        /// The models of all clients on which they are evaluated, made from the global one, states of the
        /// server and states of the clients; by default, what `personalize` makes. Nothing is counted as
        /// sent, and no state changes. It runs for a few clients at a time: it addresses
        /// `server.all_clients()`, and combines no values of several clients.
        fn evaluate(server: &ServerCx, w: Server<Params>) -> Clients<Params> = Evaluate;

        /// The gradient that a step of the server's own training follows, on released rows `x` with labels
        /// `y`.
        fn server_gradient(s: &ServerComputeCx, w: &Params, x: &Tensor, y: &Labels) -> Params = ServerGradient;
    }
}

#[cfg(test)]
mod tests {
    use fedround_macros_core::HOOKS;

    use super::*;

    /// Specs, macros and the IR speak of the same hooks, with the same names in the same order.
    #[test]
    fn all_tables_of_hooks_agree() {
        assert_eq!(DECLARED.len(), HOOKS.len());
        assert_eq!(DECLARED.len(), Hook::ALL.len());
        for ((hook, name, params), (known, ir)) in DECLARED.iter().zip(HOOKS.iter().zip(Hook::ALL))
        {
            assert_eq!((*name, *params), (known.name, known.params));
            assert_eq!((*hook, *name), (ir, ir.name()));
            // The contexts of the server are no values of the graph.
            let named = params.iter().map(|(name, _)| *name);
            let values: Vec<&str> = named.filter(|n| !matches!(*n, "server" | "s")).collect();
            assert_eq!(values, ir.arg_names());
        }
    }
}
