//! The executor as a real process against a real gRPC server that plays the resource manager.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "these are tests, down to their helpers"
)]

/// Makes two tests of each function, which takes the value of `executor.isolation`: with bubblewrap where this
/// machine has it, and without.
macro_rules! in_both_modes {
    ($($name:ident),* $(,)?) => {$(
        mod $name {
            #[tokio::test]
            async fn isolated() {
                super::$name("auto").await;
            }

            #[tokio::test]
            async fn plain() {
                super::$name("none").await;
            }
        }
    )*};
}

mod agent;
mod called;
mod host;
mod name_server;
mod proxy;
mod rm;

mod bombs;
mod commands;
mod drains;
mod ends;
mod fencing;
mod held;
mod hostile;
mod http_answers;
mod http_calls;
mod http_ends;
mod http_names;
mod isolation;
mod log_level;
mod noops;
mod outputs;
mod probes;
mod results;
mod spooling;
mod streams;
mod trees;
mod users;
