//! Reports to systemd that a role is ready (`Type=notify`), where systemd started it.
//!
//! The protocol of sd_notify(3): one datagram to the socket that `NOTIFY_SOCKET` names. Sent once, when the role
//! listens, so that `systemctl start` returns then and units ordered after it start then.

use std::io;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};

const READY: &[u8] = b"READY=1";

/// Sends `READY=1`; nothing where no socket is named.
pub(super) fn ready() -> io::Result<()> {
    match runtime::config::variable("NOTIFY_SOCKET") {
        Some(socket) if !socket.is_empty() => send(&socket),
        _ => Ok(()),
    }
}

/// A name that begins with `@` is in the abstract name space.
fn send(socket: &str) -> io::Result<()> {
    let address = match socket.strip_prefix('@') {
        Some(name) => SocketAddr::from_abstract_name(name)?,
        None => SocketAddr::from_pathname(socket)?,
    };
    UnixDatagram::unbound()?.send_to_addr(READY, &address)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn received(receiver: &UnixDatagram) -> Vec<u8> {
        let mut bytes = [0; 64];
        let length = receiver.recv(&mut bytes).unwrap();
        bytes[..length].to_vec()
    }

    #[test]
    fn a_socket_with_a_path_receives_one_datagram() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("notify");
        let receiver = UnixDatagram::bind(&path).unwrap();
        send(path.to_str().unwrap()).unwrap();
        assert_eq!(received(&receiver), READY);
    }

    #[test]
    fn a_name_with_an_at_sign_is_an_abstract_socket() {
        let name = format!("berth-notify-{}", std::process::id());
        let receiver =
            UnixDatagram::bind_addr(&SocketAddr::from_abstract_name(&name).unwrap()).unwrap();
        send(&format!("@{name}")).unwrap();
        assert_eq!(received(&receiver), READY);
    }

    #[test]
    fn a_socket_that_does_not_exist_is_an_error() {
        assert!(send("/nonexistent/notify").is_err());
    }
}
