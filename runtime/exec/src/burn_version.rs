//! The version of burn that this crate is compiled with.

/// The version of burn that this crate is compiled with. Timings of kernels hold for one version.
pub const BURN: &str = env!("BURN_VERSION");

#[cfg(test)]
mod tests {
    #[test]
    fn the_version_of_burn_is_read_from_the_lock_file() {
        assert_eq!(super::BURN.split('.').count(), 3, "{}", super::BURN);
    }
}
