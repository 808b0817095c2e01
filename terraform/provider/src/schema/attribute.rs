//! One attribute of a resource.

use super::Form;
use crate::value::Value;
use std::collections::BTreeMap;

/// Its type.
#[derive(Debug, Clone)]
pub enum Kind {
    /// True or false.
    Bool,
    /// A number.
    Number,
    /// A text.
    Text,
    /// A list of texts.
    Texts,
    /// A set of texts: order and repetition do not count.
    TextSet,
    /// Texts by name.
    TextMap,
    /// A list of numbers.
    Numbers,
    /// An object.
    Object(Vec<Attribute>),
    /// A list of objects.
    Objects(Vec<Attribute>),
    /// Objects by name.
    ObjectMap(Vec<Attribute>),
}

/// Where its value comes from.
#[derive(Debug, Clone)]
pub enum Given {
    /// The configuration, always.
    Required,
    /// The configuration, or there is none.
    Optional,
    /// The configuration, or this.
    Default(Value),
    /// The configuration, or the server, which always has a value.
    OrServer,
    /// The server; it never changes while the object lives.
    Fixed,
    /// The server; it may change with every change of the object.
    Server,
}

/// An attribute. Built with [`Attribute::new`] and the methods below.
#[derive(Debug, Clone)]
pub struct Attribute {
    /// Its name in configurations, and in the JSON of the API.
    pub name: &'static str,
    /// Its type.
    pub kind: Kind,
    /// Where its value comes from.
    pub given: Given,
    /// What it is, for documentation: Markdown.
    pub text: String,
    /// In which forms its text may be written; of objects by name, their names.
    pub form: Form,
    /// Another value needs another object.
    pub replaces: bool,
    /// The API does not know it.
    pub local: bool,
    /// Terraform does not print it.
    pub sensitive: bool,
}

impl Attribute {
    /// An attribute of this kind.
    pub fn new(name: &'static str, kind: Kind, given: Given, text: impl Into<String>) -> Self {
        Self {
            name,
            kind,
            given,
            text: text.into(),
            form: Form::Exact,
            replaces: false,
            local: false,
            sensitive: false,
        }
    }

    /// A text.
    pub fn text(name: &'static str, given: Given, text: impl Into<String>) -> Self {
        Self::new(name, Kind::Text, given, text)
    }

    /// A number.
    pub fn number(name: &'static str, given: Given, text: impl Into<String>) -> Self {
        Self::new(name, Kind::Number, given, text)
    }

    /// A whole number from 0 to `most`.
    pub fn whole(name: &'static str, most: u64, given: Given, text: impl Into<String>) -> Self {
        Self::number(name, given, text).form(Form::Whole(most))
    }

    /// True or false.
    pub fn switch(name: &'static str, given: Given, text: impl Into<String>) -> Self {
        Self::new(name, Kind::Bool, given, text)
    }

    /// A duration such as `90s`; `1m30s` is the same.
    pub fn duration(name: &'static str, given: Given, text: impl Into<String>) -> Self {
        Self::text(name, given, text).form(Form::Duration)
    }

    /// A time of RFC 3339, in any offset.
    pub fn time(name: &'static str, given: Given, text: impl Into<String>) -> Self {
        Self::text(name, given, text).form(Form::Time)
    }

    /// An object whose attributes all have defaults, and so has one itself: not given and `{}` are the same.
    pub fn defaults(name: &'static str, fields: Vec<Self>, text: impl Into<String>) -> Self {
        let usual = fields.iter().map(|field| {
            let value = match &field.given {
                Given::Default(value) => value.clone(),
                _ => Value::Null,
            };
            (field.name.to_owned(), value)
        });
        let usual = Value::Map(usual.collect());
        Self::new(name, Kind::Object(fields), Given::Default(usual), text)
    }

    /// Texts by name; none by default.
    pub fn map(name: &'static str, text: impl Into<String>) -> Self {
        Self::new(name, Kind::TextMap, Given::Default(Value::Map(BTreeMap::new())), text)
    }

    /// A list or a set; empty by default.
    pub fn list(name: &'static str, kind: Kind, text: impl Into<String>) -> Self {
        Self::new(name, kind, Given::Default(Value::List(Vec::new())), text)
    }

    /// In which forms its text may be written.
    #[must_use]
    pub fn form(mut self, form: Form) -> Self {
        self.form = form;
        self
    }

    /// Another value needs another object.
    #[must_use]
    pub const fn replaces(mut self) -> Self {
        self.replaces = true;
        self
    }

    /// The API does not know it.
    #[must_use]
    pub const fn local(mut self) -> Self {
        self.local = true;
        self
    }

    /// Terraform does not print it.
    #[must_use]
    pub const fn sensitive(mut self) -> Self {
        self.sensitive = true;
        self
    }

    /// Whether two values are the same to the API.
    #[must_use]
    pub fn same(&self, one: &Value, other: &Value) -> bool {
        match (one, other) {
            (Value::Text(one), Value::Text(other)) => self.form.same(one, other),
            (Value::Decimal(_), _) | (_, Value::Decimal(_)) => {
                one.number().is_some() && one.number() == other.number()
            }
            (Value::List(one), Value::List(other)) if matches!(self.kind, Kind::TextSet) => {
                self.set(one) == self.set(other)
            }
            (Value::List(one), Value::List(other)) => {
                one.len() == other.len()
                    && one.iter().zip(other).all(|(one, other)| self.same(one, other))
            }
            _ => one == other,
        }
    }

    fn set(&self, items: &[Value]) -> Vec<String> {
        let mut texts: Vec<String> = items
            .iter()
            .map(|item| match item.text() {
                Some(text) => self.form.canonical(text).unwrap_or_else(|_| text.to_owned()),
                None => format!("{item:?}"),
            })
            .collect();
        texts.sort_unstable();
        texts.dedup();
        texts
    }
}
