//! `/v1/sessions` and `/v1/sign-up`: users sign in, stay signed in, change their password, and sign out; customers sign up.

pub mod accept;
pub mod list;
pub mod password;
pub mod refresh;
pub mod sign_in;
pub mod sign_out;
pub mod sign_up;
pub mod view;
