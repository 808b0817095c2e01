//! What a database administrator runs where the owner may not make roles.

use super::database::{NO_LARGE_OBJECTS, only_for};
use super::roles::Login;
use crate::StoreError;
use runtime::config::DatabaseConfig;

/// SQL that makes and sets the roles, and closes the database to others. It may be run again, and shows no password.
///
/// # Errors
/// When the settings are not usable.
pub fn print_roles(config: &DatabaseConfig) -> Result<String, StoreError> {
    let logins = Login::all(config)?;
    let users: Vec<_> = logins.iter().map(|login| login.user.clone()).collect();
    let mut script = String::from(
        "-- In the cluster, by one who may create roles: the roles with which the services log in.\n",
    );
    for login in &logins {
        let (user, create) = (&login.user, login.create().replace('\'', "''"));
        script.push_str(&format!(
            "do $$ begin\n    if not exists (select from pg_roles where rolname = '{user}') then\n        execute '{create}';\n    end if;\nend $$;\n{};\n",
            login.let_in()
        ));
        login.set(&[]).iter().for_each(|statement| script.push_str(&format!("{statement};\n")));
    }
    script.push_str("-- In Berth's database, by its owner: only they may connect, and nobody makes temporary tables.\n");
    script.push_str(&format!("{};\n", only_for(&users)));
    script.push_str(
        "-- In Berth's database, by a superuser, where there is one: nobody makes large objects.\n",
    );
    script.push_str(&format!("{NO_LARGE_OBJECTS};\n"));
    Ok(script)
}
