//! Renews access tokens, once for all requests that need it at the same time.
//!
//! A refresh token works once, and a page with live parts sends several requests at once. The first of them renews; the others
//! get what it got, as does a browser that lost the answer and comes with the old cookie again.

use crate::session::Holder;
use parking_lot::Mutex;
use runtime::clock::{Instant, monotonic};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

/// For so long the old cookie gets the new tokens.
const KEPT: Duration = Duration::from_secs(120);

type Slot = Arc<tokio::sync::Mutex<Option<Holder>>>;

/// What was renewed lately, by the refresh token that was used up.
#[derive(Default)]
pub(crate) struct Renewals(Mutex<HashMap<String, (Instant, Slot)>>);

impl std::fmt::Debug for Renewals {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Renewals(..)")
    }
}

impl Renewals {
    /// What `refresh` was renewed to, by `renew` where that was not done yet.
    ///
    /// # Errors
    /// Those of `renew`.
    pub(crate) async fn once<E>(
        &self,
        refresh: &str,
        renew: impl AsyncFnOnce() -> Result<Holder, E>,
    ) -> Result<Holder, E> {
        let slot = {
            let mut all = self.0.lock();
            all.retain(|_, (at, _)| at.elapsed() < KEPT);
            let new = || (monotonic(), Slot::default());
            Arc::clone(&all.entry(refresh.to_owned()).or_insert_with(new).1)
        };
        let mut kept = slot.lock().await;
        if let Some(holder) = &*kept {
            return Ok(holder.clone());
        }
        let holder = renew().await?;
        *kept = Some(holder.clone());
        Ok(holder)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU32, Ordering};

    #[tokio::test]
    async fn a_refresh_token_is_used_once_by_all_who_bring_it() {
        let (renewals, used) = (Renewals::default(), AtomicU32::new(0));
        let ask = || {
            renewals.once("old", async || {
                used.fetch_add(1, Ordering::Relaxed);
                tokio::task::yield_now().await;
                Ok::<_, ()>(Holder::Key { key: "new".to_owned() })
            })
        };
        let all = futures::future::join_all((0..20).map(|_| ask())).await;
        assert!(all.into_iter().all(|one| matches!(one, Ok(Holder::Key { key }) if key == "new")));
        assert_eq!(used.load(Ordering::Relaxed), 1);
    }
}
