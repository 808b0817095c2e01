//! From the headers of a request to `identity`, and from its refusals to problems.

mod authority;
mod bearer;
mod refusal;

pub(crate) use authority::Authority;
pub(crate) use bearer::{bearer, ended};
