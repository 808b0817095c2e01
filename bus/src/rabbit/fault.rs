//! Why an operation on the broker failed: for the log, and to decide what to try next.
//!
//! Every await on lapin goes through [`within`], because lapin can wait for ever when the connection
//! breaks at the wrong moment.

use lapin::protocol::{AMQPErrorKind, AMQPSoftError};
use runtime::error_chain::ErrorChain;
use runtime::tls::{TlsError, advice};
use std::io;
use std::time::Duration;

#[derive(Debug, thiserror::Error)]
pub(crate) enum Fault {
    #[error("the broker did not answer within {0:?}")]
    TimedOut(Duration),
    #[error("the broker or the connection to it failed")]
    Amqp(#[from] lapin::Error),
    /// A broker that requires a client certificate and gets none closes like this, or sends an alert that may be lost.
    #[error(
        "the broker closed the connection right after TLS was agreed on; where it asks for a certificate of its clients \
         (`verify_peer`), set `bus.client_cert_file` and `bus.client_key_file`"
    )]
    ClosedAfterTls(#[source] lapin::Error),
    /// The files of `bus.ca_file` or of our certificate, which worked at the start.
    #[error(transparent)]
    Files(#[from] TlsError),
    #[error("no connection accepts messages")]
    NoSession,
}

impl Fault {
    /// True for a time-out: the broker may still execute the request, later.
    pub(crate) const fn is_timed_out(&self) -> bool {
        matches!(self, Self::TimedOut(_))
    }

    /// True when a queue exists with other arguments.
    pub(crate) fn is_precondition_failed(&self) -> bool {
        self.is(AMQPSoftError::PRECONDITIONFAILED)
    }

    /// True when there is no such queue.
    pub(crate) fn is_not_found(&self) -> bool {
        self.is(AMQPSoftError::NOTFOUND)
    }

    /// The fault of a TLS connection without a client certificate: a close means that one is probably required.
    pub(crate) fn without_client_certificate(self) -> Self {
        let closed = |error: &io::Error| {
            matches!(
                error.kind(),
                io::ErrorKind::ConnectionReset
                    | io::ErrorKind::ConnectionAborted
                    | io::ErrorKind::BrokenPipe
                    | io::ErrorKind::UnexpectedEof
            )
        };
        match self {
            Self::Amqp(error) if matches!(error.kind(), lapin::ErrorKind::IOError(error) if closed(error)) => {
                Self::ClosedAfterTls(error)
            }
            other => other,
        }
    }

    /// The causes; for causes in TLS also what to do.
    pub(crate) fn explained(&self) -> String {
        let cause = ErrorChain(self).to_string();
        match advice(&cause, "bus") {
            Some(advice) => format!("{cause}; {advice}"),
            None => cause,
        }
    }

    fn is(&self, refusal: AMQPSoftError) -> bool {
        let Self::Amqp(error) = self else { return false };
        matches!(error.kind(), lapin::ErrorKind::ProtocolError(error)
            if *error.kind() == AMQPErrorKind::Soft(refusal))
    }
}

/// Awaits lapin for at most `limit`.
pub(crate) async fn within<T>(
    limit: Duration,
    work: impl Future<Output = lapin::Result<T>>,
) -> Result<T, Fault> {
    match runtime::clock::timeout(limit, work).await {
        Ok(result) => result.map_err(Fault::Amqp),
        Err(_) => Err(Fault::TimedOut(limit)),
    }
}
