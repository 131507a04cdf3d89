//! Numbers of a file, one after the other.

/// Bytes that are read from front to back; what goes past their end is an error.
#[derive(Clone)]
pub(super) struct Cursor<'a> {
    bytes: &'a [u8],
}

impl<'a> Cursor<'a> {
    /// From a place on.
    pub fn at(bytes: &'a [u8], place: u64) -> Result<Self, String> {
        let place = usize::try_from(place).ok();
        let bytes = place.and_then(|place| bytes.get(place..));
        bytes.map(|bytes| Self { bytes }).ok_or_else(short)
    }

    /// The next `n` bytes.
    pub fn take(&mut self, n: u64) -> Result<&'a [u8], String> {
        let n = usize::try_from(n).ok();
        let parts = n.and_then(|n| self.bytes.split_at_checked(n));
        let (taken, rest) = parts.ok_or_else(short)?;
        self.bytes = rest;
        Ok(taken)
    }

    /// The bytes up to the next line break, which is taken too.
    pub fn line(&mut self) -> Result<&'a [u8], String> {
        let end = self.bytes.iter().position(|byte| *byte == b'\n');
        let line = self.take(end.ok_or_else(short)? as u64)?;
        self.take(1)?;
        Ok(line)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], String> {
        self.take(N as u64)?.try_into().map_err(|_| short())
    }

    pub fn u8(&mut self) -> Result<u8, String> {
        self.array().map(u8::from_le_bytes)
    }

    pub fn u16(&mut self) -> Result<u16, String> {
        self.array().map(u16::from_le_bytes)
    }

    pub fn u32(&mut self) -> Result<u32, String> {
        self.array().map(u32::from_le_bytes)
    }

    pub fn i32(&mut self) -> Result<i32, String> {
        self.array().map(i32::from_le_bytes)
    }

    pub fn u64(&mut self) -> Result<u64, String> {
        self.array().map(u64::from_le_bytes)
    }
}

/// Why a file ends before it should.
fn short() -> String {
    "it is cut short or broken".to_owned()
}
