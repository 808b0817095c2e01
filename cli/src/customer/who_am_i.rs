//! `berth whoami`.

use super::connection::Connection;
use super::failure::failure;
use crate::failure::Failure;
use crate::output::{self, Details, Format, age};
use client::WhoAmI;
use domain::tenant::TenantState;
use domain::time::Timestamp;
use runtime::clock;

/// Shows which server and tenant the key is of, and what it may do.
pub async fn run(connection: &Connection) -> Result<(), Failure> {
    let own = connection.client.who_am_i().await.map_err(|error| failure(&error))?;
    match connection.format {
        Format::Json => output::document(own.json()),
        Format::Table => output::text(&shown(connection.client.server(), &own, clock::wall())),
    }
}

fn shown(server: &str, own: &WhoAmI, now: Timestamp) -> String {
    let mut details = Details::default();
    details.row("server", server);
    let name = own.tenant_name.as_deref().unwrap_or_default();
    details.row("tenant", format!("{name} ({})", own.tenant));
    details.some("account", Some(&own.tenant_state).filter(|state| **state != TenantState::Active));
    if let Some(key) = &own.key {
        details.row("key", format!("{} ({})", key.id, key.name));
        details.some("made for", key.user);
        details.row("scopes", joined(&key.scopes));
        let end = key.expires_at.map(|at| {
            format!(
                "{} ({})",
                at.to_rfc3339_opts(chrono::SecondsFormat::Secs, true),
                age::ago(at, now)
            )
        });
        details.row("expires", end.unwrap_or_else(|| "never".to_owned()));
    }
    if let Some(user) = &own.user {
        details.row("user", format!("{} ({})", user.email, user.id));
        details.row("role", &user.role);
    }
    details.row("may", joined(&own.permissions));
    details.to_string()
}

fn joined(words: &[impl ToString]) -> String {
    words.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_shown_with_its_tenant_its_scopes_and_its_end() {
        let own: WhoAmI = serde_json::from_str(
            r#"{"tenant":"tenant_0190a6f3c1d27a3e8b1f0c2d4e5f6071","tenant_name":"acme","tenant_state":"active","user":null,
                "key":{"id":"q2mnv5c7xk3a","name":"ci","scopes":["read"],"user":null,"expires_at":"2030-02-01T12:00:00Z"},
                "permissions":["tasks.read","usage.read"],"new":"field"}"#,
        )
        .unwrap();
        let now = "2030-01-31T12:00:00Z".parse().unwrap();
        assert_eq!(
            shown("http://a:1", &own, now),
            "server   http://a:1\ntenant   acme (tenant_0190a6f3c1d27a3e8b1f0c2d4e5f6071)\nkey      q2mnv5c7xk3a (ci)\n\
             scopes   read\nexpires  2030-02-01T12:00:00Z (in 1d)\nmay      tasks.read, usage.read\n"
        );
    }
}
