//! The roles with which the services log in: made where they are missing, checked where they are there.
//!
//! Roles belong to the whole cluster, and another installation may use one of the same name. So the password of a role that is there is
//! never changed unasked: whoever gives the right one may log in with it already. An owner who may change no roles can migrate where
//! they are as they should be.

use super::verifier;
use crate::{RoleError, StoreError};
use runtime::config::{DatabaseConfig, ExposeSecret, SecretString, ServiceRole};
use sqlx::postgres::PgConnectOptions;
use sqlx::{AssertSqlSafe, Connection, Executor, PgConnection, Row};
use std::str::FromStr;
use std::time::Duration;

/// What the hot roles' sessions are set to. Their statements are index look-ups by design; a plan
/// made while a table was small must not scan it when it is large. A bitmap scan would read the entries of rows that are gone each
/// time anew, where a plain one marks them; and no look at a few rows, however many the planner expects, is worth starting workers.
const HOT_SETTINGS: [(&str, &str); 5] = [
    ("enable_hashjoin", "off"),
    ("enable_mergejoin", "off"),
    ("enable_bitmapscan", "off"),
    ("max_parallel_workers_per_gather", "0"),
    ("plan_cache_mode", "force_generic_plan"),
];

/// What every service's sessions are set to. A transaction left open by a lost client would keep its locks: it is undone when a
/// client that lives would have given up too. A statement that its client gave up ends, where the system can tell.
const SETTINGS: [(&str, &str); 5] = [
    ("enable_seqscan", "off"),
    ("jit", "off"),
    ("idle_in_transaction_session_timeout", "8s"),
    ("client_connection_check_interval", "1s"),
    ("client_min_messages", "error"),
];

/// How often a role is tried that the migration of another database is changing at the same moment.
const TRIES: u32 = 20;

/// A role as this installation wants it.
pub(super) struct Login {
    role: ServiceRole,
    pub(super) user: String,
    password: Option<SecretString>,
}

impl Login {
    /// Of each role.
    pub(super) fn all(config: &DatabaseConfig) -> Result<Vec<Self>, StoreError> {
        let one = |role| {
            let password = config.password_of(role);
            let password = password.map_err(|error| StoreError::Config(error.to_string()))?;
            Ok(Self { role, user: config.user_of(role), password })
        };
        ServiceRole::ALL.into_iter().map(one).collect()
    }

    /// ` password '...'`, or nothing.
    fn password_clause(&self) -> String {
        let verifier =
            self.password.as_ref().map(|password| verifier::of(password.expose_secret()));
        verifier.map(|verifier| format!(" password '{verifier}'")).unwrap_or_default()
    }

    fn settings(&self) -> impl Iterator<Item = (&'static str, &'static str)> {
        let hot = matches!(
            self.role,
            ServiceRole::Submit | ServiceRole::Scheduler | ServiceRole::ResourceManager
        );
        SETTINGS.into_iter().chain(HOT_SETTINGS.into_iter().filter(move |_| hot))
    }

    /// The statement that makes it.
    pub(super) fn create(&self) -> String {
        let (user, password) = (&self.user, self.password_clause());
        format!(
            "create role {user} login nosuperuser nocreatedb nocreaterole noinherit nobypassrls{password}"
        )
    }

    /// The statement that lets it log in with the password given.
    pub(super) fn let_in(&self) -> String {
        format!("alter role {} login{}", self.user, self.password_clause())
    }

    /// The statements that set its sessions, all but those that are set already, as `name=value`.
    pub(super) fn set(&self, already: &[String]) -> Vec<String> {
        self.settings()
            .filter(|(name, value)| !already.contains(&format!("{name}={value}")))
            .map(|(name, value)| format!("alter role {} set {name} = '{value}'", self.user))
            .collect()
    }
}

/// Makes every role that is missing, checks every one that is there, and says what a database administrator should do.
pub(super) async fn prepare(
    connection: &mut PgConnection,
    config: &DatabaseConfig,
    reset: bool,
) -> Result<Vec<String>, StoreError> {
    let logins = Login::all(config)?;
    if reset && logins.iter().all(|login| login.password.is_none()) {
        let text =
            "no password is given: set database.service_password, or the URL of each service";
        return Err(StoreError::Config(text.to_owned()));
    }
    let mut notes = Vec::new();
    for login in logins {
        let mut tried = 0;
        loop {
            tried += 1;
            match one(connection, config, &login, reset).await {
                Err(StoreError::Database(error)) if tried < TRIES && is_anothers_doing(&error) => {
                    runtime::clock::sleep(Duration::from_millis(50)).await;
                }
                done => {
                    notes.extend(done?);
                    break;
                }
            }
        }
    }
    Ok(notes)
}

async fn one(
    connection: &mut PgConnection,
    config: &DatabaseConfig,
    login: &Login,
    reset: bool,
) -> Result<Vec<String>, StoreError> {
    let (mut notes, mut already) = (Vec::new(), Vec::new());
    match standing(connection, &login.user).await? {
        None => change(connection, &login.create(), ("create", login)).await?,
        Some(standing) => {
            if !standing.can_log_in || reset && login.password.is_some() {
                change(connection, &login.let_in(), ("change", login)).await?;
            } else if let Some(password) = &login.password {
                notes.extend(check(config, login, password).await?);
            }
            already = standing.settings;
        }
    }
    for statement in login.set(&already) {
        match change(connection, &statement, ("change", login)).await {
            Err(StoreError::Role(_)) => {
                notes.push(format!(
                    "the owner may not run `{statement}`: let a database administrator do it"
                ));
            }
            done => done?,
        }
    }
    Ok(notes)
}

struct Standing {
    can_log_in: bool,
    /// As `name=value`.
    settings: Vec<String>,
}

async fn standing(
    connection: &mut PgConnection,
    user: &str,
) -> Result<Option<Standing>, StoreError> {
    let sql = format!(
        "select r.rolcanlogin::text, c.set from pg_roles r left join lateral (
            select unnest(s.setconfig) as set from pg_db_role_setting s where s.setrole = r.oid and s.setdatabase = 0) c on true
            where r.rolname = '{user}'"
    );
    let rows = connection.fetch_all(AssertSqlSafe(sql)).await?;
    let Some(first) = rows.first() else { return Ok(None) };
    let can_log_in = first.try_get::<String, _>(0)? == "true";
    let settings: Result<Vec<Option<String>>, _> = rows.iter().map(|row| row.try_get(1)).collect();
    Ok(Some(Standing { can_log_in, settings: settings?.into_iter().flatten().collect() }))
}

async fn change(
    connection: &mut PgConnection,
    statement: &str,
    (what, login): (&'static str, &Login),
) -> Result<(), StoreError> {
    match connection.execute(AssertSqlSafe(statement.to_owned())).await {
        Ok(_) => Ok(()),
        Err(source) if code_of(&source).as_deref() == Some("42501") => {
            let role = login.user.clone();
            Err(RoleError::NotAllowed { what, role, source }.into())
        }
        Err(error) => Err(error.into()),
    }
}

/// Whether the role may log in with the password given; what to say where nobody can tell.
async fn check(
    config: &DatabaseConfig,
    login: &Login,
    password: &SecretString,
) -> Result<Option<String>, StoreError> {
    let options = PgConnectOptions::from_str(config.url.expose_secret())?
        .username(&login.user)
        .password(password.expose_secret());
    let error = match PgConnection::connect_with(&options).await {
        Ok(connection) => {
            connection.close().await?;
            return Ok(None);
        }
        Err(error) => error,
    };
    let role = login.user.clone();
    match (code_of(&error).as_deref(), &error) {
        (Some("28P01"), _) => {
            let setting = config.password_setting_of(login.role);
            Err(RoleError::OtherPassword { role, setting }.into())
        }
        // It may not connect to this database, which Postgres looks at after the password.
        (Some("42501"), _) => Ok(None),
        (_, sqlx::Error::Database(refused)) => Ok(Some(format!(
            "whether the password of {role} is the one given is not known, and it is left as it is: {}",
            refused.message()
        ))),
        _ => Err(error.into()),
    }
}

fn code_of(error: &sqlx::Error) -> Option<String> {
    error.as_database_error()?.code().map(std::borrow::Cow::into_owned)
}

/// The migration of another database has made the same role, or is at the same row.
fn is_anothers_doing(error: &sqlx::Error) -> bool {
    matches!(code_of(error).as_deref(), Some("42710" | "23505"))
        || error.as_database_error().is_some_and(|e| e.message().contains("concurrently updated"))
}
