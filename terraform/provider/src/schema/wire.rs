//! The schema as Terraform reads it.

use super::{Attribute, Given, Kind};
use crate::plugin::messages::{Block, NestedType, Schema, SchemaAttribute};

/// Markdown, in descriptions.
const MARKDOWN: i32 = 1;

/// The schema of these attributes.
#[must_use]
pub fn wire(text: &str, attributes: &[Attribute]) -> Schema {
    Schema {
        version: 0,
        block: Some(Block {
            version: 0,
            attributes: attributes.iter().map(attribute).collect(),
            description: text.to_owned(),
            description_kind: MARKDOWN,
        }),
    }
}

fn attribute(attribute: &Attribute) -> SchemaAttribute {
    let (r#type, nested_type) = match &attribute.kind {
        Kind::Object(inner) => (Vec::new(), Some(nested(inner, 1))),
        Kind::Objects(inner) => (Vec::new(), Some(nested(inner, 2))),
        Kind::ObjectMap(inner) => (Vec::new(), Some(nested(inner, 4))),
        Kind::Bool => (br#""bool""#.to_vec(), None),
        Kind::Number => (br#""number""#.to_vec(), None),
        Kind::Text => (br#""string""#.to_vec(), None),
        Kind::Texts => (br#"["list","string"]"#.to_vec(), None),
        Kind::TextSet => (br#"["set","string"]"#.to_vec(), None),
        Kind::TextMap => (br#"["map","string"]"#.to_vec(), None),
        Kind::Numbers => (br#"["list","number"]"#.to_vec(), None),
    };
    let given = &attribute.given;
    SchemaAttribute {
        name: attribute.name.to_owned(),
        r#type,
        nested_type,
        description: attribute.text.clone(),
        description_kind: MARKDOWN,
        required: matches!(given, Given::Required),
        optional: matches!(given, Given::Optional | Given::Default(_) | Given::OrServer),
        computed: matches!(
            given,
            Given::Default(_) | Given::OrServer | Given::Fixed | Given::Server
        ),
        sensitive: attribute.sensitive,
        deprecated: false,
        write_only: false,
    }
}

fn nested(attributes: &[Attribute], nesting: i32) -> NestedType {
    NestedType { attributes: attributes.iter().map(attribute).collect(), nesting }
}
