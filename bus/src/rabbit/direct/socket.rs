//! A socket for datagrams that is sent on from any thread, and listened to by one.
//!
//! Not tokio's: that one is told whenever there is room to send again, which is after each datagram, and that would wake a thread each time.

use runtime::clock;
use std::io;
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::time::Duration;
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

/// After a fault, before it is listened to again.
const FAULT_REST: Duration = Duration::from_millis(100);

pub(super) struct Socket {
    within: AsyncFd<UdpSocket>,
    address: SocketAddr,
}

impl Socket {
    /// With a free port of `ip`. Must be called within a tokio runtime.
    pub(super) fn open(ip: IpAddr) -> io::Result<Self> {
        let socket = UdpSocket::bind((ip, 0))?;
        socket.set_nonblocking(true)?;
        let address = socket.local_addr()?;
        // SAFETY: the descriptor is open, lives in the `AsyncFd` until that is dropped, and is never another.
        #[expect(
            unsafe_code,
            reason = "tokio has no safe way to wait for a socket to be read only"
        )]
        let within = unsafe { AsyncFd::register_with_interest(socket, Interest::READABLE) };
        Ok(Self { within: within?, address })
    }

    pub(super) const fn address(&self) -> SocketAddr {
        self.address
    }

    /// The address of a loop is another machine's own, unless the broker, over which it was told, is here, too.
    pub(super) fn may_reach(&self, ip: IpAddr) -> bool {
        let own = self.address.ip();
        own.is_loopback() == ip.is_loopback() && own.is_ipv4() == ip.is_ipv4()
    }

    /// Sends without waiting; false where it could not.
    pub(super) fn send(&self, bytes: &[u8], to: SocketAddr) -> bool {
        self.within.get_ref().send_to(bytes, to).is_ok()
    }

    /// The next datagram: how long it was, and from where. Cancel-safe.
    pub(super) async fn receive(&self, bytes: &mut [u8]) -> (usize, SocketAddr) {
        loop {
            let next = self.within.async_io(Interest::READABLE, |socket| socket.recv_from(bytes));
            match next.await {
                Ok(next) => return next,
                Err(_) => clock::sleep(FAULT_REST).await,
            }
        }
    }
}
