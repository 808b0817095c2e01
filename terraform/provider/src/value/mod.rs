//! Values of Terraform: what a configuration, a plan and a state hold.

mod json;
mod msgpack;
mod path;

pub use json::{from_json, to_json};
pub use path::Path;

use serde_json::Number;
use std::collections::BTreeMap;

/// A value. Sets are lists here, objects are maps; the schema knows which is which.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Value {
    /// Not given, or nothing.
    #[default]
    Null,
    /// Known only after the apply.
    Unknown,
    /// True or false.
    Bool(bool),
    /// A whole number.
    Number(Number),
    /// Another number, in decimal: Terraform's are exact, and 0.1 is none that a machine's number holds.
    Decimal(String),
    /// A text.
    Text(String),
    /// A list or a set.
    List(Vec<Value>),
    /// An object or a map.
    Map(BTreeMap<String, Value>),
}

static NULL: Value = Value::Null;

impl Value {
    /// Reads MessagePack, as Terraform sends it.
    ///
    /// # Errors
    /// When it is none.
    pub fn read(bytes: &[u8]) -> Result<Self, String> {
        msgpack::read(bytes)
    }

    /// Writes MessagePack.
    #[must_use]
    pub fn write(&self) -> Vec<u8> {
        msgpack::write(self)
    }

    /// The attribute of an object; null where there is none.
    #[must_use]
    pub fn get(&self, name: &str) -> &Self {
        match self {
            Self::Map(fields) => fields.get(name).unwrap_or(&NULL),
            Self::Unknown => self,
            _ => &NULL,
        }
    }

    /// Sets an attribute of an object.
    pub fn set(&mut self, name: &str, value: Self) {
        if let Self::Map(fields) = self {
            fields.insert(name.to_owned(), value);
        }
    }

    /// Sets an attribute of an object in an object.
    pub fn set_in(&mut self, outer: &str, name: &str, value: Self) {
        if let Self::Map(fields) = self
            && let Some(field) = fields.get_mut(outer)
        {
            field.set(name, value);
        }
    }

    /// Whether it is null.
    #[must_use]
    pub const fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }

    /// Whether neither it nor anything in it is unknown.
    #[must_use]
    pub fn is_known(&self) -> bool {
        match self {
            Self::Unknown => false,
            Self::List(items) => items.iter().all(Self::is_known),
            Self::Map(fields) => fields.values().all(Self::is_known),
            Self::Null | Self::Bool(_) | Self::Number(_) | Self::Decimal(_) | Self::Text(_) => true,
        }
    }

    /// The text, if it is one.
    #[must_use]
    pub fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The texts of a list or set.
    #[must_use]
    pub fn texts(&self) -> Vec<&str> {
        match self {
            Self::List(items) => items.iter().filter_map(Self::text).collect(),
            _ => Vec::new(),
        }
    }

    /// The whole number, if it is one.
    #[must_use]
    pub fn whole(&self) -> Option<u64> {
        match self {
            Self::Number(number) => number.as_u64(),
            _ => None,
        }
    }

    /// The number, if it is one.
    #[must_use]
    pub fn number(&self) -> Option<f64> {
        match self {
            Self::Number(number) => number.as_f64(),
            Self::Decimal(text) => text.parse().ok(),
            _ => None,
        }
    }

    /// Whether it is true; null and unknown are not.
    #[must_use]
    pub const fn is_true(&self) -> bool {
        matches!(self, Self::Bool(true))
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<bool> for Value {
    fn from(switch: bool) -> Self {
        Self::Bool(switch)
    }
}

impl From<i64> for Value {
    fn from(number: i64) -> Self {
        Self::Number(number.into())
    }
}

/// An object of these attributes.
impl<const N: usize> From<[(&str, Value); N]> for Value {
    fn from(fields: [(&str, Value); N]) -> Self {
        Self::Map(fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
    }
}
