//! Waiting for something to become true, with a deadline instead of a hopeful sleep.
//!
//! Called by tests. The rule: a wait that fails names what it waited for and for how long.

use std::time::Duration;

use anyhow::bail;
use runtime::clock;

const STEP: Duration = Duration::from_millis(20);

/// Asks `probe` every 20 ms until it answers `Some`. Fails after `limit`, naming `what`.
pub async fn until_some<T, F, Fut>(what: &str, limit: Duration, mut probe: F) -> anyhow::Result<T>
where
    F: FnMut() -> Fut,
    Fut: Future<Output = Option<T>>,
{
    let began = clock::monotonic();
    loop {
        if let Some(answer) = probe().await {
            return Ok(answer);
        }
        if began.elapsed() >= limit {
            bail!("{what}: not so after {limit:?}");
        }
        clock::sleep(STEP).await;
    }
}

/// Asks `probe` every 20 ms until it answers `true`. Fails after `limit`, naming `what`.
pub async fn until<F, Fut>(what: &str, limit: Duration, mut probe: F) -> anyhow::Result<()>
where
    F: FnMut() -> Fut,
    Fut: Future<Output = bool>,
{
    until_some(what, limit, || {
        let asked = probe();
        async move { asked.await.then_some(()) }
    })
    .await
}
