//! Fragments of live pages, made once a second however many browsers ask.
//!
//! Kept by tenant, permissions and URL: who shares these sees the same. A fragment holds nothing of one browser's session. Whoever
//! asks while one is made waits for it.

use actix_web::web::Bytes;
use parking_lot::Mutex;
use runtime::clock::{Instant, monotonic};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

/// For so long a fragment is served again that costs one statement.
const FRESH: Duration = Duration::from_secs(1);
/// The same of one that costs several: so the parts of a page together cost about one a second.
const FRESH_LONG: Duration = Duration::from_secs(4);
/// With more of them, those that are over are dropped.
const MOST: usize = 2048;

/// How long the fragment called `name` is served again.
fn fresh(name: &str) -> Duration {
    if matches!(name, "list" | "output") { FRESH } else { FRESH_LONG }
}

type Slot = Arc<tokio::sync::Mutex<Option<(Instant, Bytes)>>>;

/// All fragments of this process.
#[derive(Debug, Default)]
pub(crate) struct Fragments(Mutex<HashMap<String, (Instant, Slot)>>);

impl Fragments {
    /// The fragment under `key`: as it was made a moment ago, or made now.
    ///
    /// # Errors
    /// Those of `make`, which the next one tries again.
    pub(crate) async fn get<E>(
        &self,
        key: String,
        name: &str,
        make: impl AsyncFnOnce() -> Result<Bytes, E>,
    ) -> Result<Bytes, E> {
        let slot = self.slot(key);
        let mut kept = slot.lock().await;
        if let Some((at, bytes)) = &*kept
            && at.elapsed() < fresh(name)
        {
            return Ok(bytes.clone());
        }
        let bytes = make().await?;
        *kept = Some((monotonic(), bytes.clone()));
        Ok(bytes)
    }

    fn slot(&self, key: String) -> Slot {
        let mut all = self.0.lock();
        if all.len() >= MOST {
            all.retain(|_, (asked, _)| asked.elapsed() < 2 * FRESH_LONG);
        }
        let (asked, slot) = all.entry(key).or_insert_with(|| (monotonic(), Slot::default()));
        *asked = monotonic();
        Arc::clone(slot)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::convert::Infallible;
    use std::sync::atomic::{AtomicU32, Ordering};

    #[tokio::test]
    async fn many_that_ask_at_once_get_one_that_is_made_once() {
        let (fragments, made) = (Fragments::default(), AtomicU32::new(0));
        let ask = |key: &'static str| {
            let (fragments, made) = (&fragments, &made);
            async move {
                let make = async || {
                    made.fetch_add(1, Ordering::Relaxed);
                    tokio::task::yield_now().await;
                    Ok::<_, Infallible>(Bytes::from_static(b"x"))
                };
                fragments.get(key.to_owned(), "list", make).await.unwrap()
            }
        };
        let all = (0..100).map(|_| ask("a"));
        assert!(futures::future::join_all(all).await.iter().all(|bytes| *bytes == "x"));
        assert_eq!(made.load(Ordering::Relaxed), 1);
        ask("b").await;
        assert_eq!(made.load(Ordering::Relaxed), 2, "another URL or tenant has its own");
    }

    #[tokio::test]
    async fn what_failed_is_tried_again() {
        let fragments = Fragments::default();
        assert_eq!(fragments.get("a".to_owned(), "list", async || Err(1)).await, Err(1));
        let good = async || Ok::<_, i32>(Bytes::from_static(b"x"));
        assert_eq!(fragments.get("a".to_owned(), "list", good).await.unwrap(), "x");
    }
}
