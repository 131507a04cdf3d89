//! Runs loops on the widest vectors of the processor, and prefetches memory.

use pulp::Arch;

/// Runs `f` in a version that is compiled for the processor's instruction set. `f` and the functions that it calls
/// should be `#[inline(always)]`.
///
/// The bound `FnOnce` matters. With a bound that allows several calls, [`Arch::dispatch`] may call the closure
/// through a function that is not inlined, and which then uses the smallest vectors.
#[inline(always)]
pub(crate) fn vectorize<R>(f: impl FnOnce() -> R) -> R {
    Arch::new().dispatch(f)
}

/// The number of `f32` values in a cache line (64 bytes).
pub(crate) const LINE: usize = 16;

/// The number of `f32` values in a page of memory (4 KiB). The processor's own prefetcher stops at the end of a
/// page.
pub(crate) const PAGE: usize = 1024;

/// Prefetches the cache line of `values[index]` into the second-level cache, if that value exists and the processor
/// has such an instruction. By measurement, prefetching into the first-level cache is slower, because it evicts
/// lines that are in use.
#[inline(always)]
pub(crate) fn prefetch(values: &[f32], index: usize) {
    #[cfg(target_arch = "x86_64")]
    if let (Some(value), Some(sse)) = (values.get(index), pulp::core_arch::x86::Sse::try_new()) {
        sse._mm_prefetch::<{ std::arch::x86_64::_MM_HINT_T1 }>(std::ptr::from_ref(value).cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (values, index);
}
