//! The dashboard as a browser meets it: signing in and out, forms, what each kind of person sees, and what never becomes markup.

mod access;
mod account;
pub mod browser;
mod code;
mod costs;
mod every;
mod operators;
mod schedules;
mod sign_in;
mod tasks;
mod webhooks;
mod workflows;
