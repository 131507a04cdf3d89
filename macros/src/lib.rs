//! The `#[federated]` attribute and the `Hyper` derive. Both call `fedround-macros-core`, where the expansion
//! is an ordinary function that tests can call.
#![deny(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use proc_macro::TokenStream;

/// Turns `impl Algorithm for X` into code that stages X's hooks as a graph.
///
/// The methods stay what they are; in their bodies `self.hook(..)` becomes a call of the hook
/// in the composed algorithm, `self.field` a named hyper-parameter, and `for` a loop of the
/// graph. Arguments: `base = field` names the field that holds the algorithm this one is added
/// to, reached as `self.base.hook(..)`; `crate = path` says where fedround is, if not `::fedround`.
///
/// # Errors
/// What a body may not contain is reported at the token at fault, all errors at once.
#[proc_macro_attribute]
pub fn federated(attr: TokenStream, item: TokenStream) -> TokenStream {
    fedround_macros_core::federated(attr.into(), item.into()).into()
}

/// Makes a struct's fields an algorithm's hyper-parameters: `Hyper`, `Default` and `Registered`.
///
/// Each field has a default and may have a range:
/// `#[hyper(default = 0.1, range = 0.0..=1.0)]`, on `f32`, `f64`, `usize`, `bool`, `String` or an enum.
/// A field of a type parameter (`base: A` of `struct FedProx<A = FedAvg>`) is the algorithm this
/// one is added to. On the struct, `#[hyper(base_default = "fedavg")]` names the default base
/// where its registered name is not its type's, `#[hyper(crate = path)]` says where fedround is,
/// and `#[hyper(centralized = true)]` gives client 0 the examples of all clients.
///
/// On an enum whose variants have no fields, it makes the enum the type of a hyper-parameter that is
/// one of several words: `adam` for `Rule::Adam`, `first-order` for `FirstOrder`, or what
/// `#[hyper(word = "norm+head")]` on a variant says. The enum needs `Clone`, and
/// gets a method `word`.
///
/// # Errors
/// A missing or out-of-range default, an unsupported type and the like are reported at the token
/// at fault, all errors at once.
#[proc_macro_derive(Hyper, attributes(hyper))]
pub fn hyper(item: TokenStream) -> TokenStream {
    fedround_macros_core::hyper(item.into()).into()
}
