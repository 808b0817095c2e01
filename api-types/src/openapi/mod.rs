//! Schemas for the OpenAPI document, behind the feature `openapi`.
//!
//! `plan` shows the limits of plans and `words` the domain's own names, both made from the domain so that they cannot differ.

pub mod plan;
pub mod price;
pub mod words;
