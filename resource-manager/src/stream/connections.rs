//! Limits of connections to the executor port.
//!
//! A connection costs memory and a descriptor before it is authenticated. So all connections are limited, and
//! unauthenticated ones have a lower limit, of which one address may use half: so it cannot lock out executors of other
//! machines. A connection without an authenticated call within the time limit is closed, also during the handshake and
//! after refused calls.

use crate::metrics::{CONNECTIONS, CONNECTIONS_CLOSED};
use parking_lot::Mutex;
use runtime::clock::{self, Instant};
use runtime::shares::{Share, Shares};
use std::io;
use std::net::{IpAddr, Ipv4Addr};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tonic::transport::server::Connected;

/// The limits.
pub(crate) struct Connections {
    all: Shares<()>,
    waiting: Shares<IpAddr>,
    first_call: Duration,
}

/// Handle to the connection of a call.
#[derive(Debug, Clone)]
pub(crate) struct Guest(Arc<Waiting>);

#[derive(Debug)]
struct Waiting {
    admitted: AtomicBool,
    place: Mutex<Option<Share<IpAddr>>>,
}

/// A connection that is closed if it stays unauthenticated.
pub(crate) struct Connection {
    stream: TcpStream,
    guest: Guest,
    deadline: Deadline,
    _place: Share<()>,
}

enum Deadline {
    Runs(Pin<Box<dyn Future<Output = ()> + Send>>),
    Met,
    Missed,
}

impl Connections {
    /// `most` connections; each must make an authenticated call within `first_call`.
    pub(crate) fn new(most: usize, first_call: Duration) -> Self {
        let waiting = (most / 2).max(1);
        let of_one = (waiting / 2).max(1);
        Self { all: Shares::new(most, most), waiting: Shares::new(waiting, of_one), first_call }
    }

    /// Accepts or closes a connection.
    pub(crate) fn admit(&self, stream: TcpStream) -> Option<Connection> {
        // Without an address it is already closed, which its first read will show.
        let peer = stream.peer_addr().map_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED), |peer| peer.ip());
        let places = self
            .all
            .acquire((), 1)
            .and_then(|all| Ok((all, self.waiting.acquire(peer.to_canonical(), 1)?)));
        let Ok((place, waiting)) = places else {
            CONNECTIONS_CLOSED.with(&["too_many"]).inc();
            return None;
        };
        CONNECTIONS.add(1.0);
        let guest = Guest(Arc::new(Waiting {
            admitted: AtomicBool::new(false),
            place: Mutex::new(Some(waiting)),
        }));
        let until: Instant = clock::monotonic() + self.first_call;
        let deadline = Deadline::Runs(Box::pin(clock::sleep_until(until)));
        Some(Connection { stream, guest, deadline, _place: place })
    }
}

impl Guest {
    /// Records an authenticated call; the connection stays.
    pub(crate) fn admit(&self) {
        self.0.admitted.store(true, Ordering::Release);
        self.0.place.lock().take();
    }

    fn is_admitted(&self) -> bool {
        self.0.admitted.load(Ordering::Acquire)
    }
}

impl Connection {
    /// Each wait on the connection also waits for its deadline.
    fn check(&mut self, context: &mut Context<'_>) -> io::Result<()> {
        if let Deadline::Runs(deadline) = &mut self.deadline {
            if self.guest.is_admitted() {
                self.deadline = Deadline::Met;
            } else if deadline.as_mut().poll(context).is_ready() {
                self.deadline = Deadline::Missed;
                CONNECTIONS_CLOSED.with(&["silent"]).inc();
            }
        }
        match self.deadline {
            Deadline::Missed => Err(io::ErrorKind::TimedOut.into()),
            Deadline::Runs(_) | Deadline::Met => Ok(()),
        }
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        CONNECTIONS.add(-1.0);
    }
}

impl Connected for Connection {
    type ConnectInfo = Guest;

    fn connect_info(&self) -> Guest {
        self.guest.clone()
    }
}

impl AsyncRead for Connection {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.check(context)?;
        Pin::new(&mut self.stream).poll_read(context, into)
    }
}

impl AsyncWrite for Connection {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        from: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.check(context)?;
        Pin::new(&mut self.stream).poll_write(context, from)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        from: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.check(context)?;
        Pin::new(&mut self.stream).poll_write_vectored(context, from)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.check(context)?;
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
