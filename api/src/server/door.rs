//! The listening socket, which can stop taking connections without cutting one that was made.
//!
//! A closed listening socket resets the connections that the kernel has made and nobody has accepted yet: their
//! clients believe that their request is on its way. So new connections are held off first, by a filter on the socket that drops
//! their first packet; those made are accepted; then the socket is closed, and whoever tries again is refused.

use socket2::{Domain, Protocol, Socket, Type};
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::time::Duration;

/// Connections that may wait to be accepted, as actix has it.
const BACKLOG: i32 = 1024;

/// The way in.
#[derive(Debug)]
pub(super) struct Door {
    socket: Socket,
    address: SocketAddr,
}

impl Door {
    /// Listens on `address`, port 0 allowed; with it, the same socket for the server. A client that takes nothing of what is sent to it
    /// for `write_timeout` is cut off by the kernel, which alone knows: each connection inherits that from the listening socket.
    ///
    /// # Errors
    /// When the address is taken or not ours.
    pub(super) fn open(
        address: SocketAddr,
        write_timeout: Duration,
    ) -> io::Result<(Self, TcpListener)> {
        let socket = Socket::new(Domain::for_address(address), Type::STREAM, Some(Protocol::TCP))?;
        // A restart must not wait for the last connections of the process before it.
        socket.set_reuse_address(true)?;
        limit_writes(&socket, write_timeout)?;
        socket.bind(&address.into())?;
        socket.listen(BACKLOG)?;
        let listener: TcpListener = socket.try_clone()?.into();
        let address = listener.local_addr()?;
        Ok((Self { socket, address }, listener))
    }

    /// Where it listens, with the port it took.
    pub(super) const fn address(&self) -> SocketAddr {
        self.address
    }

    /// No new connection is made from now on; the server still accepts those that were.
    ///
    /// # Errors
    /// When the system has no such filters.
    #[cfg(target_os = "linux")]
    pub(super) fn shut(&self) -> io::Result<()> {
        use socket2::SockFilter;
        // Classic BPF over the TCP header, from linux/filter.h: load the byte of flags, keep SYN and ACK, and drop the packet
        // where it is a SYN alone.
        const LOAD_BYTE: u16 = 0x30;
        const AND: u16 = 0x54;
        const JUMP_IF_EQUAL: u16 = 0x15;
        const RETURN: u16 = 0x06;
        const FLAGS_AT: u32 = 13;
        const SYN: u32 = 0x02;
        const ACK: u32 = 0x10;
        self.socket.attach_filter(&[
            SockFilter::new(LOAD_BYTE, 0, 0, FLAGS_AT),
            SockFilter::new(AND, 0, 0, SYN | ACK),
            SockFilter::new(JUMP_IF_EQUAL, 0, 1, SYN),
            SockFilter::new(RETURN, 0, 0, 0),
            SockFilter::new(RETURN, 0, 0, u32::MAX),
        ])
    }

    /// Elsewhere than on Linux nothing holds a new connection off.
    ///
    /// # Errors
    /// Always.
    #[cfg(not(target_os = "linux"))]
    pub(super) fn shut(&self) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }
}

/// TCP's user timeout (RFC 5482), which Linux holds to for a receiver without room, too.
#[cfg(target_os = "linux")]
fn limit_writes(socket: &Socket, limit: Duration) -> io::Result<()> {
    socket.set_tcp_user_timeout(Some(limit))
}

/// Elsewhere the system's own limits hold.
#[cfg(not(target_os = "linux"))]
fn limit_writes(_: &Socket, _: Duration) -> io::Result<()> {
    Ok(())
}

impl Door {
    /// Connections that were made and that the server has not accepted yet; 0 where the system does not tell.
    pub(super) fn waiting(&self) -> u64 {
        let tables = ["/proc/self/net/tcp", "/proc/self/net/tcp6"];
        let all = tables.iter().filter_map(|table| std::fs::read_to_string(table).ok());
        all.map(|table| waiting_in(&table, self.address.port())).sum()
    }
}

/// What the table says of a listening socket on `port`: there its receive queue counts connections (proc(5)).
fn waiting_in(table: &str, port: u16) -> u64 {
    const LISTEN: &str = "0A";
    let of_line = |line: &str| {
        let mut fields = line.split_ascii_whitespace();
        let own = fields.nth(1)?.rsplit_once(':')?.1;
        let (state, queues) = (fields.nth(1)?, fields.next()?);
        let ours = u16::from_str_radix(own, 16) == Ok(port) && state == LISTEN;
        let (_, received) = queues.split_once(':').filter(|_| ours)?;
        u64::from_str_radix(received, 16).ok()
    };
    table.lines().skip(1).filter_map(of_line).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::net::TcpStream;

    #[test]
    fn a_made_connection_is_served_a_new_one_waits_and_is_refused_in_the_end() {
        let address = ([127, 0, 0, 1], 0).into();
        let (door, listener) = Door::open(address, Duration::from_secs(30)).unwrap();
        let address = door.address();
        let mut made = TcpStream::connect(address).unwrap();
        made.write_all(b"in time").unwrap();
        door.shut().unwrap();
        assert_eq!(door.waiting(), 1);
        let late = TcpStream::connect_timeout(&address, Duration::from_millis(100));
        assert_eq!(late.unwrap_err().kind(), io::ErrorKind::TimedOut);
        let (mut accepted, _) = listener.accept().unwrap();
        let mut heard = [0; 7];
        accepted.read_exact(&mut heard).unwrap();
        assert_eq!(&heard, b"in time");
        assert_eq!(door.waiting(), 0);
        listener.set_nonblocking(true).unwrap();
        assert_eq!(listener.accept().unwrap_err().kind(), io::ErrorKind::WouldBlock);
        drop((listener, door));
        let refused = TcpStream::connect_timeout(&address, Duration::from_secs(5));
        assert_eq!(refused.unwrap_err().kind(), io::ErrorKind::ConnectionRefused);
    }
}
