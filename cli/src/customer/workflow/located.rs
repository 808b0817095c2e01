//! Any JSON or YAML with the place of each value in its file, so that a mistake can be shown where it was made.

use super::ordered::{AnyValue, Ordered};
use serde::de::{MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_saphyr::Spanned;
use std::fmt;

/// Line and column, from 1.
pub(in crate::customer) type Position = (u64, u64);

/// A value and where it begins.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::customer) struct Located {
    /// Unknown in JSON that is not YAML too.
    at: Option<Position>,
    content: Content,
}

#[derive(Debug, Clone, PartialEq)]
enum Content {
    Plain(Ordered),
    List(Vec<Located>),
    Map(Vec<(String, Located)>),
}

impl Located {
    /// A value of which no place is known.
    pub fn nowhere(value: Ordered) -> Self {
        Self { at: None, content: Content::Plain(value) }
    }

    /// The value alone.
    pub fn value(&self) -> Ordered {
        match &self.content {
            Content::Plain(value) => value.clone(),
            Content::List(items) => Ordered::List(items.iter().map(Self::value).collect()),
            Content::Map(fields) => {
                let field = |(name, value): &(String, Self)| (name.clone(), value.value());
                Ordered::Map(fields.iter().map(field).collect())
            }
        }
    }

    /// The items of a list; of anything else the value itself.
    pub fn items(self) -> Vec<Self> {
        match self.content {
            Content::List(items) => items,
            Content::Plain(Ordered::List(items)) => items.into_iter().map(Self::nowhere).collect(),
            content => vec![Self { at: self.at, content }],
        }
    }

    /// Where the value at the JSON pointer is; of one that is not there, where what should hold it is.
    pub fn position(&self, pointer: &str) -> Option<Position> {
        let mut here = self;
        let mut at = here.at;
        for part in pointer.split('/').skip(1) {
            let part = part.replace("~1", "/").replace("~0", "~");
            let next = match &here.content {
                Content::Map(fields) => fields.iter().find(|(name, _)| *name == part),
                Content::List(items) => {
                    let item = part.parse::<usize>().ok().and_then(|place| items.get(place));
                    let Some(item) = item else { break };
                    here = item;
                    at = here.at.or(at);
                    continue;
                }
                Content::Plain(_) => None,
            };
            let Some((_, value)) = next else { break };
            here = value;
            at = here.at.or(at);
        }
        at
    }
}

impl<'de> Deserialize<'de> for Located {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Spanned { value: content, referenced, .. } =
            Spanned::<Content>::deserialize(deserializer)?;
        let at = Some((referenced.line(), referenced.column())).filter(|(line, _)| *line > 0);
        Ok(Self { at, content })
    }
}

impl<'de> Deserialize<'de> for Content {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ContentVisitor)
    }
}

struct ContentVisitor;

impl<'de> Visitor<'de> for ContentVisitor {
    type Value = Content;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        AnyValue.expecting(f)
    }

    fn visit_unit<E: serde::de::Error>(self) -> Result<Content, E> {
        AnyValue.visit_unit().map(Content::Plain)
    }

    fn visit_none<E: serde::de::Error>(self) -> Result<Content, E> {
        AnyValue.visit_none().map(Content::Plain)
    }

    fn visit_bool<E: serde::de::Error>(self, value: bool) -> Result<Content, E> {
        AnyValue.visit_bool(value).map(Content::Plain)
    }

    fn visit_i64<E: serde::de::Error>(self, value: i64) -> Result<Content, E> {
        AnyValue.visit_i64(value).map(Content::Plain)
    }

    fn visit_u64<E: serde::de::Error>(self, value: u64) -> Result<Content, E> {
        AnyValue.visit_u64(value).map(Content::Plain)
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<Content, E> {
        AnyValue.visit_f64(value).map(Content::Plain)
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Content, E> {
        AnyValue.visit_str(text).map(Content::Plain)
    }

    fn visit_string<E: serde::de::Error>(self, text: String) -> Result<Content, E> {
        AnyValue.visit_string(text).map(Content::Plain)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Content, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = list.next_element()? {
            items.push(item);
        }
        Ok(Content::List(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Content, A::Error> {
        let mut fields = Vec::new();
        while let Some(field) = map.next_entry()? {
            fields.push(field);
        }
        Ok(Content::Map(fields))
    }
}
