//! Requests and answers about ephemeral resources, which are never stored.

use super::{Diagnostic, DynamicValue};
use prost::Message;

/// `OpenEphemeralResource`.
#[derive(Clone, PartialEq, Message)]
pub struct Open {
    #[prost(string, tag = "1")]
    pub type_name: String,
    #[prost(message, optional, tag = "2")]
    pub config: Option<DynamicValue>,
}

/// Its answer.
#[derive(Clone, PartialEq, Message)]
pub struct Opened {
    #[prost(message, repeated, tag = "1")]
    pub diagnostics: Vec<Diagnostic>,
    #[prost(message, optional, tag = "3")]
    pub result: Option<DynamicValue>,
    /// What `Close` gets.
    #[prost(bytes = "vec", optional, tag = "4")]
    pub private: Option<Vec<u8>>,
}

/// `CloseEphemeralResource` and `RenewEphemeralResource`.
#[derive(Clone, PartialEq, Message)]
pub struct Close {
    #[prost(string, tag = "1")]
    pub type_name: String,
    #[prost(bytes = "vec", optional, tag = "2")]
    pub private: Option<Vec<u8>>,
}
