//! What a route says of itself for the API's description, which `description` builds.
//!
//! `words` shows the domain's own names, taken from the domain.

mod doc;
mod form;
pub mod words;

pub use doc::{
    AnswerDoc, AnswerHeader, Content, Doc, IF_MATCH, IF_NONE_MATCH, PAGE, Param,
    SOME_PAGES_ARE_SHORT,
};
pub use form::Form;
