//! Loops on the widest vectors of the processor.

use pulp::Arch;

/// Runs `f`, whose loops are compiled for every instruction set. `f` and the functions that it calls should
/// be `#[inline(always)]`.
///
/// The bound `FnOnce` matters. [`Arch::dispatch`] may treat a closure as one that can be called again, and
/// call it through a function that is not inlined and uses the smallest vectors.
#[inline(always)]
pub(crate) fn vectorize<R>(f: impl FnOnce() -> R) -> R {
    Arch::new().dispatch(f)
}
