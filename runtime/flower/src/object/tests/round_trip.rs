//! Any payload comes back as it was.

use indexmap::IndexMap;
use proptest::prelude::*;

use super::{all, received};
use crate::array::{Array, Dtype};
use crate::form::Form;
use crate::object::{ContentEncoder, InlineRecords, ObjectId, decode_message, id_of, ids_of_trees};
use crate::payload::{ConfigValue, MetricValue, Payload, Record};
use crate::wire::message::Metadata;

fn arrays() -> impl Strategy<Value = Array> {
    let shape = prop::collection::vec(0_usize..4, 0..4);
    (0..Dtype::ALL.len(), shape, any::<u8>()).prop_map(|(dtype, shape, seed)| {
        let dtype = Dtype::ALL[dtype];
        let count = shape.iter().product::<usize>() * dtype.size();
        let modulus = if dtype == Dtype::Bool { 2 } else { 251 };
        let bytes: Vec<_> = (0..count)
            .map(|i| ((i * 7 + usize::from(seed)) % modulus) as u8)
            .collect();
        Array::new(dtype, shape, bytes).unwrap()
    })
}

fn metrics() -> impl Strategy<Value = MetricValue> {
    prop_oneof![
        any::<f64>()
            .prop_filter("a number", |x| !x.is_nan())
            .prop_map(MetricValue::Float),
        any::<i64>().prop_map(MetricValue::Int),
        any::<u64>().prop_map(MetricValue::Uint),
        prop::collection::vec(any::<i64>(), 0..4).prop_map(MetricValue::Ints),
        prop::collection::vec(any::<u64>(), 0..4).prop_map(MetricValue::Uints),
    ]
}

fn settings() -> impl Strategy<Value = ConfigValue> {
    prop_oneof![
        any::<bool>().prop_map(ConfigValue::Bool),
        any::<String>().prop_map(ConfigValue::Text),
        prop::collection::vec(any::<u8>(), 0..9).prop_map(|bytes| ConfigValue::Bytes(bytes.into())),
        prop::collection::vec(any::<bool>(), 0..4).prop_map(ConfigValue::Bools),
        prop::collection::vec(any::<String>(), 0..4).prop_map(ConfigValue::Texts),
        prop::collection::vec(prop::collection::vec(any::<u8>(), 0..3), 0..3)
            .prop_map(ConfigValue::ByteStrings),
    ]
}

fn named<T: std::fmt::Debug>(
    value: impl Strategy<Value = T>,
) -> impl Strategy<Value = IndexMap<String, T>> {
    let entries = prop::collection::vec((any::<String>(), value), 0..5);
    entries.prop_map(|entries| entries.into_iter().collect())
}

fn payloads() -> impl Strategy<Value = Payload> {
    let record = prop_oneof![
        named(arrays()).prop_map(Record::Arrays),
        named(metrics()).prop_map(Record::Metrics),
        named(settings()).prop_map(Record::Config),
    ];
    named(record).prop_map(|records| Payload { records })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn payloads_come_back(payload in payloads()) {
        let mut encoder = ContentEncoder::default();
        let content = encoder.encode(&payload, Form::Objects, 0);
        let (_, tree) = encoder.message(Metadata::default(), Ok(&content), &[]);
        let ids = ids_of_trees(std::slice::from_ref(&tree)).unwrap();
        // In the order in which they are pushed.
        let order: Vec<_> = ids.iter().map(ToString::to_string).collect();
        prop_assert_eq!(&order, &encoder.objects().keys().cloned().collect::<Vec<_>>());
        let mut objects = received(all(&encoder));
        let read = decode_message(&mut objects, id_of(&tree).unwrap()).unwrap();
        prop_assert_eq!(read.content.unwrap(), payload);
    }

    #[test]
    fn inline_records_come_back(payload in payloads(), room in 0_usize..200) {
        let mut encoder = ContentEncoder::default();
        let content = encoder.encode(&payload, Form::Inline, room);
        // It may carry messages that are no part of it.
        let other = Metadata { ttl: 1.0, ..Metadata::default() };
        let (_, other) = encoder.message(other, Ok(&content), &[]);
        let carried = std::slice::from_ref(&other);
        let (envelope, tree) = encoder.message(Metadata::default(), Ok(&content), carried);
        prop_assert!(encoder.is_unread(&tree.object_id) && encoder.is_unread(&other.object_id));
        let records = envelope.content.unwrap();
        prop_assert!(!records.items.is_empty());
        let records = InlineRecords::of(id_of(&tree).unwrap(), records).unwrap();
        // The messages' own objects are not needed.
        let trees = records.trees(&tree).unwrap();
        prop_assert!(!trees.contains(&other));
        let ids = ids_of_trees(&trees).unwrap();
        let pulled = all(&encoder).into_iter();
        let pulled = pulled.filter(|(id, _)| ids.contains(&ObjectId::parse(id).unwrap()));
        let read = records.payload(&mut received(pulled)).unwrap();
        prop_assert_eq!(read, payload);
    }
}
