//! `[executor]`: who the agent is, whom it serves, and what it offers.
//!
//! Read by `executor` at start-up.

use super::checks::{Checks, hours, ms, secs};
use super::environment::{variable, variable_of};
use super::error::ConfigError;
use super::values::{address, duration, name_servers};
use crate::tls::PemFile;
use domain::id::{ExecutorId, PoolName};
use serde::de::Error;
use serde::{Deserialize, Deserializer};
use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::path::{Component, Path, PathBuf};
use std::time::Duration;

/// Each that is silent costs time.
pub(super) const MAX_NAME_SERVERS: usize = 8;

/// How commands are kept apart from the machine they run on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum IsolationMode {
    /// In bubblewrap where it works, else without; the executor says which.
    Auto,
    /// In bubblewrap, or the executor does not start.
    Bubblewrap,
    /// Without bubblewrap.
    None,
}

/// Which user each attempt has under root.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunAsUids {
    /// One of its own where `run_as_user` is the default and the machine offers the numbers; else `run_as_user`.
    Auto,
    /// `run_as_user`.
    None,
    /// One of its own, of these; or the executor does not start.
    Range {
        /// The lowest.
        first: u32,
        /// The highest.
        last: u32,
    },
}

/// From `"auto"`, `"none"`, or a range such as `"2000000000-2000065535"`.
impl<'de> Deserialize<'de> for RunAsUids {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = String::deserialize(from)?;
        match text.as_str() {
            "auto" => return Ok(Self::Auto),
            "none" => return Ok(Self::None),
            _ => {}
        }
        let range = text.split_once('-').and_then(|(first, last)| {
            Some(Self::Range { first: first.parse().ok()?, last: last.parse().ok()? })
        });
        range.ok_or_else(|| {
            D::Error::custom(format!(
                "\"{text}\" is no range of user ids; use \"auto\", \"none\" or for example \"2000000000-2000065535\""
            ))
        })
    }
}

/// Lowest user id of a range: below are root and the users of the system.
const FIRST_UID: u32 = 1000;
/// Highest: the two above have a meaning to the kernel.
const LAST_UID: u32 = u32::MAX - 2;
/// Fewest user ids of a range.
const FEWEST_UIDS: u32 = 256;

/// Settings of `[executor]`; `config/default.toml` says what each means.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExecutorConfig {
    /// Name as configured; empty: the host's. Use `ExecutorConfig::id`.
    id: String,
    /// Pool this executor belongs to.
    pub pool: PoolName,
    /// Ways to run tasks that it offers, by name; at least one.
    pub drivers: Vec<String>,
    /// Resource managers to connect to; at least one.
    pub resource_managers: Vec<String>,
    /// File of the CAs that are trusted for `https://` addresses besides the usual ones; empty: none.
    pub ca_file: String,
    /// Address of the probes; port 0 takes a free one.
    #[serde(deserialize_with = "address")]
    pub health_listen: SocketAddr,
    /// Folder for work directories and undelivered results.
    pub data_dir: PathBuf,
    /// User that commands run as under root; empty: the executor's own.
    pub run_as_user: String,
    /// User ids of attempts' own under root.
    pub run_as_uids: RunAsUids,
    /// Whether commands are isolated.
    pub isolation: IsolationMode,
    /// Further host paths that isolated commands see, read-only.
    pub visible_paths: Vec<PathBuf>,
    /// Processes and threads of one attempt.
    pub max_processes: u32,
    /// Open files of one process.
    pub max_open_files: u32,
    /// Files and folders in one work folder.
    pub max_files: u32,
    /// Thousandths of a core; 0: detect.
    pub cpu_millis: u32,
    /// MiB of memory; 0: detect.
    pub memory_mib: u64,
    /// MiB of disk; 0: detect.
    pub disk_mib: u64,
    /// Disk operations a second.
    pub iops: u32,
    /// First port that tasks may be given.
    pub port_first: u16,
    /// Ports that tasks may be given.
    pub port_count: u16,
    /// Name servers for the hosts of HTTP tasks; none: the system's.
    #[serde(deserialize_with = "name_servers")]
    pub name_servers: Vec<SocketAddr>,
    /// The longest one name may take to be looked up.
    #[serde(deserialize_with = "duration")]
    pub lookup_timeout: Duration,
    /// Names looked up at once.
    pub max_lookups: u32,
    /// Of these, by one tenant.
    pub max_lookups_per_tenant: u32,
    /// Output streamed from an attempt's start, bytes.
    pub output_head_bytes: usize,
    /// Output kept from an attempt's end, bytes.
    pub output_tail_bytes: usize,
    /// Time for running tasks after SIGTERM.
    #[serde(deserialize_with = "duration")]
    pub drain_grace: Duration,
    /// Undelivered results kept on disk, bytes.
    pub spool_max_bytes: u64,
}

impl ExecutorConfig {
    /// The file of private CAs.
    #[must_use]
    pub fn ca_file(&self) -> PemFile<'_> {
        PemFile { setting: "executor.ca_file", path: &self.ca_file }
    }

    /// This executor's name: the configured one, else the host's made to fit.
    ///
    /// # Errors
    /// When none is configured and the host has no usable name.
    pub fn id(&self) -> Result<ExecutorId, ConfigError> {
        let name = if self.id.is_empty() { fitted(&host_name()) } else { self.id.clone() };
        name.parse().map_err(|_| ConfigError::Missing {
            key: "executor.id",
            message: "must be given, because the host has no usable name".to_owned(),
            variable: variable_of("executor.id"),
        })
    }

    pub(super) fn check(&self, checks: &mut Checks) {
        let id_fits = self.id.is_empty() || self.id.parse::<ExecutorId>().is_ok();
        checks.rule("executor.id", id_fits, "must be 1 to 63 of a-z 0-9 -, or empty");
        let distinct: BTreeSet<_> = self.drivers.iter().collect();
        let good = !distinct.is_empty() && distinct.len() == self.drivers.len();
        checks.rule("executor.drivers", good, "must name at least one driver, each once");
        let http = |text: &String| {
            url::Url::parse(text)
                .is_ok_and(|url| ["http", "https"].contains(&url.scheme()) && url.has_host())
        };
        checks.rule(
            "executor.resource_managers",
            !self.resource_managers.is_empty() && self.resource_managers.iter().all(http),
            "must list at least one URL such as http://127.0.0.1:7070",
        );
        let data_dir = !self.data_dir.as_os_str().is_empty();
        checks.rule("executor.data_dir", data_dir, "must name a folder");
        if let RunAsUids::Range { first, last } = self.run_as_uids {
            let fits = first >= FIRST_UID
                && last <= LAST_UID
                && last.checked_sub(first).is_some_and(|more| more >= FEWEST_UIDS - 1);
            checks.rule(
                "executor.run_as_uids",
                fits,
                format!("must be {FEWEST_UIDS} user ids or more, from {FIRST_UID} to {LAST_UID}"),
            );
        }
        checks.rule(
            "executor.visible_paths",
            self.visible_paths.iter().all(|path| may_be_shown(path)),
            "must list absolute paths without `..`, and neither / nor anything in /dev /proc /sys /tmp /work",
        );
        checks.number("executor.max_processes", self.max_processes, 8..=1_000_000);
        checks.number("executor.max_open_files", self.max_open_files, 64..=1_000_000);
        checks.number("executor.max_files", self.max_files, 100..=100_000_000);
        checks.number("executor.cpu_millis", self.cpu_millis, 0..=1_024_000);
        checks.number("executor.memory_mib", self.memory_mib, 0..=67_108_864);
        checks.number("executor.disk_mib", self.disk_mib, 0..=1_073_741_824);
        checks.number("executor.iops", self.iops, 0..=100_000_000);
        checks.number("executor.port_first", self.port_first, 1024..=65_535);
        checks.number("executor.port_count", self.port_count, 0..=64_512);
        checks.rule(
            "executor.port_count",
            u32::from(self.port_first) + u32::from(self.port_count) <= 65_536,
            "passes the last port 65535; lower it or `executor.port_first`",
        );
        checks.rule(
            "executor.name_servers",
            self.name_servers.len() <= MAX_NAME_SERVERS,
            format!("lists more than {MAX_NAME_SERVERS}"),
        );
        checks.duration("executor.lookup_timeout", self.lookup_timeout, ms(100)..=secs(60));
        checks.number("executor.max_lookups", self.max_lookups, 1..=4096);
        let all = self.max_lookups.max(1);
        checks.number("executor.max_lookups_per_tenant", self.max_lookups_per_tenant, 1..=all);
        checks.number("executor.output_head_bytes", self.output_head_bytes, 0..=67_108_864);
        checks.number("executor.output_tail_bytes", self.output_tail_bytes, 0..=67_108_864);
        checks.duration("executor.drain_grace", self.drain_grace, secs(0)..=hours(24));
        let spool = 1_048_576..=1_099_511_627_776;
        checks.number("executor.spool_max_bytes", self.spool_max_bytes, spool);
    }
}

/// The folders an isolated command has of its own cannot be the host's at the same time, and a path must
/// mean the same to whoever resolves it.
fn may_be_shown(path: &Path) -> bool {
    let own = ["/dev", "/proc", "/sys", "/tmp", "/work"];
    let plain = |part: Component<'_>| matches!(part, Component::RootDir | Component::Normal(_));
    path.is_absolute()
        && path.parent().is_some()
        && path.components().all(plain)
        && !own.iter().any(|own| path.starts_with(own))
}

/// The host's name, or empty. Linux tells it in /proc; elsewhere shells export it.
fn host_name() -> String {
    ["/proc/sys/kernel/hostname", "/etc/hostname"]
        .iter()
        .find_map(|path| std::fs::read_to_string(path).ok())
        .or_else(|| variable("HOSTNAME"))
        .unwrap_or_default()
}

/// Lower case, every other letter a dash, at most 63: `Node_7.eu` becomes `node-7-eu`.
fn fitted(host: &str) -> String {
    let plain: String = host
        .trim()
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' })
        .take(63)
        .collect();
    plain.trim_matches('-').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_paths_outside_a_commands_own_folders_may_be_shown() {
        for path in ["/opt", "/srv/models", "/etc/java-17-openjdk"] {
            assert!(may_be_shown(Path::new(path)), "{path}");
        }
        for path in ["", "/", "opt", "/opt/../root", "/tmp/x", "/work", "/proc/1", "/dev/fuse"] {
            assert!(!may_be_shown(Path::new(path)), "{path}");
        }
    }

    #[test]
    fn a_host_name_is_made_to_fit() {
        for (host, wanted) in [("Node_7.eu\n", "node-7-eu"), ("vm", "vm"), ("-x-", "x"), ("", "")] {
            assert_eq!(fitted(host), wanted);
        }
        let long = "a".repeat(62) + ".b";
        assert!(fitted(&long).parse::<ExecutorId>().is_ok());
    }
}
