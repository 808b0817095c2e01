//! `berth users`: list, invite, put, role, remove.

use super::connection::Connection;
use super::failure::failure;
use crate::failure::{Exit, Failure};
use crate::output::{self, Format, Table, age};
use client::{ApiResponse, NewUser, PageRequest, User};
use domain::access::Role;
use domain::id::UserId;
use domain::time::Timestamp;
use runtime::clock;
use std::fmt;
use std::str::FromStr;

/// A user to invite.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  berth users invite ann@example.com --role developer\n\n\
                  The user sets a password with `berth accept` and the printed token.")]
pub struct UsersInviteArguments {
    /// E-mail address to sign in with.
    pub email: String,
    /// Role: owner, admin, developer, billing or viewer. You can only grant what you hold.
    #[arg(long)]
    pub role: Role,
}

/// A user, new or as they are to be from now on.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  berth users put ann@example.com developer\n\n\
                  For scripts: a new user is invited, and the token printed; an existing one gets the role.")]
pub struct UsersPutArguments {
    /// E-mail address to sign in with; or the id of a user who exists.
    #[arg(value_name = "EMAIL|ID")]
    pub user: Which,
    /// Role: owner, admin, developer, billing or viewer. You can only grant what you hold.
    pub role: Role,
    /// Only if the user has this version; 0: only if the user is new.
    #[arg(long, value_name = "VERSION", value_parser = clap::value_parser!(i64).range(0..))]
    pub if_version: Option<i64>,
}

/// A user to give another role.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  berth users role ann@example.com viewer")]
pub struct UsersRoleArguments {
    /// E-mail address or id of the user.
    #[arg(value_name = "EMAIL|ID")]
    pub user: Which,
    /// New role: owner, admin, developer, billing or viewer.
    pub role: Role,
}

/// A user to remove.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  berth users remove ann@example.com")]
pub struct UsersRemoveArguments {
    /// E-mail address or id of the user.
    #[arg(value_name = "EMAIL|ID")]
    pub user: Which,
    /// Only if the user has this version.
    #[arg(long, value_name = "VERSION", value_parser = clap::value_parser!(i64).range(1..))]
    pub if_version: Option<i64>,
}

/// One user, as people name them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Which {
    /// By id.
    Id(UserId),
    /// By e-mail address, in lower case.
    Email(String),
}

impl fmt::Display for Which {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Id(id) => id.fmt(f),
            Self::Email(email) => f.write_str(email),
        }
    }
}

impl FromStr for Which {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text.parse() {
            Ok(id) => Ok(Self::Id(id)),
            Err(_) if text.contains('@') => Ok(Self::Email(text.trim().to_lowercase())),
            Err(_) => Err("expected an e-mail address, or an id such as user_0190a6f3…"),
        }
    }
}

/// The id of a user who is named.
async fn id_of(connection: &Connection, user: &Which) -> Result<UserId, Failure> {
    let email = match user {
        Which::Id(id) => return Ok(*id),
        Which::Email(email) => email,
    };
    let mut request = Some(PageRequest { limit: Some(200), cursor: None });
    while let Some(page) = request {
        let users = connection.client.users(&page).await.map_err(|error| failure(&error))?;
        if let Some(found) = users.data.iter().find(|user| user.email == *email) {
            return Ok(found.id);
        }
        request = users.next(&page);
    }
    Err(Failure::new(
        Exit::NotFound,
        format!("no user `{email}` in your tenant; see `berth users list`"),
    ))
}

/// Shows every user.
pub async fn list(connection: &Connection) -> Result<(), Failure> {
    let mut table = Table::new(COLUMNS);
    let now = clock::wall();
    let mut request = Some(PageRequest { limit: Some(200), cursor: None });
    while let Some(page) = request {
        let users = connection.client.users(&page).await.map_err(|error| failure(&error))?;
        match connection.format {
            Format::Json => output::document(users.json())?,
            Format::Table => {
                users.data.iter().for_each(|user| table.row(row(user, now)));
                output::text(&table.take())?;
            }
        }
        request = users.next(&page);
    }
    Ok(())
}

/// Invites a user and prints the token.
pub async fn invite(
    connection: &Connection,
    arguments: &UsersInviteArguments,
) -> Result<(), Failure> {
    let made = connection.client.invite_user(&arguments.email, arguments.role).await;
    let made = made.map_err(|error| failure(&error))?;
    if connection.format == Format::Json {
        return output::document(made.json());
    }
    show(&made)
}

/// Columns of a list of users.
pub(crate) const COLUMNS: [&str; 5] = ["ID", "EMAIL", "ROLE", "STATE", "CREATED"];

/// A user as a row of a list.
pub(crate) fn row(user: &User, now: Timestamp) -> [String; 5] {
    let created = age::ago(user.created_at, now);
    [
        user.id.to_string(),
        user.email.clone(),
        user.role.to_string(),
        user.state.to_string(),
        created,
    ]
}

/// Prints a new user's invitation: the token alone on standard output.
pub(crate) fn show(made: &NewUser) -> Result<(), Failure> {
    let User { id, email, role, .. } = &made.info;
    let Some(token) = &made.invite_token else {
        return Err(Failure::failed(format!(
            "{email} was invited, but the response with the token was lost: remove `{id}` and invite again"
        )));
    };
    output::remark(&format!(
        "{email} is invited as {role}. Store the token now: it cannot be shown again:"
    ));
    output::line(token.expose())
}

/// Stores a user, and prints the token of a new one.
pub async fn put(connection: &Connection, arguments: &UsersPutArguments) -> Result<(), Failure> {
    let UsersPutArguments { user, role, if_version } = arguments;
    let stored = connection.client.put_user(&user.to_string(), *role, *if_version).await;
    show_stored(connection, &stored.map_err(|error| failure(&error))?)
}

/// Prints a stored user: the token of a new one, the role of one who was there.
pub(crate) fn show_stored(
    connection: &Connection,
    stored: &ApiResponse<NewUser>,
) -> Result<(), Failure> {
    match connection.format {
        Format::Json => output::document(stored.json()),
        Format::Table if stored.invite_token.is_some() => show(stored),
        Format::Table => output::line(&format!("{} is {}", stored.info.email, stored.info.role)),
    }
}

/// Gives a user another role.
pub async fn role(connection: &Connection, arguments: &UsersRoleArguments) -> Result<(), Failure> {
    let id = id_of(connection, &arguments.user).await?;
    let changed = connection.client.change_user(id, arguments.role).await;
    let changed = changed.map_err(|error| failure(&error))?;
    match connection.format {
        Format::Json => output::document(changed.json()),
        Format::Table => output::line(&format!("{} is {} now", changed.email, changed.role)),
    }
}

/// Removes a user.
pub async fn remove(
    connection: &Connection,
    arguments: &UsersRemoveArguments,
) -> Result<(), Failure> {
    let id = id_of(connection, &arguments.user).await?;
    let removed = connection.client.remove_user(id, arguments.if_version).await;
    show_removed(connection, &removed.map_err(|error| failure(&error))?)
}

/// Prints a removed user.
pub(crate) fn show_removed(
    connection: &Connection,
    removed: &ApiResponse<User>,
) -> Result<(), Failure> {
    match connection.format {
        Format::Json => output::document(removed.json()),
        Format::Table => output::line(&format!("{} removed", removed.email)),
    }
}
