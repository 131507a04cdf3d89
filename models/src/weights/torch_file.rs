//! Writing of the files that `torch.save` writes of a `state_dict`: an archive, uncompressed, with a
//! pickle that describes the tensors and a file of bytes for each.
//!
//! The pickle has only what `torch.load(..., weights_only=True)` allows.

use std::io::{Cursor, Write};

use zip::result::ZipError;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime, ZipWriter};

use super::NamedValues;
use super::write::little_endian;

/// The bytes of a file that `torch.load` reads as an ordered dictionary of these tensors, which
/// `load_state_dict` takes. Names and orders of values are to be those of
/// [`Layout::PyTorch`](super::Layout). The same tensors give the same bytes.
///
/// # Errors
///
/// The archive cannot be written, as one with a file of more than 4 GiB.
pub fn to_torch_file(tensors: &[NamedValues<'_>]) -> Result<Vec<u8>, ZipError> {
    let mut archive = ZipWriter::new(Cursor::new(vec![]));
    let options = SimpleFileOptions::default()
        .compression_method(CompressionMethod::Stored)
        .last_modified_time(DateTime::default());
    let mut add = |name: &str, data: &[u8]| -> Result<(), ZipError> {
        archive.start_file(format!("archive/{name}"), options)?;
        Ok(archive.write_all(data)?)
    };
    add("data.pkl", &pickle(tensors))?;
    add("byteorder", b"little")?;
    for (key, tensor) in tensors.iter().enumerate() {
        add(&format!("data/{key}"), &little_endian(tensor.values))?;
    }
    add("version", b"3\n")?;
    Ok(archive.finish()?.into_inner())
}

/// Opcodes of the pickle format, version 2.
mod op {
    pub const PROTOCOL: u8 = 0x80;
    pub const STOP: u8 = b'.';
    pub const GLOBAL: u8 = b'c';
    pub const MARK: u8 = b'(';
    pub const TUPLE: u8 = b't';
    pub const EMPTY_TUPLE: u8 = b')';
    pub const REDUCE: u8 = b'R';
    pub const SET_ITEMS: u8 = b'u';
    pub const PERSISTENT_ID: u8 = b'Q';
    pub const TEXT: u8 = b'X';
    pub const LONG: u8 = 0x8a;
    pub const FALSE: u8 = 0x89;
}

/// The dictionary as a pickle.
fn pickle(tensors: &[NamedValues<'_>]) -> Vec<u8> {
    let mut out = vec![op::PROTOCOL, 2];
    ordered_dict(&mut out);
    out.push(op::MARK);
    for (key, tensor) in tensors.iter().enumerate() {
        text(&mut out, tensor.name);
        rebuilt(&mut out, key, tensor);
    }
    out.extend([op::SET_ITEMS, op::STOP]);
    out
}

/// `_rebuild_tensor_v2(storage, 0, shape, strides, requires_grad=False, hooks)`.
fn rebuilt(out: &mut Vec<u8>, key: usize, tensor: &NamedValues<'_>) {
    global(out, "torch._utils", "_rebuild_tensor_v2");
    out.extend([op::MARK, op::MARK]);
    text(out, "storage");
    global(out, "torch", "FloatStorage");
    text(out, &key.to_string());
    text(out, "cpu");
    number(out, tensor.values.len());
    out.extend([op::TUPLE, op::PERSISTENT_ID]);
    number(out, 0);
    tuple(out, tensor.shape);
    tuple(out, &strides(tensor.shape));
    out.push(op::FALSE);
    ordered_dict(out);
    out.extend([op::TUPLE, op::REDUCE]);
}

/// An empty `collections.OrderedDict`.
fn ordered_dict(out: &mut Vec<u8>) {
    global(out, "collections", "OrderedDict");
    out.extend([op::EMPTY_TUPLE, op::REDUCE]);
}

fn global(out: &mut Vec<u8>, module: &str, name: &str) {
    out.push(op::GLOBAL);
    out.extend(format!("{module}\n{name}\n").bytes());
}

fn text(out: &mut Vec<u8>, text: &str) {
    out.push(op::TEXT);
    out.extend((text.len() as u32).to_le_bytes());
    out.extend(text.bytes());
}

fn tuple(out: &mut Vec<u8>, numbers: &[usize]) {
    out.push(op::MARK);
    numbers.iter().for_each(|&n| number(out, n));
    out.push(op::TUPLE);
}

/// A signed number of eight bytes, as sizes of tensors are in PyTorch.
fn number(out: &mut Vec<u8>, n: usize) {
    out.extend([op::LONG, 8]);
    out.extend((n as i64).to_le_bytes());
}

/// The distances between neighbours along each axis, in row-major order.
fn strides(shape: &[usize]) -> Vec<usize> {
    let after = (1..=shape.len()).map(|i| shape[i..].iter().product());
    after.collect()
}
