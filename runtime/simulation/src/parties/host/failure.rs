//! What a host says of requests that it cannot carry out: all to its operator, and to the coordinator no path or name of
//! a file.

use super::super::message::Reply;
use super::super::payload::Payload;
use super::{HostError, PartyHost};
use crate::error::RunError;

/// What the coordinator is told of the host's files.
const OWN_FILES: &str = "its own files could not be read or written; its operator is told which";

impl PartyHost {
    /// Why the last request could not be carried out, for the host's operator; `None` if it was. The coordinator is told
    /// the same without what concerns the host's files.
    pub fn last_failure(&self) -> Option<&str> {
        self.last_failure.as_deref()
    }

    /// The reply to a request that failed.
    pub(super) fn fail(&mut self, error: &HostError) -> Payload {
        let text = error.to_string();
        let reply = Reply::Failed(match is_of_files(error) {
            true => OWN_FILES.to_owned(),
            false => text.clone(),
        });
        self.last_failure = Some(text);
        // Writing a text as JSON does not fail.
        Payload::new(&reply).unwrap_or_default()
    }
}

/// Whether an error may name files of the host.
fn is_of_files(error: &HostError) -> bool {
    let HostError::Run(error) = error else {
        return false;
    };
    matches!(
        error,
        RunError::Data(_)
            | RunError::ClientStates(_)
            | RunError::RemoveStates { .. }
            | RunError::NotAStatesFile { .. }
    )
}

/// The files to delete so that a party starts without states. If the coordinator expects states of the party, its key
/// has to be deleted, too: with another key it counts as another party.
pub(super) fn files(expected: usize) -> &'static str {
    match expected {
        0 => "`clients.ckpt`",
        _ => "`clients.ckpt` and `key.pem`",
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Error, ErrorKind};
    use std::path::PathBuf;

    use fedround_algorithms::FedAvg;
    use fedround_data::DataError;

    use super::*;
    use crate::testing::simulation;

    #[test]
    fn the_coordinator_is_told_no_path() {
        let simulation = simulation(&FedAvg::default(), &[4], 1);
        let mut host = PartyHost::new(simulation, vec![0]).unwrap();
        let of_file = DataError::Read {
            path: PathBuf::from("/home/anna/ward-7.png"),
            source: Error::from(ErrorKind::NotFound),
        };
        let error = HostError::Run(of_file.into());
        assert_eq!(host.fail(&error).failure().unwrap(), OWN_FILES);
        assert!(host.last_failure().unwrap().contains("ward-7.png"));
        let other = HostError::NotHere { client: 3 };
        let told = host.fail(&other).failure();
        assert_eq!(told.as_deref(), Some("client 3 is not at this host"));
        assert_eq!(host.last_failure(), told.as_deref());
        host.answer(&[]);
        assert_ne!(host.last_failure(), told.as_deref());
    }
}
