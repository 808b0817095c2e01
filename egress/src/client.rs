//! What makes exchanges: this machine's resolver and connections, and the roots it trusts.

use super::exchange::{self, Answered, Rules};
use super::failure::Failure;
use super::network::{Direct, Lookups};
use super::request::Request;
use super::tls::Tls;
use super::transcript::Transcript;

/// One a process: its lookups share one bound. Exchanges share nothing else.
#[derive(Debug)]
pub struct Client {
    network: Direct,
    tls: Tls,
}

impl Client {
    /// Looks names up within these bounds.
    #[must_use]
    pub fn new(lookups: &Lookups) -> Self {
        Self { network: Direct::new(lookups), tls: Tls::default() }
    }

    /// Sends `request`, follows redirects, and reads the last answer into `transcript`. Dropped, it ends at once.
    ///
    /// # Errors
    /// When there was no whole answer. An answer of any status is none.
    pub async fn exchange<T: Transcript>(
        &self,
        request: Request,
        rules: Rules<'_>,
        transcript: &mut T,
    ) -> Result<Answered, Failure> {
        exchange::run(&self.network, &self.tls, rules, request, transcript).await
    }
}
