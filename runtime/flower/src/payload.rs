//! The payload of a message: named records of arrays, metrics and settings.

use bytes::Bytes;
use indexmap::IndexMap;

use crate::array::Array;

/// Named arrays in order, such as the parameters of a model. Flower's `ArrayRecord`.
pub type Arrays = IndexMap<String, Array>;

/// Named numbers. Flower's `MetricRecord`; its strategies average those of all parties, so that
/// every party must send the same names.
pub type Metrics = IndexMap<String, MetricValue>;

/// Named settings. Flower's `ConfigRecord`.
pub type Config = IndexMap<String, ConfigValue>;

/// A number or a list of numbers.
#[derive(Clone, Debug, PartialEq)]
pub enum MetricValue {
    /// A floating-point number.
    Float(f64),
    /// An integer with a sign; integers of Python arrive so, unless they are above `i64::MAX`.
    Int(i64),
    /// An integer without a sign.
    Uint(u64),
    /// A list of floating-point numbers.
    Floats(Vec<f64>),
    /// A list of integers.
    Ints(Vec<i64>),
    /// A list of integers without signs.
    Uints(Vec<u64>),
}

/// A setting or a list of settings of one type.
#[derive(Clone, Debug, PartialEq)]
pub enum ConfigValue {
    /// A floating-point number.
    Float(f64),
    /// An integer with a sign.
    Int(i64),
    /// An integer without a sign.
    Uint(u64),
    /// A truth value.
    Bool(bool),
    /// A text.
    Text(String),
    /// Bytes. They travel in one piece: for megabytes, use a [`crate::Dtype::U8`] array.
    Bytes(Bytes),
    /// A list of floating-point numbers.
    Floats(Vec<f64>),
    /// A list of integers.
    Ints(Vec<i64>),
    /// A list of integers without signs.
    Uints(Vec<u64>),
    /// A list of truth values.
    Bools(Vec<bool>),
    /// A list of texts.
    Texts(Vec<String>),
    /// A list of byte strings.
    ByteStrings(Vec<Vec<u8>>),
}

/// Arrays, metrics or settings.
#[derive(Clone, Debug, PartialEq)]
pub enum Record {
    /// Tensors.
    Arrays(Arrays),
    /// Numbers.
    Metrics(Metrics),
    /// Settings.
    Config(Config),
}

/// The content of a message: named records in order. Flower's `RecordDict`.
///
/// Flower's strategies name records `arrays` and `config` in requests, `arrays` and `metrics` in
/// replies.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Payload {
    /// The records by name.
    pub records: IndexMap<String, Record>,
}

impl Payload {
    /// A message without records.
    pub fn new() -> Self {
        Self::default()
    }

    /// The same with one more record, which replaces one of the same name.
    #[must_use]
    pub fn with(mut self, name: impl Into<String>, record: impl Into<Record>) -> Self {
        self.records.insert(name.into(), record.into());
        self
    }

    /// The arrays of this name, if there is such a record.
    pub fn arrays(&self, name: &str) -> Option<&Arrays> {
        match self.records.get(name) {
            Some(Record::Arrays(arrays)) => Some(arrays),
            _ => None,
        }
    }

    /// The metrics of this name, if there is such a record.
    pub fn metrics(&self, name: &str) -> Option<&Metrics> {
        match self.records.get(name) {
            Some(Record::Metrics(metrics)) => Some(metrics),
            _ => None,
        }
    }

    /// The settings of this name, if there is such a record.
    pub fn config(&self, name: &str) -> Option<&Config> {
        match self.records.get(name) {
            Some(Record::Config(config)) => Some(config),
            _ => None,
        }
    }
}

impl From<Arrays> for Record {
    fn from(arrays: Arrays) -> Self {
        Self::Arrays(arrays)
    }
}

impl From<Metrics> for Record {
    fn from(metrics: Metrics) -> Self {
        Self::Metrics(metrics)
    }
}

impl From<Config> for Record {
    fn from(config: Config) -> Self {
        Self::Config(config)
    }
}
