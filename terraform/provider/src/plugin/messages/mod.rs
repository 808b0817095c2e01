//! The messages of protocol 6 that a provider of resources, data sources and ephemeral resources needs.
//!
//! Written by hand from the numbers of the protocol's fields (6.10), for prost. What is absent here (functions, lists, actions, state
//! stores, resource identity) is skipped where Terraform sends it, and never sent.

mod calls;
mod ephemeral;
mod schema;

pub use calls::*;
pub use ephemeral::*;
pub use schema::*;

use prost::Message;

/// A value: MessagePack, or JSON in states of old versions of Terraform.
#[derive(Clone, PartialEq, Message)]
pub struct DynamicValue {
    #[prost(bytes = "vec", tag = "1")]
    pub msgpack: Vec<u8>,
    #[prost(bytes = "vec", tag = "2")]
    pub json: Vec<u8>,
}

/// Something that a person should read.
#[derive(Clone, PartialEq, Message)]
pub struct Diagnostic {
    /// 1: error, 2: warning.
    #[prost(int32, tag = "1")]
    pub severity: i32,
    #[prost(string, tag = "2")]
    pub summary: String,
    #[prost(string, tag = "3")]
    pub detail: String,
    #[prost(message, optional, tag = "4")]
    pub attribute: Option<AttributePath>,
}

/// Where in a value.
#[derive(Clone, PartialEq, Message)]
pub struct AttributePath {
    #[prost(message, repeated, tag = "1")]
    pub steps: Vec<PathStep>,
}

/// One step of it.
#[derive(Clone, PartialEq, Message)]
pub struct PathStep {
    #[prost(oneof = "Selector", tags = "1, 2, 3")]
    pub selector: Option<Selector>,
}

/// What it selects.
#[derive(Clone, PartialEq, prost::Oneof)]
pub enum Selector {
    #[prost(string, tag = "1")]
    Attribute(String),
    #[prost(string, tag = "2")]
    Key(String),
    #[prost(int64, tag = "3")]
    Index(i64),
}

/// State as it was stored.
#[derive(Clone, PartialEq, Message)]
pub struct RawState {
    #[prost(bytes = "vec", tag = "1")]
    pub json: Vec<u8>,
}

/// What the plugin can do.
#[derive(Clone, PartialEq, Message)]
pub struct ServerCapabilities {
    #[prost(bool, tag = "1")]
    pub plan_destroy: bool,
    #[prost(bool, tag = "2")]
    pub get_provider_schema_optional: bool,
    #[prost(bool, tag = "3")]
    pub move_resource_state: bool,
}

/// What Terraform can do.
#[derive(Clone, PartialEq, Message)]
pub struct ClientCapabilities {
    #[prost(bool, tag = "1")]
    pub deferral_allowed: bool,
    #[prost(bool, tag = "2")]
    pub write_only_attributes_allowed: bool,
}

/// Nothing.
#[derive(Clone, PartialEq, Message)]
pub struct Nothing {}

/// The answer of go-plugin's health check; 1: serving.
#[derive(Clone, PartialEq, Message)]
pub struct Health {
    #[prost(int32, tag = "1")]
    pub status: i32,
}
