//! Schemas.

use super::{Diagnostic, ServerCapabilities};
use prost::Message;
use std::collections::HashMap;

/// A schema with its version.
#[derive(Clone, PartialEq, Message)]
pub struct Schema {
    #[prost(int64, tag = "1")]
    pub version: i64,
    #[prost(message, optional, tag = "2")]
    pub block: Option<Block>,
}

/// Its attributes.
#[derive(Clone, PartialEq, Message)]
pub struct Block {
    #[prost(int64, tag = "1")]
    pub version: i64,
    #[prost(message, repeated, tag = "2")]
    pub attributes: Vec<SchemaAttribute>,
    #[prost(string, tag = "4")]
    pub description: String,
    /// 1: Markdown.
    #[prost(int32, tag = "5")]
    pub description_kind: i32,
}

/// One of them.
#[derive(Clone, PartialEq, Message)]
pub struct SchemaAttribute {
    #[prost(string, tag = "1")]
    pub name: String,
    /// JSON of its type; empty with a nested type.
    #[prost(bytes = "vec", tag = "2")]
    pub r#type: Vec<u8>,
    #[prost(string, tag = "3")]
    pub description: String,
    #[prost(bool, tag = "4")]
    pub required: bool,
    #[prost(bool, tag = "5")]
    pub optional: bool,
    #[prost(bool, tag = "6")]
    pub computed: bool,
    #[prost(bool, tag = "7")]
    pub sensitive: bool,
    /// 1: Markdown.
    #[prost(int32, tag = "8")]
    pub description_kind: i32,
    #[prost(bool, tag = "9")]
    pub deprecated: bool,
    #[prost(message, optional, tag = "10")]
    pub nested_type: Option<NestedType>,
    #[prost(bool, tag = "11")]
    pub write_only: bool,
}

/// Attributes within an attribute.
#[derive(Clone, PartialEq, Message)]
pub struct NestedType {
    #[prost(message, repeated, tag = "1")]
    pub attributes: Vec<SchemaAttribute>,
    /// 1: an object, 2: a list of objects, 4: a map of objects.
    #[prost(int32, tag = "3")]
    pub nesting: i32,
}

/// Every schema.
#[derive(Clone, PartialEq, Message)]
pub struct ProviderSchema {
    #[prost(message, optional, tag = "1")]
    pub provider: Option<Schema>,
    #[prost(map = "string, message", tag = "2")]
    pub resource_schemas: HashMap<String, Schema>,
    #[prost(map = "string, message", tag = "3")]
    pub data_source_schemas: HashMap<String, Schema>,
    #[prost(message, repeated, tag = "4")]
    pub diagnostics: Vec<Diagnostic>,
    #[prost(message, optional, tag = "6")]
    pub server_capabilities: Option<ServerCapabilities>,
    #[prost(map = "string, message", tag = "8")]
    pub ephemeral_resource_schemas: HashMap<String, Schema>,
}

/// The names of what the provider has.
#[derive(Clone, PartialEq, Message)]
pub struct Metadata {
    #[prost(message, optional, tag = "1")]
    pub server_capabilities: Option<ServerCapabilities>,
    #[prost(message, repeated, tag = "2")]
    pub diagnostics: Vec<Diagnostic>,
    #[prost(message, repeated, tag = "3")]
    pub data_sources: Vec<TypeName>,
    #[prost(message, repeated, tag = "4")]
    pub resources: Vec<TypeName>,
    #[prost(message, repeated, tag = "6")]
    pub ephemeral_resources: Vec<TypeName>,
}

/// A name.
#[derive(Clone, PartialEq, Message)]
pub struct TypeName {
    #[prost(string, tag = "1")]
    pub type_name: String,
}
