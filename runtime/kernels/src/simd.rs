//! Loops on the widest vectors of the processor.

use pulp::Arch;

/// Runs `f`, whose loops are compiled for every instruction set; it should be `#[inline(always)]`,
/// and so should be what it calls.
///
/// The bound matters: a closure given to [`Arch::dispatch`] itself may be taken for one that can be
/// called again, whose call goes through a function that is not inlined, with the least vectors.
#[inline(always)]
pub(crate) fn vectorize<R>(f: impl FnOnce() -> R) -> R {
    Arch::new().dispatch(f)
}
