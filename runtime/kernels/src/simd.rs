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

/// Values of a line of the cache.
pub(crate) const LINE: usize = 16;

/// Values of a page of memory. The processor reads ahead within a page by itself, and stops at its end.
pub(crate) const PAGE: usize = 1024;

/// Asks the processor to bring the line of a value to the second-level cache, if the value exists and the
/// processor knows such a request. Lines that the first-level cache was asked for pushed others out of it, which
/// took longer, by measurement.
#[inline(always)]
pub(crate) fn prefetch(values: &[f32], place: usize) {
    #[cfg(target_arch = "x86_64")]
    if let (Some(value), Some(sse)) = (values.get(place), pulp::core_arch::x86::Sse::try_new()) {
        sse._mm_prefetch::<{ std::arch::x86_64::_MM_HINT_T1 }>(std::ptr::from_ref(value).cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (values, place);
}
