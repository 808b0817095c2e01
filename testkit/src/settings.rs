//! What tests are told from outside: the engines' URLs, exported by `scripts/with-services`, and where programs lie.
//!
//! The only place in testkit that reads the environment, so that a missing engine is always explained the same way.

use std::path::PathBuf;

/// A superuser's URL of a Postgres to make test databases in.
pub fn database_url() -> Option<String> {
    read("BERTH_TEST_DATABASE_URL")
}

/// The URL of a RabbitMQ to share with other tests.
pub fn amqp_url() -> Option<String> {
    read("BERTH_TEST_AMQP_URL")
}

/// The URL of a Redis to share with other tests.
pub fn redis_url() -> Option<String> {
    read("BERTH_TEST_REDIS_URL")
}

/// The folder in which `scripts/test` has built the workspace's programs. Absolute: tasks that run one of them do so elsewhere.
pub fn program_folder() -> Option<PathBuf> {
    let given = PathBuf::from(read("BERTH_TEST_BIN_DIR")?);
    Some(std::path::absolute(&given).unwrap_or(given))
}

/// The folder with the programs of the release before.
pub fn release_before() -> Option<PathBuf> {
    read("BERTH_TEST_RELEASE_BEFORE").map(PathBuf::from)
}

/// The folder in which `scripts/with-services` makes those of engines, where it was told one.
pub fn services_base() -> Option<PathBuf> {
    read("BERTH_SERVICES_BASE").map(PathBuf::from)
}

/// The task and attempt an executor has started this process for.
pub fn task_and_attempt() -> Option<(String, String)> {
    Some((read("BERTH_TASK_ID")?, read("BERTH_ATTEMPT")?))
}

/// How often a test repeats what it asserts: `full` rounds where `SCALE=1` is set, else the `usual`.
#[must_use]
pub fn rounds(usual: usize, full: usize) -> usize {
    if read("SCALE").is_some_and(|scale| scale == "1") { full } else { usual }
}

/// The root of the checkout.
pub fn workspace() -> PathBuf {
    let testkit = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    testkit.parent().map_or_else(|| testkit.clone(), PathBuf::from)
}

#[expect(clippy::disallowed_methods, reason = "test settings are no part of Berth's configuration")]
fn read(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}
