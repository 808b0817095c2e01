//! Serving without guards, so that `make bench` can say what they cost: one process of the same build with them, one without.
//!
//! Only a build with the feature `unguarded` can, which nothing that is shipped has, and even that does so only where
//! `BERTH_UNGUARDED` is set. Every other build refuses to start with that variable: who asks for it must not believe to have it.

use crate::auth::Caller;
use crate::problem::Problem;
use runtime::config::variable;

const VARIABLE: &str = "BERTH_UNGUARDED";

/// It was asked to serve without guards, and is no build for measuring.
#[derive(Debug, thiserror::Error)]
#[error("BERTH_UNGUARDED is set, but this build cannot serve without guards (feature `unguarded`)")]
pub struct Guarded;

/// Whether limits, quotas and credentials are passed over.
#[cfg(not(feature = "unguarded"))]
pub(crate) const fn is_on() -> bool {
    false
}

/// Whether limits, quotas and credentials are passed over.
#[cfg(feature = "unguarded")]
pub(crate) fn is_on() -> bool {
    static ON: std::sync::LazyLock<bool> =
        std::sync::LazyLock::new(|| variable(VARIABLE).is_some());
    *ON
}

/// Who asks.
///
/// # Errors
/// As `asked`.
#[cfg(not(feature = "unguarded"))]
pub(crate) async fn caller(
    asked: impl Future<Output = Result<Caller, Problem>>,
) -> Result<Caller, Problem> {
    asked.await
}

/// Who asks; without guards everybody is taken for the first who showed a good credential.
///
/// # Errors
/// As `asked`, where it is asked.
#[cfg(feature = "unguarded")]
pub(crate) async fn caller(
    asked: impl Future<Output = Result<Caller, Problem>>,
) -> Result<Caller, Problem> {
    static FIRST: std::sync::OnceLock<Caller> = std::sync::OnceLock::new();
    match FIRST.get().filter(|_| is_on()) {
        Some(first) => Ok(first.clone()),
        None => asked.await.map(|caller| FIRST.get_or_init(|| caller).clone()),
    }
}

/// Says at the start that there are no guards.
///
/// # Errors
/// When they are to be passed over and this build cannot.
pub(crate) fn announce() -> Result<(), Guarded> {
    if is_on() {
        tracing::warn!("Serving WITHOUT authentication and limits, to measure what they cost");
        return Ok(());
    }
    variable(VARIABLE).map_or(Ok(()), |_| Err(Guarded))
}
