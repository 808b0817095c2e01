//! Finds the engines' programs on this machine, and says what to install where they are missing.

use crate::failure::{Exit, Failure};
use runtime::config;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Oldest Postgres with all that the migrations use.
const OLDEST_POSTGRES: u32 = 14;

/// Folder of the programs of one Postgres.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PostgresPrograms {
    /// Holds `initdb` and `postgres`.
    pub folder: PathBuf,
    /// As in 17.
    pub major: u32,
}

/// The newest Postgres on this machine; the one that made the data where there are some.
pub fn postgres(made_with: Option<u32>) -> Result<PostgresPrograms, Failure> {
    let found = installed();
    let fits = |one: &&PostgresPrograms| match made_with {
        Some(major) => one.major == major,
        None => one.major >= OLDEST_POSTGRES,
    };
    if let Some(best) = found.iter().filter(fits).max_by_key(|one| one.major) {
        return Ok(best.clone());
    }
    let versions: Vec<String> = found.iter().map(|one| one.major.to_string()).collect();
    let there = if versions.is_empty() {
        "none is installed".to_owned()
    } else {
        format!("installed is {}", versions.join(", "))
    };
    Err(missing(match made_with {
        Some(major) => format!(
            "the data folder needs PostgreSQL {major}, and {there}. Install it (`apt-get install postgresql-{major}`)"
        ),
        None => format!(
            "Berth keeps its data in PostgreSQL {OLDEST_POSTGRES} or newer, and {there}. Install it \
             (`apt-get install postgresql`), name the folder of its programs in POSTGRES_BIN_DIR, \
             or use one that runs with `--database-url postgres://owner:password@host:5432/database`"
        ),
    }))
}

fn installed() -> Vec<PostgresPrograms> {
    if let Some(folder) = config::variable("POSTGRES_BIN_DIR").filter(|text| !text.is_empty()) {
        return looked_at(Path::new(&folder)).into_iter().collect();
    }
    let debian = fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let folders = debian.map(|version| version.path().join("bin")).chain(search_path());
    folders.filter_map(|folder| looked_at(&folder)).collect()
}

fn looked_at(folder: &Path) -> Option<PostgresPrograms> {
    if !folder.join("initdb").is_file() || !folder.join("postgres").is_file() {
        return None;
    }
    let said = Command::new(folder.join("postgres")).arg("--version").output().ok()?;
    let major = major_of(&String::from_utf8_lossy(&said.stdout))?;
    Some(PostgresPrograms { folder: folder.to_owned(), major })
}

/// The version in `postgres (PostgreSQL) 15.8 (Debian 15.8-0+deb12u1)` or `... 18beta1`.
fn major_of(said: &str) -> Option<u32> {
    let version = said.split_whitespace().nth(2)?;
    let digits = version.split(|c: char| !c.is_ascii_digit()).next()?;
    digits.parse().ok()
}

/// `rabbitmq-server`: the script itself, not Debian's wrapper, which asks for another user.
pub fn rabbitmq() -> Result<PathBuf, Failure> {
    let versions = fs::read_dir("/usr/lib/rabbitmq/lib").into_iter().flatten().flatten();
    let scripts = versions.map(|version| version.path().join("sbin/rabbitmq-server"));
    let newest = scripts.filter(|path| path.is_file()).max();
    newest.or_else(|| find("rabbitmq-server")).ok_or_else(|| {
        missing(
            "`--full` hands work over through RabbitMQ, which is not installed. Install it \
             (`apt-get install rabbitmq-server`), or use one that runs with `--amqp-url amqp://user:password@host:5672/%2f`"
                .to_owned(),
        )
    })
}

/// `redis-server`, where it is installed.
pub fn redis() -> Option<PathBuf> {
    find("redis-server")
}

/// A program in the PATH or where system programs are.
pub fn find(program: &str) -> Option<PathBuf> {
    search_path().map(|folder| folder.join(program)).find(|path| path.is_file())
}

fn search_path() -> impl Iterator<Item = PathBuf> {
    let path = config::variable("PATH").unwrap_or_default();
    let folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    folders.into_iter().chain(["/usr/local/sbin", "/usr/sbin", "/sbin"].map(PathBuf::from))
}

fn missing(text: String) -> Failure {
    Failure::new(Exit::Usage, text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_whatever_stands_around_them() {
        for (said, major) in [
            ("postgres (PostgreSQL) 15.8 (Debian 15.8-0+deb12u1)\n", Some(15)),
            ("postgres (PostgreSQL) 18beta1\n", Some(18)),
            ("postgres (PostgreSQL) 17devel\n", Some(17)),
            ("no such thing", None),
        ] {
            assert_eq!(major_of(said), major, "{said}");
        }
    }

    #[test]
    fn data_of_a_version_that_is_not_there_ask_for_just_that_version() {
        let text = postgres(Some(9)).unwrap_err().to_string();
        assert!(text.contains("apt-get install postgresql-9"), "{text}");
    }
}
