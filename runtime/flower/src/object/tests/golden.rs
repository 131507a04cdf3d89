//! The objects that Flower makes of the same values (`tests/golden/make.py`).

use bytes::Bytes;
use prost::Message as _;

use super::received;
use crate::array::{Array, Dtype};
use crate::form::Form;
use crate::object::{ContentEncoder, ObjectId, decode_message, id_of};
use crate::payload::{Arrays, Config, ConfigValue, MetricValue, Metrics, Payload};
use crate::wire::message::{Error, Metadata};
use crate::wire::record::RecordDict;

/// The objects of one message, children before their parents.
pub(super) fn golden(name: &str) -> Vec<(&'static str, Bytes)> {
    let text = include_str!("../../../tests/golden/objects.txt");
    let lines = text.lines().filter_map(|line| line.strip_prefix(name));
    let objects = lines.map(|line| {
        let (id, hex) = line.trim().split_once(' ').unwrap();
        let byte = |at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap();
        (id, (0..hex.len()).step_by(2).map(byte).collect())
    });
    objects.collect()
}

fn array(dtype: Dtype, shape: &[usize], bytes: impl IntoIterator<Item = Vec<u8>>) -> Array {
    let bytes = bytes.into_iter().flatten().collect::<Vec<_>>();
    Array::new(dtype, shape.to_vec(), bytes).unwrap()
}

fn payload() -> Payload {
    let weights = (-3..3).map(|i| (i as f32 / 4.).to_le_bytes().to_vec());
    let doubles = [1e300_f64, -0.0].map(|x| x.to_le_bytes().to_vec());
    let int = || array(Dtype::I32, &[], [7_i32.to_le_bytes().to_vec()]);
    let long = i64::MIN.to_le_bytes().to_vec();
    let arrays: Arrays = [
        ("conv1.weight", array(Dtype::F32, &[2, 3], weights)),
        ("double", array(Dtype::F64, &[2], doubles)),
        ("int", int()),
        ("long", array(Dtype::I64, &[1, 1, 1], [long])),
        ("bytes", array(Dtype::U8, &[5], [(0..5).collect()])),
        ("mask é🌸\u{7f}\"", array(Dtype::Bool, &[2], [vec![1, 0]])),
        ("empty", array(Dtype::F32, &[0, 4], [])),
        ("same as int", int()),
    ]
    .map(|(name, array)| (name.to_owned(), array))
    .into();
    let metrics: Metrics = [
        ("num-examples", MetricValue::Int(600)),
        ("loss", MetricValue::Float(0.5)),
        ("all", MetricValue::Floats(vec![1.5, -2.0])),
        ("ints", MetricValue::Ints(vec![-1, 2])),
    ]
    .map(|(name, value)| (name.to_owned(), value))
    .into();
    let config: Config = [
        ("server-round", ConfigValue::Int(3)),
        ("lr", ConfigValue::Float(0.1)),
        ("on", ConfigValue::Bool(true)),
        ("text", ConfigValue::Text("hé".to_owned())),
        ("raw", ConfigValue::Bytes(vec![0, 255].into())),
        ("floats", ConfigValue::Floats(vec![0.5])),
        ("longs", ConfigValue::Ints(vec![-1, 2])),
        ("flags", ConfigValue::Bools(vec![true, false])),
        (
            "texts",
            ConfigValue::Texts(vec!["a".to_owned(), String::new()]),
        ),
        ("raws", ConfigValue::ByteStrings(vec![vec![1], vec![]])),
    ]
    .map(|(name, value)| (name.to_owned(), value))
    .into();
    Payload::new()
        .with("arrays", arrays)
        .with("metrics", metrics)
        .with("config", config)
}

fn metadata() -> Metadata {
    Metadata {
        run_id: u64::MAX - 58,
        message_id: String::new(),
        src_node_id: 1,
        dst_node_id: (1 << 63) + 5,
        reply_to_message_id: String::new(),
        group_id: "3".to_owned(),
        ttl: 90.5,
        message_type: "train.fed_prox".to_owned(),
        created_at: 1_764_000_000.25,
    }
}

#[test]
fn objects_are_those_of_flower() {
    let (payload, mut encoder) = (payload(), ContentEncoder::default());
    let content = encoder.encode(&payload, Form::Objects, 0);
    let (envelope, tree) = encoder.message(metadata(), Ok(&content), &[]);
    assert_eq!(envelope.content, Some(RecordDict::default()));
    let ours = encoder.objects();
    let theirs = golden("request");
    assert_eq!(ours.len(), theirs.len());
    for (id, bytes) in &theirs {
        assert_eq!(ours.get(*id), Some(bytes), "object {id}");
    }
    assert_eq!(theirs.last().unwrap().0, tree.object_id);
}

#[test]
fn objects_of_flower_are_read() {
    let theirs = golden("request");
    let id = ObjectId::parse(theirs.last().unwrap().0).unwrap();
    let message = decode_message(&mut received(theirs), id).unwrap();
    assert_eq!(message.metadata, metadata());
    assert_eq!(message.content.unwrap(), payload());
}

#[test]
fn an_error_of_flower_is_written_and_read() {
    let error = Error {
        code: 2,
        reason: "out of memöry".to_owned(),
    };
    let mut encoder = ContentEncoder::default();
    let (_, tree) = encoder.message(metadata(), Err(&error), &[]);
    let theirs = golden("error");
    assert_eq!(theirs[0].0, tree.object_id);
    assert_eq!(theirs[0].1, encoder.objects()[0]);
    let id = id_of(&tree).unwrap();
    let read = decode_message(&mut received(theirs), id).unwrap();
    assert_eq!(read.content.unwrap_err(), error);
}

/// A payload of which `shared` is too large for the room, and its envelope of Flower.
pub(super) fn inline() -> (Payload, Bytes) {
    let bytes = |bytes: Vec<u8>| ("bytes".to_owned(), ConfigValue::Bytes(bytes.into()));
    let own = Config::from([
        bytes(vec![1, 0, 255]),
        ("n".to_owned(), ConfigValue::Int(7)),
    ]);
    let metrics = Metrics::from([("loss".to_owned(), MetricValue::Float(0.5))]);
    let payload = Payload::new()
        .with("own", own)
        .with("shared", Config::from([bytes((0..200).collect())]))
        .with("metrics", metrics);
    (payload, golden("envelope").remove(0).1)
}

#[test]
fn envelopes_are_those_of_flower() {
    let (payload, theirs) = inline();
    let mut encoder = ContentEncoder::default();
    let content = encoder.encode(&payload, Form::Inline, 100);
    let (message, tree) = encoder.message(metadata(), Ok(&content), &[]);
    let ours = message.content.unwrap();
    assert_eq!(ours.encode_to_vec(), theirs);
    let (id, shared) = golden("shared").remove(0);
    assert_eq!(encoder.objects()[id], shared);
    assert_eq!(tree.children[0].object_id, id);
    // A second message with the same record, and one without records.
    let objects = encoder.objects().len();
    encoder.encode(&payload, Form::Inline, 1 << 20);
    assert_eq!(encoder.objects().len(), objects);
    let empty = Payload::new();
    let content = encoder.encode(&empty, Form::Inline, 100);
    let (message, _) = encoder.message(metadata(), Ok(&content), &[]);
    assert_eq!(message.content.unwrap().items.len(), 1);
}

#[test]
fn equal_chunks_of_an_array_are_one_object() {
    let shape = vec![3 * 5 * (1 << 20) / 4];
    let zeros = Array::new(Dtype::F32, shape, vec![0; 15 << 20]).unwrap();
    let arrays: Arrays = [("zeros".to_owned(), zeros)].into();
    let payload = Payload::new().with("arrays", arrays);
    let mut encoder = ContentEncoder::default();
    encoder.encode(&payload, Form::Objects, 0);
    let (id, bytes) = golden("zeros").remove(0);
    assert_eq!(encoder.objects().get(id), Some(&bytes));
    // The first chunk with the header, one of zeros for two, the last; the array, the records.
    assert_eq!(encoder.objects().len(), 6);
}
