//! Repeats a round with smaller groups of clients if the device runs out of memory.

use fedround_exec::ExecError;

use crate::error::RunError;

/// Runs with up to `group` clients in one graph. If the device runs out of memory, runs again with half as many, down
/// to one. Afterwards `group` is the last number that was tried.
///
/// # Errors
///
/// The errors of `run`; out of memory only if a single client does not fit.
pub(crate) fn in_smaller_groups<T>(
    group: &mut usize,
    mut run: impl FnMut(usize) -> Result<T, RunError>,
) -> Result<T, RunError> {
    loop {
        match run(*group) {
            Err(RunError::Exec(ExecError::OutOfMemory(_))) if *group > 1 => *group /= 2,
            result => return result,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The groups that are tried on a device with memory for `holds` clients, the last group, and whether it fits.
    fn of(holds: usize, mut group: usize) -> (Vec<usize>, usize, bool) {
        let mut tried = vec![];
        let result = in_smaller_groups(&mut group, |group| {
            tried.push(group);
            match group <= holds {
                true => Ok(()),
                false => Err(ExecError::OutOfMemory(String::new()).into()),
            }
        });
        (tried, group, result.is_ok())
    }

    #[test]
    fn a_group_is_halved_until_it_fits() {
        assert_eq!(of(50, 50), (vec![50], 50, true));
        assert_eq!(of(7, 50), (vec![50, 25, 12, 6], 6, true));
        assert_eq!(of(0, 5), (vec![5, 2, 1], 1, false));
    }

    #[test]
    fn other_errors_end_it() {
        let mut group = 4;
        let lost = in_smaller_groups(&mut group, |_| {
            Err::<(), _>(ExecError::Device("lost".to_owned()).into())
        });
        assert!(matches!(lost, Err(RunError::Exec(ExecError::Device(_)))));
        assert_eq!(group, 4);
    }
}
