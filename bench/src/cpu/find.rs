//! Finds the processes of the engines on this machine; cpu time of remote engines is not shown.

use anyhow::Context;
use std::fs;
use testkit::psql;
use url::Url;

/// The process that listens on the port of this URL, where it runs on this machine.
pub fn holder_of_port(url: &str) -> Option<u32> {
    let port = Url::parse(url).ok()?.port()?;
    let inodes: Vec<String> =
        listening_inodes(port).into_iter().map(|inode| format!("socket:[{inode}]")).collect();
    let pids = fs::read_dir("/proc")
        .ok()?
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    pids.into_iter().find(|pid| {
        let files = fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
        files
            .filter_map(|file| fs::read_link(file.path()).ok())
            .any(|to| inodes.iter().any(|socket| to.as_os_str() == socket.as_str()))
    })
}

/// The first process of the Postgres behind this URL, where it runs on this machine. All its backends are its children.
pub async fn postmaster(admin_url: &str) -> anyhow::Result<Option<u32>> {
    let file = psql::run(admin_url, "select pg_read_file('postmaster.pid')").await?;
    let pid = file.lines().next().context("postmaster.pid is empty")?.trim().parse()?;
    let name = fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
    Ok((name.trim() == "postgres").then_some(pid))
}

fn listening_inodes(port: u16) -> Vec<String> {
    const LISTEN: &str = "0A";
    let suffix = format!(":{port:04X}");
    let tables = ["/proc/net/tcp", "/proc/net/tcp6"]
        .map(|table| fs::read_to_string(table).unwrap_or_default());
    let lines = tables.iter().flat_map(|table| table.lines().skip(1));
    let sockets = lines.map(|line| line.split_whitespace().collect::<Vec<_>>());
    let listening = sockets.filter(|f| f.len() > 9 && f[1].ends_with(&suffix) && f[3] == LISTEN);
    listening.map(|fields| fields[9].to_owned()).collect()
}
