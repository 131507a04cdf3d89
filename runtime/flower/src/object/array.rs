//! Arrays: chunks of a `.npy` file, and an object that lists them.

use bytes::Bytes;
use serde::{Deserialize, Serialize};

use super::error::ObjectError;
use super::id::ObjectId;
use super::json::python_json;
use super::set::{Encoder, ReceivedObjects};
use crate::array::{self, Array};
use crate::wire::message::ObjectTree;

const ARRAY: &str = "Array";
const CHUNK: &str = "ArrayChunk";
/// The most bytes of a chunk, as in Flower.
const CHUNK_BYTES: usize = 5 << 20;
/// The `stype` of arrays in `.npy` files.
const NUMPY: &str = "numpy.ndarray";

/// The body of an array's object.
#[derive(Serialize, Deserialize)]
struct Body {
    dtype: String,
    shape: Vec<usize>,
    stype: String,
    /// For each chunk, its place among the children.
    arraychunk_ids: Vec<usize>,
}

/// Adds an array.
pub(super) fn encode(encoder: &mut Encoder, array: &Array) -> ObjectTree {
    let (tree, objects) = array.objects().0.get_or_init(|| {
        let mut own = Encoder::default();
        let tree = add(&mut own, array);
        (tree, own.objects)
    });
    let objects = objects.iter();
    encoder
        .objects
        .extend(objects.map(|(id, bytes)| (id.clone(), bytes.clone())));
    tree.clone()
}

/// Adds the objects of an array.
fn add(encoder: &mut Encoder, array: &Array) -> ObjectTree {
    // The file is its header and the elements. The first chunk has the header.
    let header = array::npy_header(array);
    let bytes = array.bytes();
    let first = CHUNK_BYTES.saturating_sub(header.len()).min(bytes.len());
    let (first, rest) = bytes.split_at(first);
    let mut chunks = vec![encoder.add(CHUNK, vec![], &[&header, first])];
    let rest = rest.chunks(CHUNK_BYTES);
    chunks.extend(rest.map(|chunk| encoder.add(CHUNK, vec![], &[chunk])));
    let mut unique: Vec<&str> = vec![];
    let mut places = vec![];
    for chunk in &chunks {
        let known = unique.iter().position(|id| *id == chunk.object_id);
        places.push(known.unwrap_or(unique.len()));
        if known.is_none() {
            unique.push(&chunk.object_id);
        }
    }
    let body = Body {
        dtype: array.dtype().name().to_owned(),
        shape: array.shape().to_vec(),
        stype: NUMPY.to_owned(),
        arraychunk_ids: places,
    };
    encoder.add(ARRAY, chunks, &[&python_json(&body)])
}

/// Reads an array.
pub(super) fn decode(objects: &mut ReceivedObjects, id: ObjectId) -> Result<Array, ObjectError> {
    let object = objects.get(id)?;
    object.expect(ARRAY)?;
    let body: Body =
        serde_json::from_slice(&object.body).map_err(|source| ObjectError::Json { id, source })?;
    if body.stype != NUMPY {
        return Err(entry(id, "stype", NUMPY, &body.stype));
    }
    let places = body.arraychunk_ids.iter();
    let named: Option<Vec<_>> = places.map(|at| object.children.get(*at).copied()).collect();
    let named = named.ok_or(ObjectError::Children { id })?;
    let mut used = vec![false; object.children.len()];
    for at in &body.arraychunk_ids {
        used[*at] = true;
    }
    if used.contains(&false) {
        return Err(ObjectError::Children { id });
    }
    let file = join(objects, &named)?;
    let found = array::decode(&file).map_err(|source| ObjectError::Array { id, source })?;
    if found.dtype().name() != body.dtype {
        return Err(entry(id, "dtype", &body.dtype, found.dtype().name()));
    }
    if found.shape() != body.shape {
        let (expected, found) = (format!("{:?}", body.shape), format!("{:?}", found.shape()));
        return Err(entry(id, "shape", &expected, &found));
    }
    Ok(found)
}

/// The chunks, one after another. A single one is shared, not copied.
fn join(objects: &mut ReceivedObjects, chunks: &[ObjectId]) -> Result<Bytes, ObjectError> {
    let mut pieces = vec![];
    let mut total = 0;
    for id in chunks {
        let chunk = objects.get(*id)?;
        chunk.expect(CHUNK)?;
        total += chunk.body.len();
        objects.reserve(chunk.body.len() as u64)?;
        pieces.push(chunk.body);
    }
    if let [piece] = pieces.as_slice() {
        return Ok(piece.clone());
    }
    let mut file = Vec::with_capacity(total);
    for piece in &pieces {
        file.extend_from_slice(piece);
    }
    Ok(file.into())
}

fn entry(id: ObjectId, name: &str, expected: &str, found: &str) -> ObjectError {
    ObjectError::Entry {
        id,
        problem: format!("the {name} of the array is {found}, expected {expected}"),
    }
}
