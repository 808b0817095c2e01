//! Why the API did not start.

use crate::limit::NotRedis;
use identity::PasswordError;
use identity::key::KeyError;
use identity::token::TokenError;
use runtime::config::ConfigError;
use runtime::tls::TlsError;
use std::io;
use std::net::SocketAddr;
use store::StoreError;

/// Why the API did not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// A setting is missing or not usable.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The key hash secret is not usable.
    #[error("API keys cannot be checked")]
    Key(#[from] KeyError),
    /// The keys of access tokens are not usable.
    #[error("access tokens cannot be made")]
    Token(#[from] TokenError),
    /// Passwords cannot be hashed.
    #[error("passwords cannot be checked")]
    Password(#[from] PasswordError),
    /// The database settings are not usable.
    #[error("the database cannot be used")]
    Store(#[from] StoreError),
    /// The settings of Redis are not usable.
    #[error(transparent)]
    Redis(#[from] NotRedis),
    /// The certificate of the server is not usable.
    #[error(transparent)]
    Tls(#[from] TlsError),
    /// What browsers keep for the dashboard cannot be encrypted.
    #[error("the dashboard's cookies cannot be encrypted")]
    Cookies,
    /// The address cannot be listened on.
    #[error("cannot listen on {address}")]
    Listen {
        /// As configured.
        address: SocketAddr,
        /// What the system said.
        #[source]
        source: io::Error,
    },
}
