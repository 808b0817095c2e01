//! Brings a database to this version: tables, policies, and the service roles' logins.
//!
//! Run by `berth migrate` and by tests, as the owner of the tables. The statements are in `migrations/`, compiled in.
//! Each runs once, in a transaction; a second run does nothing. Several at once wait for each other: on a lock that
//! ends with its transaction, so that no pooler and no killed process can keep it.

use crate::StoreError;
use runtime::config::ServiceRole;
use sqlx::{AssertSqlSafe, Connection, Executor, PgConnection};

const ROLES: [ServiceRole; 5] = [
    ServiceRole::Api,
    ServiceRole::Submit,
    ServiceRole::Scheduler,
    ServiceRole::ResourceManager,
    ServiceRole::Admin,
];

/// What the hot roles' sessions are set to. Their statements are index look-ups by design; a plan
/// made while a table was small must not scan it when it is large. A bitmap scan would read the entries of rows that are gone each
/// time anew, where a plain one marks them; and no look at a few rows, however many the planner expects, is worth starting workers.
const HOT_SETTINGS: [&str; 5] = [
    "enable_hashjoin = off",
    "enable_mergejoin = off",
    "enable_bitmapscan = off",
    "max_parallel_workers_per_gather = 0",
    "plan_cache_mode = force_generic_plan",
];

/// What every service's sessions are set to. A transaction left open by a lost client would keep its locks: it is undone when a
/// client that lives would have given up too. A statement that its client gave up ends, where the system can tell. Each connection
/// that comes back to its pool undoes what is open; that mostly nothing is need not be told.
const SETTINGS: [&str; 5] = [
    "enable_seqscan = off",
    "jit = off",
    "idle_in_transaction_session_timeout = '8s'",
    "client_connection_check_interval = '1s'",
    "client_min_messages = error",
];

/// Migrates the database at `owner_url` and lets the service roles log in with `service_password` (empty: none set).
///
/// # Errors
/// When the database cannot be reached, a statement fails, or another migration runs for a minute; earlier migrations stay.
pub async fn run(owner_url: &str, service_password: &str) -> Result<(), StoreError> {
    let mut guard = PgConnection::connect(owner_url).await?;
    let mut alone = guard.begin().await?;
    alone.execute("set local lock_timeout = '60s'").await?;
    alone.execute("select pg_advisory_xact_lock(hashtext('berth_migrate'))").await?;
    let mut connection = PgConnection::connect(owner_url).await?;
    let mut migrations = sqlx::migrate!("../migrations");
    // sqlx's own lock belongs to a session, and a transaction pooler would leave it behind.
    migrations.set_locking(false);
    migrations.run(&mut connection).await.map_err(StoreError::Migrate)?;
    let mut tried = 0;
    loop {
        tried += 1;
        match let_log_in(&mut connection, service_password).await {
            // Roles belong to the cluster: the migration of another database may be at the same row.
            Err(StoreError::Database(error)) if tried < 20 && is_concurrent_update(&error) => {
                runtime::clock::sleep(std::time::Duration::from_millis(50)).await;
            }
            result => {
                result?;
                break;
            }
        }
    }
    connection.close().await?;
    alone.commit().await?;
    guard.close().await.map_err(StoreError::from)
}

async fn let_log_in(connection: &mut PgConnection, password: &str) -> Result<(), StoreError> {
    let mut script = String::from("begin;");
    for role in ROLES {
        let user = role.user();
        script.push_str(&format!("alter role {user} login"));
        if !password.is_empty() {
            script.push_str(&format!(" password '{}'", password.replace('\'', "''")));
        }
        script.push(';');
        let hot = matches!(
            role,
            ServiceRole::Submit | ServiceRole::Scheduler | ServiceRole::ResourceManager
        );
        for setting in SETTINGS.iter().chain(HOT_SETTINGS.iter().filter(|_| hot)) {
            script.push_str(&format!("alter role {user} set {setting};"));
        }
    }
    script.push_str("commit;");
    let result = connection.execute(AssertSqlSafe(script)).await;
    if result.is_err() {
        connection.execute("rollback").await?;
    }
    result.map(|_| ()).map_err(StoreError::from)
}

fn is_concurrent_update(error: &sqlx::Error) -> bool {
    error.as_database_error().is_some_and(|e| e.message().contains("concurrently updated"))
}
