//! Ports: free ones, who has a taken one, and whether an engine answers on its own.

use runtime::clock;
use std::collections::BTreeSet;
use std::fs;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// Below the range the kernel hands out for outgoing connections, so that none of those takes our port meanwhile.
const FIRST: u64 = 15_000;
const COUNT: u64 = 17_000;
const ANSWER_LIMIT: Duration = Duration::from_secs(2);

/// A port of this machine that nobody listens on right now.
///
/// # Errors
/// When two hundred are all in use.
pub fn free_port() -> io::Result<u16> {
    for _ in 0..200 {
        let random = RandomState::new().build_hasher().finish();
        let port = u16::try_from(FIRST + random % COUNT).map_err(io::Error::other)?;
        if TcpListener::bind(("127.0.0.1", port)).is_ok() {
            return Ok(port);
        }
    }
    Err(io::Error::other("200 random ports are all in use"))
}

/// Whether somebody answers `greeting` with something that begins with `first`.
pub async fn answers(port: u16, greeting: &[u8], first: u8) -> bool {
    let ask = async {
        let mut connection = TcpStream::connect(("127.0.0.1", port)).await?;
        connection.write_all(greeting).await?;
        connection.read_u8().await
    };
    matches!(clock::timeout(ANSWER_LIMIT, ask).await, Ok(Ok(byte)) if byte == first)
}

/// Who listens on a port, in words. Processes of other users show themselves only to root.
pub fn owner_of(address: SocketAddr) -> String {
    let sockets: BTreeSet<String> = ["/proc/net/tcp", "/proc/net/tcp6"]
        .iter()
        .flat_map(|table| listening(&fs::read_to_string(table).unwrap_or_default(), address.port()))
        .map(|inode| format!("socket:[{inode}]"))
        .collect();
    let holds = |pid: &u32| {
        let files = fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
        let mut targets = files.filter_map(|file| fs::read_link(file.path()).ok());
        targets.any(|target| sockets.contains(&*target.to_string_lossy()))
    };
    let mut pids = fs::read_dir("/proc").into_iter().flatten().flatten();
    let owner = pids.find_map(|e| e.file_name().to_str()?.parse::<u32>().ok().filter(holds));
    match owner {
        Some(pid) => {
            let name = fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
            format!("`{}` (pid {pid})", name.trim())
        }
        None => "a process of another user (as root, see `ss -ltnp`)".to_owned(),
    }
}

/// Inodes of the sockets that listen on `port`, from the text of /proc/net/tcp.
fn listening(table: &str, port: u16) -> Vec<String> {
    const LISTEN: &str = "0A";
    let suffix = format!(":{port:04X}");
    let inode = |line: &str| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let (local, state, inode) = (fields.get(1)?, fields.get(3)?, fields.get(9)?);
        (local.ends_with(&suffix) && *state == LISTEN).then(|| (*inode).to_owned())
    };
    table.lines().skip(1).filter_map(inode).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_owner_of_a_port_is_named() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let owner = owner_of(listener.local_addr().unwrap());
        assert!(owner.contains(&format!("(pid {})", std::process::id())), "{owner}");
    }

    #[test]
    fn only_listening_sockets_of_the_very_port_count() {
        let table = "  sl  local_address rem_address   st tx rx tr tm retrnsmt   uid  timeout inode\n\
            0: 0100007F:1F90 00000000:0000 0A 0:0 00:0 0 0 0 77 1\n\
            1: 0100007F:1F90 0100007F:C350 01 0:0 00:0 0 0 0 78 1\n\
            2: 0100007F:1F91 00000000:0000 0A 0:0 00:0 0 0 0 79 1\n";
        assert_eq!(listening(table, 8080), ["77"]);
    }

    #[tokio::test]
    async fn a_free_port_is_free_and_answers_nothing() {
        let port = free_port().unwrap();
        assert!(!answers(port, b"", b'x').await);
    }
}
