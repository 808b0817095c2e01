//! What a route says of itself for the API's description, which `description` builds.
//!
//! `plan` shows the limits of plans and `words` the domain's own names, taken from the domain.

mod doc;
mod form;
pub mod plan;
pub mod words;

pub use doc::{
    AnswerDoc, AnswerHeader, Content, Doc, IF_MATCH, IF_NONE_MATCH, PAGE, Param,
    SOME_PAGES_ARE_SHORT,
};
pub use form::Form;
