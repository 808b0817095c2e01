//! `berth admin user create`.
//!
//! How a tenant gets its first owner: no API key makes owners. The token goes to standard output, alone, and nowhere else.

use super::operator::OperatorSettings;
use super::{database, tenant_keys};
use crate::failure::Failure;
use crate::output::{self, Format, age};
use api::auth::{Purpose, one_time};
use chrono::TimeDelta;
use domain::access::Role;
use domain::id::UserId;
use runtime::clock;
use runtime::config::{self, ExposeSecret};
use serde_json::json;
use store::idempotency::Once;
use store::user::{Created, Entry, NewUser};

/// Who is invited.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example:\n  berth admin user create --tenant acme --email ann@example.com --role owner\n\n\
                  The user sets a password with `berth accept` and the printed token."
)]
pub struct UserCreateArguments {
    /// Name of the tenant.
    #[arg(long)]
    pub tenant: String,
    /// E-mail address to sign in with.
    #[arg(long)]
    pub email: String,
    /// Role: owner, admin, developer, billing or viewer.
    #[arg(long)]
    pub role: Role,
    #[command(flatten)]
    settings: OperatorSettings,
}

/// Stores the user and prints the invitation's token.
pub async fn run(arguments: &UserCreateArguments, format: Format) -> Result<(), Failure> {
    let config = config::load(arguments.settings.config.as_deref())?;
    let token = one_time(Purpose::Invitation)
        .map_err(|error| Failure::failed(format!("a token {error}")))?;
    let life = TimeDelta::from_std(config.auth.invitation_life).unwrap_or_default();
    let expires_at = clock::wall() + life;
    let new = NewUser {
        id: UserId::fresh(),
        email: arguments.email.trim().to_lowercase(),
        role: arguments.role,
        entry: Entry::Invitation { hash: token.hash, expires_at },
    };
    let (db, scope) = tenant_keys::scoped(&config, &arguments.tenant).await?;
    let scope = scope.acting(arguments.settings.by());
    let created = store::user::create(&db, &scope, new, None, |_| Vec::new()).await;
    db.close().await;
    let Once::Done(Created::Done(user)) = created.map_err(|error| database::failure(&error))?
    else {
        let (email, tenant) = (&arguments.email, &arguments.tenant);
        return Err(Failure::failed(format!(
            "`{tenant}` already has a user with the address {email}"
        )));
    };
    let text = token.text.expose_secret();
    match format {
        Format::Json => output::line(
            &json!({"id": user.id, "email": user.email, "role": user.role, "invite_token": text,
                "expires_at": expires_at})
            .to_string(),
        ),
        Format::Table => {
            let end = age::ago(expires_at, clock::wall());
            output::remark(&format!(
                "{} is invited as {}; the token ends {end}. Store it now: it cannot be shown again:",
                user.email, user.role
            ));
            output::line(text)
        }
    }
}
