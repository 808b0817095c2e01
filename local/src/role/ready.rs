//! Says where a role listens, once it does: for programs that start it on port 0.
//!
//! One JSON line on standard output, and the same in the file that BERTH_READY_FILE names (`NAME ADDRESS` a line,
//! renamed into place). Nothing else is ever written to a role's standard output. systemd is notified, where it asked for
//! that.

use super::notify;
use crate::failure::Failure;
use crate::output;
use serde::Serialize;
use std::fs;
use std::io;
use std::net::SocketAddr;
use std::path::Path;

/// Addresses as bound; none where the role has none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub(crate) struct Ready {
    pub role: &'static str,
    /// Where it serves.
    pub listen: Option<SocketAddr>,
    /// Where /healthz, /readyz and /metrics answer.
    pub health: Option<SocketAddr>,
}

impl Ready {
    pub fn announce(self) -> Result<(), Failure> {
        let json =
            serde_json::to_string(&self).map_err(|error| Failure::failed(error.to_string()))?;
        self.announce_in_file()?;
        notify::ready()
            .map_err(|error| Failure::failed(format!("cannot notify systemd: {error}")))?;
        match output::line(&json) {
            // A role serves its clients, not its reader.
            Err(failure) if failure.is_reader_gone() => Ok(()),
            written => written,
        }
    }

    /// The file alone, for a process that says something else on its standard output.
    pub fn announce_in_file(self) -> Result<(), Failure> {
        if let Some(path) =
            runtime::config::variable("BERTH_READY_FILE").filter(|path| !path.is_empty())
        {
            self.write_file(Path::new(&path)).map_err(|error| {
                Failure::failed(format!("cannot write the ready file {path}: {error}"))
            })?;
        }
        Ok(())
    }

    fn write_file(self, path: &Path) -> io::Result<()> {
        let mut half = path.as_os_str().to_owned();
        half.push(".new");
        fs::write(&half, self.lines())?;
        fs::rename(&half, path)
    }

    fn lines(self) -> String {
        let addresses = [("listen", self.listen), ("health", self.health)];
        addresses
            .iter()
            .filter_map(|(name, address)| address.map(|address| format!("{name} {address}\n")))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const EXECUTOR: Ready = Ready {
        role: "executor",
        listen: None,
        health: Some(SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::LOCALHOST), 81)),
    };

    #[test]
    fn the_line_names_the_role_and_both_addresses_null_where_there_is_none() {
        let json = serde_json::to_string(&EXECUTOR).unwrap();
        assert_eq!(json, r#"{"role":"executor","listen":null,"health":"127.0.0.1:81"}"#);
    }

    #[test]
    fn the_ready_file_names_only_addresses_that_exist() {
        assert_eq!(EXECUTOR.lines(), "health 127.0.0.1:81\n");
    }
}
