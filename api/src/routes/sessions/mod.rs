//! `/v1/sessions`: users sign in, stay signed in, and sign out.

pub mod accept;
pub mod list;
pub mod refresh;
pub mod sign_in;
pub mod sign_out;
pub mod view;
