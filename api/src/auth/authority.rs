//! Whether whoever began something long may still do it.
//!
//! An answer that streams, or a body that comes in pieces, outlives the look at its credential by minutes or hours. It is looked
//! at again, from the same cache as every request, so that a credential that was taken back ends it within 2 s, too.

use super::bearer::bearer;
use crate::problem::Problem;
use actix_web::http::header::HeaderMap;
use domain::access::Permission;
use identity::Authenticator;
use runtime::clock::{Instant, monotonic};
use std::time::Duration;

/// Between two looks. With [`api.key_cache_ttl`](runtime::config::ApiConfig::key_cache_ttl) it bounds what a credential is still
/// worth.
const APART: Duration = Duration::from_millis(500);

/// The credential something began with.
#[derive(Debug)]
pub(crate) struct Authority {
    headers: HeaderMap,
    permission: Permission,
    looked: Instant,
}

impl Authority {
    /// That of a request with these headers, which was just found to have `permission`.
    pub(crate) fn new(headers: &HeaderMap, permission: Permission) -> Self {
        Self { headers: headers.clone(), permission, looked: monotonic() }
    }

    /// Looks again, unless it just did; who adds work must also still be active. What cannot be looked up now stands.
    ///
    /// # Errors
    /// As [`Authenticator::authenticate`], [`Caller::require`](identity::Caller::require) and [`Caller::require_active`](identity::Caller::require_active), but for those of this side.
    pub(crate) async fn check(&mut self, authenticator: &Authenticator) -> Result<(), Problem> {
        if monotonic() - self.looked < APART {
            return Ok(());
        }
        self.looked = monotonic();
        let credential = bearer(&self.headers)?;
        let looked = authenticator.authenticate(credential, None).await.map_err(Problem::from);
        let caller = match looked {
            Ok(caller) => caller,
            Err(problem) if problem.code().info().status >= 500 => return Ok(()),
            Err(problem) => return Err(problem),
        };
        caller.require(self.permission)?;
        if self.permission == Permission::SubmitTasks {
            caller.require_active()?;
        }
        Ok(())
    }
}
