//! Why a bus could not be created. What happens later is not an error but an outcome.

use runtime::tls::TlsError;

/// The settings are not usable. An unreachable broker is none of these: the bus keeps trying to connect.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConnectError {
    /// Not an AMQP URL. The text is not shown, because it may hold a password.
    #[error("bus.url is not an AMQP URL; use amqp://user:password@host:5672/%2f")]
    Url,
    /// A certificate file cannot be used.
    #[error(transparent)]
    Tls(#[from] TlsError),
}
