//! Any JSON or YAML, in the order in which it was written.
//!
//! A definition passes through it from its file to the server: nothing is dropped, and nodes stay in their order.

use serde::de::{MapAccess, SeqAccess, Visitor};
use serde::ser::{SerializeMap, SerializeSeq};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Number;
use std::fmt;

/// A value.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::customer) enum Ordered {
    /// Nothing.
    Null,
    /// True or false.
    Bool(bool),
    /// A number.
    Number(Number),
    /// A text.
    Text(String),
    /// A list.
    List(Vec<Self>),
    /// An object, with what is in it twice.
    Map(Vec<(String, Self)>),
}

impl Ordered {
    /// The field `name` of an object.
    pub fn get(&self, name: &str) -> Option<&Self> {
        let (_, value) = self.fields().iter().find(|(key, _)| key == name)?;
        Some(value)
    }

    /// The fields of an object; of anything else none.
    pub fn fields(&self) -> &[(String, Self)] {
        if let Self::Map(fields) = self { fields } else { &[] }
    }

    /// The items of a list; of anything else none.
    pub fn items(&self) -> &[Self] {
        if let Self::List(items) = self { items } else { &[] }
    }

    /// A text as it is, and anything else as JSON.
    pub fn plain(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            other => serde_json::to_string(other).unwrap_or_default(),
        }
    }
}

impl Serialize for Ordered {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Null => serializer.serialize_unit(),
            Self::Bool(value) => serializer.serialize_bool(*value),
            Self::Number(number) => number.serialize(serializer),
            Self::Text(text) => serializer.serialize_str(text),
            Self::List(items) => {
                let mut list = serializer.serialize_seq(Some(items.len()))?;
                items.iter().try_for_each(|item| list.serialize_element(item))?;
                list.end()
            }
            Self::Map(fields) => {
                let mut map = serializer.serialize_map(Some(fields.len()))?;
                fields.iter().try_for_each(|(name, value)| map.serialize_entry(name, value))?;
                map.end()
            }
        }
    }
}

impl<'de> Deserialize<'de> for Ordered {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AnyValue)
    }
}

/// Reads any value.
pub(super) struct AnyValue;

impl<'de> Visitor<'de> for AnyValue {
    type Value = Ordered;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value that JSON has")
    }

    fn visit_unit<E>(self) -> Result<Ordered, E> {
        Ok(Ordered::Null)
    }

    fn visit_none<E>(self) -> Result<Ordered, E> {
        Ok(Ordered::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Ordered, E> {
        Ok(Ordered::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Ordered, E> {
        Ok(Ordered::Number(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Ordered, E> {
        Ok(Ordered::Number(value.into()))
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<Ordered, E> {
        let number = Number::from_f64(value);
        number.map(Ordered::Number).ok_or_else(|| E::custom("JSON has no such number"))
    }

    fn visit_str<E>(self, text: &str) -> Result<Ordered, E> {
        Ok(Ordered::Text(text.to_owned()))
    }

    fn visit_string<E>(self, text: String) -> Result<Ordered, E> {
        Ok(Ordered::Text(text))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Ordered, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = list.next_element()? {
            items.push(item);
        }
        Ok(Ordered::List(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Ordered, A::Error> {
        let mut fields = Vec::new();
        while let Some(field) = map.next_entry()? {
            fields.push(field);
        }
        Ok(Ordered::Map(fields))
    }
}
