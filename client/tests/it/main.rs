//! The client against a real HTTP server that says what a test tells it to.

#![expect(clippy::unwrap_used, reason = "a helper that cannot go on fails its test")]

mod requests;
mod retries;
mod server;
mod webhooks;
mod workflows;
