//! `berth keys`: list, create, rotate, revoke.
//!
//! As everywhere, a new key's text goes to standard output, alone, and what is said about it to standard error.

use super::connection::Connection;
use super::failure::failure;
use crate::failure::Failure;
use crate::lifetime::{lifetime, overlap};
use crate::output::{self, Format, Table, age};
use chrono::TimeDelta;
use client::{ApiKey, Extensible, KeyId, NewApiKey, PageRequest};
use domain::access::Scope;
use domain::time::Timestamp;
use runtime::clock;

/// A key to make.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example:\n  berth keys create --name ci --scope read --scope submit --expires-in 90d"
)]
pub struct KeysCreateArguments {
    /// Name of the key.
    #[arg(long)]
    pub name: String,
    /// Scope: read, submit, approve or admin; repeatable. No scope includes another. You can only grant your own.
    #[arg(long = "scope", required = true, value_name = "SCOPE")]
    pub scopes: Vec<Scope>,
    /// Lifetime, such as 90d or 12h. Default: no expiry.
    #[arg(long, value_name = "DURATION", value_parser = lifetime)]
    pub expires_in: Option<TimeDelta>,
}

/// A key to replace.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  berth keys rotate q2mnv5c7xk3a --overlap 1h")]
pub struct KeysRotateArguments {
    /// Key id: the third part of the key.
    pub id: KeyId,
    /// Time for which the old key stays valid, such as 0s, 12h or 7d; up to 30d. Default: 24h.
    #[arg(long, value_name = "DURATION", value_parser = overlap)]
    pub overlap: Option<TimeDelta>,
}

/// A key to end.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  berth keys revoke q2mnv5c7xk3a")]
pub struct KeysRevokeArguments {
    /// Key id: the third part of the key.
    pub id: KeyId,
}

/// Columns of a list of keys.
pub const COLUMNS: [&str; 6] = ["ID", "NAME", "SCOPES", "CREATED", "LAST USED", "EXPIRES"];

/// Shows every key that the caller may manage.
pub async fn list(connection: &Connection) -> Result<(), Failure> {
    let (mut table, now) = (Table::new(COLUMNS), clock::wall());
    let mut request = Some(PageRequest { limit: Some(200), cursor: None });
    while let Some(page) = request {
        let keys = connection.client.keys(&page).await.map_err(|error| failure(&error))?;
        match connection.format {
            Format::Json => output::document(keys.json())?,
            Format::Table => {
                keys.data.iter().for_each(|key| table.row(row(key, now)));
                output::text(&table.take())?;
            }
        }
        request = keys.next(&page);
    }
    Ok(())
}

/// Makes a key and prints it.
pub async fn create(
    connection: &Connection,
    arguments: &KeysCreateArguments,
) -> Result<(), Failure> {
    let life = arguments.expires_in.and_then(|life| life.to_std().ok());
    let (name, scopes) = (&arguments.name, &arguments.scopes);
    let made = connection.client.create_key(name, scopes, life).await;
    let made = made.map_err(|error| failure(&error))?;
    match connection.format {
        Format::Json => output::document(made.json()),
        Format::Table => show(&made),
    }
}

/// Replaces a key and prints the new one.
pub async fn rotate(
    connection: &Connection,
    arguments: &KeysRotateArguments,
) -> Result<(), Failure> {
    let overlap = arguments.overlap.and_then(|overlap| overlap.to_std().ok());
    let rotated = connection.client.rotate_key(&arguments.id, overlap).await;
    let rotated = rotated.map_err(|error| failure(&error))?;
    if connection.format == Format::Json {
        return output::document(rotated.json());
    }
    if let Some(end) = rotated.old.expires_at {
        let end = age::ago(end, clock::wall());
        output::remark(&format!("The old key `{}` ends {end}.", rotated.old.id));
    }
    show(&rotated.new)
}

/// Ends a key.
pub async fn revoke(
    connection: &Connection,
    arguments: &KeysRevokeArguments,
) -> Result<(), Failure> {
    let revoked = connection.client.revoke_key(&arguments.id).await;
    let revoked = revoked.map_err(|error| failure(&error))?;
    match connection.format {
        Format::Json => output::document(revoked.json()),
        Format::Table => output::line(&format!("{} revoked", revoked.id)),
    }
}

/// Prints a new key: its text alone on standard output.
pub(crate) fn show(made: &NewApiKey) -> Result<(), Failure> {
    let Some(text) = &made.key else {
        return Err(Failure::failed(format!(
            "the key `{}` was created, but the response with its text was lost: revoke it and create another",
            made.info.id
        )));
    };
    output::remark(&format!(
        "Key `{}` ({}). Store it now: it cannot be shown again:",
        made.info.name,
        words(&made.info.scopes)
    ));
    output::line(text.expose())
}

fn words(scopes: &[Extensible<Scope>]) -> String {
    scopes.iter().map(ToString::to_string).collect::<Vec<_>>().join(",")
}

/// A key as a row of a list.
pub(crate) fn row(key: &ApiKey, now: Timestamp) -> [String; 6] {
    let ago = |at: Option<Timestamp>, never: &str| {
        at.map_or_else(|| never.to_owned(), |at| age::ago(at, now))
    };
    [
        key.id.to_string(),
        key.name.clone(),
        words(&key.scopes),
        age::ago(key.created_at, now),
        ago(key.last_used_at, "never"),
        ago(key.expires_at, "never"),
    ]
}
