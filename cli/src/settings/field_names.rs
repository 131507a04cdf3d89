//! The names of a struct's fields, as files have them.

use serde::de::value::Error;
use serde::de::{Deserialize, Deserializer, Error as _, Visitor};
use serde::forward_to_deserialize_any;

/// The names that serde reads for the fields of a struct; none for a type that is no struct.
pub(crate) fn field_names<'de, T: Deserialize<'de>>() -> &'static [&'static str] {
    let mut names: &'static [&'static str] = &[];
    // Nothing is read: it ends with the error of `NameRecorder`.
    let _ = T::deserialize(NameRecorder(&mut names));
    names
}

/// A source of no values, which remembers the names of the fields that it is asked for.
struct NameRecorder<'a>(&'a mut &'static [&'static str]);

impl<'de> Deserializer<'de> for NameRecorder<'_> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Error> {
        Err(Error::custom("there are no values"))
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        *self.0 = fields;
        self.deserialize_any(visitor)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit
        unit_struct newtype_struct seq tuple tuple_struct map enum identifier ignored_any
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_files() {
        #[derive(serde::Deserialize)]
        struct Example {
            first: u8,
            #[serde(rename = "second")]
            other: Option<String>,
        }
        assert_eq!(field_names::<Example>(), ["first", "second"]);
        assert!(field_names::<u8>().is_empty());
        let file = r#"{"first": 1, "second": "text"}"#;
        let Example { first, other } = serde_json::from_str(file).unwrap();
        assert_eq!((first, other.as_deref()), (1, Some("text")));
    }
}
