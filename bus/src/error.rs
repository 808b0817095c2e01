//! Why a bus could not be made. What happens later is not an error but an outcome.

use runtime::tls::TlsError;

/// The settings do not make a bus. An unreachable broker is none of these: the bus keeps trying.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConnectError {
    /// Not an AMQP URL. The text is not shown, because it may hold a password.
    #[error("bus.url is not an AMQP URL; use amqp://user:password@host:5672/%2f")]
    Url,
    /// A file with certificates that cannot be used.
    #[error(transparent)]
    Tls(#[from] TlsError),
}
