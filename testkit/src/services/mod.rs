//! Engines a test owns: it may kill, freeze and restart them without hurting another test.
//!
//! Tests that only need *a* Postgres or RabbitMQ share the one of `scripts/with-services`; see [`crate::db`] and
//! [`TestBroker`]. The recipes live in `scripts/private-engine`, used by both, so an engine of a test and one of
//! `make test` are the same engine.

mod broker;
mod engine;
mod pgbouncer;
mod ports;
mod postgres;
mod procfs;
mod rabbit;
mod redis;
mod run_folder;

pub use broker::TestBroker;
pub use engine::Engine;
pub use pgbouncer::PrivatePgBouncer;
pub use postgres::PrivatePostgres;
pub use rabbit::PrivateRabbit;
pub use redis::{PrivateRedis, RedisCluster, TestRedis};
