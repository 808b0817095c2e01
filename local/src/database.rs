//! Opens the database for one operator's command, and says what to look at when it does not answer.

use crate::failure::{Exit, Failure};
use runtime::config::Config;
use runtime::error_chain::ErrorChain;
use store::StoreError;
use store::connect::AdminDb;

/// The pool of the platform's operators. Connections are made when first needed.
pub fn open(config: &Config) -> Result<AdminDb, Failure> {
    AdminDb::connect(&config.database).map_err(|error| Failure::caused(Exit::Usage, &error))
}

/// What a failed statement of an operator's command means, which asks as the role of `database.admin_url`.
pub fn failure(error: &StoreError) -> Failure {
    explained(error, "berth_admin")
}

/// What a failed statement of a command means that asks as the scheduler's role does, that of `database.scheduler_url`.
pub fn scheduler_failure(error: &StoreError) -> Failure {
    explained(error, "berth_scheduler")
}

/// What a failed migration means.
pub fn migration_failure(error: &StoreError) -> Failure {
    explained(error, "the owner, as in database.url")
}

/// With all that Postgres says of it, and as which role it was asked.
fn explained(error: &StoreError, role: &str) -> Failure {
    let mut text = ErrorChain(error).to_string();
    if let Some(more) = error.postgres_says() {
        text = format!("{text} ({more})");
    }
    match error {
        StoreError::Unavailable(_) => Failure::new(
            Exit::Unreachable,
            format!(
                "cannot reach Postgres: {text}. Is it running, and is database.url (BERTH_DATABASE__URL) right?"
            ),
        ),
        StoreError::Standby => {
            Failure::new(Exit::Unreachable, format!("{text} (BERTH_DATABASE__URL)"))
        }
        StoreError::Config(_) | StoreError::Role(_) => Failure::usage(text),
        // A pool cannot tell a database that is away from one that has no connection free.
        StoreError::Busy | StoreError::TenantBusy | StoreError::Contended | StoreError::Timeout => {
            Failure::new(
                Exit::Unreachable,
                "Postgres did not answer in time. Is it running, and is database.url (BERTH_DATABASE__URL) right?",
            )
        }
        StoreError::Malformed { .. } | StoreError::Database(_) | StoreError::Migrate(_) => {
            Failure::failed(format!(
                "{text}. The role was {role}. If tables are missing, run `berth migrate` first"
            ))
        }
    }
}
