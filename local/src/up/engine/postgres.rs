//! A private Postgres: made once, durable as in earnest, reached through a socket that only this user can reach.
//!
//! No port at all, so none can be taken. When `berth up` is killed it shuts down by itself; the next start waits for that.

use super::place::Place;
use super::programs::{self, PostgresPrograms};
use super::{Places, not_there};
use crate::failure::Failure;
use crate::up::child::{
    Keeper, Launch, Output, StopSteps, Supervised, Surroundings, end_leftovers,
};
use nix::sys::signal::Signal;
use nix::unistd::syncfs;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Fast (roll back what runs, write all out), then immediate.
const STOP: StopSteps =
    &[(Signal::SIGINT, Duration::from_secs(15)), (Signal::SIGQUIT, Duration::from_secs(5))];

/// What differs from Postgres's own defaults. Never written to a file: a newer Berth may want others.
const SETTINGS: [&str; 14] = [
    "listen_addresses=",
    "port=5432",
    "unix_socket_permissions=0700",
    // A 2xx on submit is durable, here as anywhere.
    "fsync=on",
    "synchronous_commit=on",
    "full_page_writes=on",
    "shared_buffers=64MB",
    "max_wal_size=1GB",
    "jit=off",
    "log_min_messages=warning",
    "log_destination=stderr",
    "logging_collector=off",
    "ssl=off",
    // Nobody replicates it.
    "max_wal_senders=0",
];

/// The running server.
#[derive(Debug)]
pub struct Postgres {
    server: Supervised,
    url: String,
    log: PathBuf,
}

impl Postgres {
    /// Starts it, and makes its data where there are none. It may not answer yet.
    pub async fn start(
        places: &Places,
        keeper: &Keeper,
        log: PathBuf,
        (password, connections): (&str, u32),
    ) -> Result<Self, Failure> {
        let place = places.of_engine("postgres")?;
        let data = place.folder.join("data");
        let made_with = fs::read_to_string(data.join("PG_VERSION")).ok();
        let made_with = made_with.and_then(|text| text.trim().parse().ok());
        let programs = programs::postgres(made_with)?;
        if !end_leftovers(&place.folder, &["postgres", "initdb"]).await {
            return Err(Failure::failed(format!(
                "another Postgres runs in {} and does not end",
                data.display()
            )));
        }
        let io_failed =
            |error: io::Error| Failure::failed(format!("cannot start Postgres: {error}"));
        if made_with.is_none() {
            init(&place, &programs, keeper, (password, &log)).await?;
        }
        // Nobody works here, so it is stale; its pid may belong to somebody else by now.
        fs::remove_file(data.join("postmaster.pid")).ok();
        let sockets = place.socket_folder().map_err(io_failed)?;
        let url = url(&sockets, password);
        let server = serve(&place, &programs, (&sockets, connections), &log);
        Ok(Self { server: Supervised::start("postgres", keeper, server, STOP, None), url, log })
    }

    /// Where it answers, as its superuser.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The failure to tell when it has ended.
    pub fn alive(&self) -> Result<(), Failure> {
        super::alive(&self.server, "Postgres", &self.log)
    }

    /// The failure to tell when it does not answer.
    pub fn silent(&self) -> Failure {
        not_there("Postgres", "does not answer", &self.log)
    }

    /// The process, to be looked after.
    pub const fn server(&self) -> &Supervised {
        &self.server
    }

    /// Ends it with everything written out.
    pub async fn stop(self) {
        self.server.stop().await;
    }
}

fn serve(
    place: &Place,
    programs: &PostgresPrograms,
    (sockets, connections): (&Path, u32),
    log: &Path,
) -> Launch {
    let mut arguments: Vec<OsString> = vec!["-D".into(), place.folder.join("data").into()];
    let own = [
        format!("unix_socket_directories={}", sockets.display()),
        format!("max_connections={connections}"),
    ];
    for setting in SETTINGS.iter().map(ToString::to_string).chain(own) {
        arguments.extend(["-c".into(), setting.into()]);
    }
    launch(place, programs.folder.join("postgres"), arguments, log)
}

fn launch(place: &Place, program: PathBuf, arguments: Vec<OsString>, log: &Path) -> Launch {
    Launch {
        program,
        arguments,
        surroundings: Surroundings::Bare,
        environment: vec![("LC_ALL".to_owned(), "C".to_owned())],
        folder: place.folder.clone(),
        user: place.user.clone(),
        // "Fast": what runs is rolled back and all is written out, so that the next start has nothing to recover.
        death: Signal::SIGINT,
        output: Output::File(log.to_owned()),
    }
}

/// Makes the data under another name first, so that a half-made one is never taken for whole.
async fn init(
    place: &Place,
    programs: &PostgresPrograms,
    keeper: &Keeper,
    (password, log): (&str, &Path),
) -> Result<(), Failure> {
    let failed = |error: io::Error| {
        Failure::failed(format!(
            "cannot create the database in {}: {error}",
            place.folder.display()
        ))
    };
    let draft = place.folder.join("data.new");
    if draft.exists() {
        fs::remove_dir_all(&draft).map_err(failed)?;
    }
    let password_file = place.write("password", password).map_err(failed)?;
    let mut arguments: Vec<OsString> =
        ["-U", "postgres", "--auth=scram-sha-256", "-E", "UTF8", "--no-sync"]
            .map(OsString::from)
            .to_vec();
    arguments.extend(["--no-locale".into(), "-D".into(), draft.clone().into()]);
    arguments.extend(["--pwfile".into(), password_file.clone().into()]);
    let initdb = launch(place, programs.folder.join("initdb"), arguments, log);
    let mut child = keeper.start_child(initdb).await.map_err(failed)?;
    let ended = child.wait().await.map_err(failed)?;
    fs::remove_file(&password_file).ok();
    if !ended.success() {
        return Err(not_there("initdb", &format!("failed ({ended})"), log));
    }
    // A thousand files: in one go instead of one by one, which takes seconds. In a thread, because it may block.
    let folder = place.folder.clone();
    let synced = tokio::task::spawn_blocking(move || {
        syncfs(File::open(&folder)?)?;
        fs::rename(&draft, folder.join("data"))?;
        File::open(&folder)?.sync_all()
    });
    synced.await.map_err(io::Error::other).flatten().map_err(failed)
}

/// All that a variable such as PGPORT could change is said.
fn url(sockets: &Path, password: &str) -> String {
    let escaped: String = sockets
        .to_string_lossy()
        .bytes()
        .map(|byte| match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'.' | b'-' | b'_' => {
                char::from(byte).to_string()
            }
            _ => format!("%{byte:02X}"),
        })
        .collect();
    format!("postgres://postgres:{password}@localhost:5432/postgres?host={escaped}&sslmode=disable")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_socket_in_any_folder_has_a_url() {
        assert_eq!(
            url(Path::new("/tmp/a b&c"), "abc"),
            "postgres://postgres:abc@localhost:5432/postgres?host=%2Ftmp%2Fa%20b%26c&sslmode=disable"
        );
    }
}
