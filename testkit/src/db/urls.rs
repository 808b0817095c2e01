//! Derives one Postgres URL from another: another database, another user. Options after `?` stay.

use anyhow::anyhow;
use url::Url;

pub(super) fn with_database(url: &str, database: &str) -> anyhow::Result<String> {
    let mut parsed = Url::parse(url)?;
    parsed.set_path(database);
    Ok(parsed.into())
}

pub(super) fn with_user(url: &str, user: &str, password: &str) -> anyhow::Result<String> {
    let mut parsed = Url::parse(url)?;
    parsed.set_username(user).map_err(|()| anyhow!("a URL without a host has no user"))?;
    parsed
        .set_password(Some(password))
        .map_err(|()| anyhow!("a URL without a host has no password"))?;
    Ok(parsed.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    const ADMIN: &str = "postgres://postgres:secret@127.0.0.1:5432/postgres?sslmode=disable";

    #[test]
    fn another_database_keeps_user_and_options() {
        let url = with_database(ADMIN, "other").unwrap();
        assert_eq!(url, "postgres://postgres:secret@127.0.0.1:5432/other?sslmode=disable");
    }

    #[test]
    fn another_user_keeps_the_database() {
        let url = with_user(ADMIN, "berth_api", "pw").unwrap();
        assert_eq!(url, "postgres://berth_api:pw@127.0.0.1:5432/postgres?sslmode=disable");
    }
}
