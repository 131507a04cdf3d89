//! JSON with the spaces and escapes of Python's `json.dumps`, so that equal values have equal ids
//! on both sides.

use std::io::{self, Write};

use serde::Serialize;
use serde_json::ser::{Formatter, Serializer};

/// The JSON text of a value, as Python writes it.
pub(super) fn python_json(value: &impl Serialize) -> Vec<u8> {
    let mut text = vec![];
    let mut serializer = Serializer::with_formatter(&mut text, Python);
    // Memory takes all bytes, and our values have only texts as keys.
    let written = value.serialize(&mut serializer);
    debug_assert!(written.is_ok());
    text
}

struct Python;

impl Formatter for Python {
    fn begin_array_value<W: ?Sized + Write>(&mut self, w: &mut W, first: bool) -> io::Result<()> {
        if first { Ok(()) } else { w.write_all(b", ") }
    }

    fn begin_object_key<W: ?Sized + Write>(&mut self, w: &mut W, first: bool) -> io::Result<()> {
        if first { Ok(()) } else { w.write_all(b", ") }
    }

    fn begin_object_value<W: ?Sized + Write>(&mut self, w: &mut W) -> io::Result<()> {
        w.write_all(b": ")
    }

    fn write_string_fragment<W: ?Sized + Write>(
        &mut self,
        w: &mut W,
        fragment: &str,
    ) -> io::Result<()> {
        for character in fragment.chars() {
            if matches!(character, ' '..='~') {
                w.write_all(&[character as u8])?;
                continue;
            }
            for unit in character.encode_utf16(&mut [0; 2]) {
                write!(w, "\\u{unit:04x}")?;
            }
        }
        Ok(())
    }
}
