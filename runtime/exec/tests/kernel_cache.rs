//! A kernel that one process compiles for a GPU is found on disk by the next process.
//!
//! Run it with `--features cuda,kernel-cache` on the emulated CUDA driver, which reports the compiled kernels.

#![allow(clippy::unwrap_used, reason = "a test stops at its first error")]

use std::path::Path;
use std::process::Command;

use fedround_exec::Device;

/// Multiplies two matrices on the GPU in a new process. Gives the number of kernels that were compiled since the first such
/// process.
fn compiled(folder: &Path) -> usize {
    let list = folder.join("compiled");
    let child = Command::new(std::env::current_exe().unwrap())
        .args(["--ignored", "--exact", "a_process_of_its_own"])
        .env("XDG_CACHE_HOME", folder)
        .env("EMULATOR_COMPILED", &list)
        .output()
        .unwrap();
    assert!(child.status.success(), "{child:?}");
    std::fs::read_to_string(list).unwrap().lines().count()
}

#[test]
fn the_next_process_compiles_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let first = compiled(folder.path());
    assert!(first > 0);
    assert!(folder.path().join("cubecl").is_dir());
    assert_eq!(compiled(folder.path()), first);

    let other = tempfile::tempdir().unwrap();
    assert_eq!(compiled(other.path()), first);
}

#[test]
#[ignore = "the test above starts it, in another process"]
fn a_process_of_its_own() {
    Device::Cuda(0).check().unwrap();
}
