//! What the text of a parameter may be, as the schema that generators of clients read.
//!
//! Given with each parameter of a route, beside the code that reads it. A test asks the server for each value that a form allows at
//! its bounds, and for some that it does not.

use utoipa::openapi::schema::{KnownFormat, ObjectBuilder, SchemaFormat, SchemaType, Type};
use utoipa::openapi::{ArrayBuilder, Ref, RefOr, Schema};

/// The form of a parameter.
#[derive(Debug, Clone, Copy)]
pub enum Form {
    /// Any text.
    Text,
    /// A text that this regular expression (ECMA-262) matches.
    Pattern(&'static str),
    /// A whole number.
    Whole {
        /// The least.
        least: u32,
        /// The most.
        most: u32,
        /// What is taken when it is left out.
        usual: Option<u32>,
    },
    /// `true` or `false`.
    Flag,
    /// A time (RFC 3339).
    Time,
    /// A day, such as 2030-01-31.
    Day,
    /// One of these texts.
    OneOf(&'static [&'static str]),
    /// A schema of the document.
    Schema(&'static str),
    /// Given several times, each of this form.
    Many(&'static Form),
}

impl Form {
    pub(crate) fn schema(self) -> RefOr<Schema> {
        let of = |kind: Type| ObjectBuilder::new().schema_type(SchemaType::Type(kind));
        let text = |format| of(Type::String).format(Some(SchemaFormat::KnownFormat(format))).into();
        match self {
            Self::Text => of(Type::String).into(),
            Self::Pattern(pattern) => of(Type::String).pattern(Some(pattern)).into(),
            Self::Whole { least, most, usual } => of(Type::Integer)
                .format(Some(SchemaFormat::KnownFormat(KnownFormat::Int64)))
                .minimum(Some(least))
                .maximum(Some(most))
                .default(usual.map(Into::into))
                .into(),
            Self::Flag => of(Type::Boolean).into(),
            Self::Time => text(KnownFormat::DateTime),
            Self::Day => text(KnownFormat::Date),
            Self::OneOf(texts) => of(Type::String).enum_values(Some(texts.iter().copied())).into(),
            Self::Schema(name) => Ref::from_schema_name(name).into(),
            Self::Many(form) => ArrayBuilder::new().items(form.schema()).into(),
        }
    }
}
