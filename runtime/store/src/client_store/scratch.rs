//! The storage of a store that nobody opens again: a file without a name, never waited for.

use std::fs::File;
use std::io;

use redb::backends::FileBackend;
use redb::{DatabaseError, StorageBackend};

/// A file for this process alone. When redb closes a database it waits until everything is on the
/// disk; for a file that is about to vanish that would write gigabytes for nothing.
#[derive(Debug)]
pub(super) struct Scratch(FileBackend);

impl Scratch {
    pub fn new(file: File) -> Result<Self, DatabaseError> {
        FileBackend::new(file).map(Self)
    }
}

impl StorageBackend for Scratch {
    fn len(&self) -> io::Result<u64> {
        self.0.len()
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.0.read(offset, out)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.0.set_len(len)
    }

    fn sync_data(&self) -> io::Result<()> {
        Ok(())
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.0.write(offset, data)
    }

    fn close(&self) -> io::Result<()> {
        self.0.close()
    }
}
