//! Settles at the executor's start how commands are isolated, by trying it.

use super::folder::WorkFolders;
use super::probe::probe;
use super::spawner::Spawner;
use crate::cgroup::{self, Claim, Controller, Found, Place};
use crate::identity::Users;
use crate::isolation::{Bubblewrap, Ceilings, IsolationReport, Measures, Works};
use protocol::Capacity;
use runtime::config::{ExecutorConfig, IsolationMode};
use std::io::ErrorKind;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use tokio::task::spawn_blocking;

/// Where programs of the system are. Not the `PATH`: this one must be the system's.
const FOLDERS: [&str; 5] =
    ["/usr/bin", "/bin", "/usr/local/bin", "/usr/sbin", "/run/current-system/sw/bin"];
const PROGRAM: &str = "bwrap";

/// `executor.isolation` asks for what this machine does not have.
#[derive(Debug, thiserror::Error)]
#[error(
    "`executor.isolation` is \"bubblewrap\", and {why}. Install bubblewrap (Debian: `apt-get install bubblewrap`) and \
     allow user namespaces, or set it to \"auto\" to run commands without"
)]
pub struct IsolationError {
    why: String,
}

/// How commands are isolated here.
#[derive(Debug)]
pub(crate) struct Isolation {
    bubblewrap: Option<Bubblewrap>,
    places: Vec<Place>,
    ceilings: Ceilings,
    report: IsolationReport,
    /// Of the folders of `places`.
    _claim: Claim,
}

impl Isolation {
    pub(crate) const fn report(&self) -> &IsolationReport {
        &self.report
    }

    /// For an attempt that was given `resources`, in a pool that opens the network or not.
    pub(crate) fn measures(&self, resources: &Capacity, network: bool) -> Measures {
        measures(&self.ceilings, self.bubblewrap.as_ref(), &self.places, (resources, network))
    }
}

fn measures(
    ceilings: &Ceilings,
    bubblewrap: Option<&Bubblewrap>,
    places: &[Place],
    (resources, network): (&Capacity, bool),
) -> Measures {
    let limits = ceilings.limits(resources);
    let sandbox = bubblewrap.map(|with| ceilings.sandbox(with, &limits, network));
    Measures { sandbox, places: places.to_vec(), limits }
}

/// Tries what this machine has.
///
/// # Errors
/// When bubblewrap is demanded and does not work.
pub(crate) async fn establish(
    config: &ExecutorConfig,
    folders: &WorkFolders,
    (users, not_own): (&Users, Option<String>),
    spawner: &Spawner,
) -> Result<Isolation, IsolationError> {
    let ceilings = Ceilings::of(config);
    let name = group_name(&config.data_dir);
    let found = spawn_blocking(move || {
        let (found, claim) = find_and_claim(&name);
        let left = cgroup::clean(&found.places);
        if left > 0 {
            tracing::info!(left, "{left} control groups were left by an earlier boot; removed");
        }
        (found, claim)
    });
    let (found, claim) = found.await.unwrap_or_default();
    let mut notes: Vec<String> = found
        .missing
        .iter()
        .map(|(controller, why)| format!("no control group for {}: {why}", controller.name()))
        .chain(not_own)
        .collect();
    let bubblewrap = match config.isolation {
        IsolationMode::None => {
            notes.push("`executor.isolation` is \"none\"".to_owned());
            None
        }
        mode => {
            let tried = try_bubblewrap(&ceilings, &found.places, (folders, users), spawner).await;
            match (tried, mode) {
                (Err(why), IsolationMode::Bubblewrap) => return Err(IsolationError { why }),
                (Err(why), _) => {
                    notes.push(why);
                    None
                }
                (Ok((bubblewrap, note)), _) => {
                    notes.extend(note);
                    Some(bubblewrap)
                }
            }
        }
    };
    let limits = |controller| found.places.iter().any(|place| place.controller == controller);
    let works = Works {
        own_user: users.are_own(),
        sandbox: bubblewrap.is_some(),
        memory: limits(Controller::Memory),
        pids: limits(Controller::Pids),
        cpu: limits(Controller::Cpu),
    };
    let report = IsolationReport::new(works, notes);
    Ok(Isolation { bubblewrap, places: found.places, ceilings, report, _claim: claim })
}

/// Blocks.
fn find_and_claim(name: &str) -> (Found, Claim) {
    loop {
        let found = cgroup::find(name);
        match Claim::of(&found.places) {
            Ok(claim) => return (found, claim),
            // Removed by another executor's sweep just before it was claimed.
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => {
                tracing::warn!(%error, "Control groups cannot be marked as in use: {error}");
                return (found, Claim::default());
            }
        }
    }
}

/// How bubblewrap works here, and what does not.
async fn try_bubblewrap(
    ceilings: &Ceilings,
    places: &[Place],
    (folders, users): (&WorkFolders, &Users),
    spawner: &Spawner,
) -> Result<(Bubblewrap, Option<String>), String> {
    let found = FOLDERS.iter().map(|folder| Path::new(folder).join(PROGRAM)).find(|p| p.is_file());
    let program = found.ok_or_else(|| "bubblewrap is not installed".to_owned())?;
    let whole = Capacity::default();
    let try_with = async |bubblewrap: &Bubblewrap| {
        let measures = measures(ceilings, Some(bubblewrap), places, (&whole, false));
        probe(spawner, folders, users, measures).await
    };
    let mut note = None;
    if users.are_ourselves() {
        let bubblewrap = Bubblewrap { program: program.clone(), user_mounts: true };
        match try_with(&bubblewrap).await {
            Ok(()) => return Ok((bubblewrap, None)),
            Err(why) => note = Some(format!("commands see the path of their work folder: {why}")),
        }
    }
    let bubblewrap = Bubblewrap { program, user_mounts: false };
    match try_with(&bubblewrap).await {
        Ok(()) => Ok((bubblewrap, note)),
        Err(why) => Err(format!("bubblewrap does not work here: {why}")),
    }
}

/// One folder for each executor's data, the same at each of its starts.
fn group_name(data_dir: &Path) -> String {
    let path = data_dir.canonicalize().unwrap_or_else(|_| data_dir.to_owned());
    format!("{}{:08x}", cgroup::PREFIX, crc32fast::hash(path.as_os_str().as_bytes()))
}
