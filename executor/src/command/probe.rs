//! Runs an attempt that only looks around, to see whether the sandbox holds.

use super::folder::{WorkFolders, remove};
use super::spawner::{Spawner, Supervisor};
use crate::identity::{User, Users};
use crate::isolation::Measures;
use crate::supervise::{
    Cause, Decoder, Ended, Job, NotStarted, Report, Status, encode, monotonic_ns,
};
use runtime::clock;
use std::io;
use std::path::Path;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

/// Far more than it takes.
const PATIENCE: Duration = Duration::from_secs(10);
const PATIENCE_NS: u64 = 10_000_000_000;
/// Most of bubblewrap's own words that are of interest, bytes.
const COMPLAINT: u64 = 1000;

/// # Errors
/// Says why a command cannot be isolated like this.
pub(crate) async fn probe(
    spawner: &Spawner,
    folders: &WorkFolders,
    users: &Users,
    measures: Measures,
) -> Result<(), String> {
    let user = users.claim().map_err(|error| format!("no user: {error}"))?;
    let folder = folders.make_named("probe", user.identity());
    let folder = folder.map_err(|error| format!("no folder: {error}"))?;
    let job = job(&folder, &user, measures);
    let looked = clock::timeout(PATIENCE, look(spawner, &job)).await;
    if let Err(error) = remove(&folder) {
        tracing::warn!(%error, "The folder of the probe cannot be removed: {error}");
    }
    match looked {
        Ok(Ok(verdict)) => verdict,
        Ok(Err(error)) => Err(error.to_string()),
        Err(_) => Err("it does not end".to_owned()),
    }
}

async fn look(spawner: &Spawner, job: &Job) -> io::Result<Result<(), String>> {
    let Supervisor { mut process, mut control, stdout: _stdout, stderr } =
        spawner.supervisor().await?;
    control.write_all(&encode(job).map_err(io::Error::other)?).await?;
    let mut decoder = Decoder::default();
    let mut piece = [0; 1024];
    let report = loop {
        match decoder.next().map_err(io::Error::other)? {
            Some(Report::Started) => continue,
            Some(report) => break report,
            None => {}
        }
        let len = control.read(&mut piece).await?;
        if len == 0 {
            return Ok(Err("its supervisor ended".to_owned()));
        }
        decoder.push(piece.get(..len).unwrap_or_default());
    };
    drop(control);
    process.wait().await?;
    let mut complaint = Vec::new();
    stderr.take(COMPLAINT).read_to_end(&mut complaint).await?;
    let complaint = String::from_utf8_lossy(&complaint);
    let why = match report {
        Report::Ended(Ended { status: Status::Exited(0), cause: Cause::Itself, .. }) => {
            return Ok(Ok(()));
        }
        Report::Ended(ended) => format!("{ended:?}"),
        Report::NotStarted(NotStarted::Unable(why) | NotStarted::Refused(why)) => why,
        Report::NotStarted(NotStarted::LeaseOver) | Report::Started => {
            "it took too long".to_owned()
        }
    };
    let said = complaint.lines().next().unwrap_or("nothing");
    Ok(Err(format!("{why} (it said: {said})")))
}

fn job(folder: &Path, user: &User, measures: Measures) -> Job {
    let until = monotonic_ns().saturating_add(PATIENCE_NS);
    Job {
        argv: Vec::new(),
        env: Vec::new(),
        stdin: Vec::new(),
        folder: folder.to_owned(),
        identity: user.identity(),
        own_user: user.is_own(),
        kill_grace_ms: 0,
        cap_until_ns: until,
        lease_until_ns: until,
        sandbox: measures.sandbox,
        places: measures.places,
        group: "probe".to_owned(),
        limits: measures.limits,
        probe: true,
    }
}
