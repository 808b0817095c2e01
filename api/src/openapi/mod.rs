//! What a route says of itself for the API's description, which `description` builds.
//!
//! Types of answers bring their schemas from `api-types`.

mod doc;
mod form;

pub use api_types::openapi::{plan, price, words};
pub use doc::{
    AnswerDoc, AnswerHeader, Content, Doc, IF_MATCH, IF_NONE_MATCH, PAGE, Param,
    SOME_PAGES_ARE_SHORT,
};
pub use form::Form;
