//! Keeps a role's readiness true to its database: it answers, and it is the primary.
//!
//! Run by every role that has one. A standby knows what was true a while ago and takes no writes: nothing may be decided on it.

use crate::StoreError;
use runtime::clock::timeout;
use runtime::error_chain::ErrorChain;
use runtime::health::Health;
use runtime::shutdown::Shutdown;
use runtime::tick::{TickOutcome, TickPolicy, Ticker};
use std::convert::Infallible;
use std::time::Duration;

const INTERVAL: Duration = Duration::from_secs(1);
const TIMEOUT: Duration = Duration::from_secs(2);

/// Asks with `ping` every second, 2 s at most, until the shutdown, and sets the check `database` of `health`. `name` is that of the
/// tick.
pub async fn watch<F, Fut>(name: &'static str, health: Health, shutdown: Shutdown, ping: F)
where
    F: Fn() -> Fut,
    Fut: Future<Output = Result<(), StoreError>>,
{
    health.set_check("database", Err("not asked yet".to_owned()));
    let ticker = Ticker::new(name, TickPolicy::every(INTERVAL)).liveness(&health);
    let tick = || async {
        let answer = match timeout(TIMEOUT, ping()).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(error)) => Err(ErrorChain(&error).to_string()),
            Err(_) => Err("does not answer in time".to_owned()),
        };
        health.set_check("database", answer);
        Ok::<_, Infallible>(TickOutcome::idle(1))
    };
    ticker.run(shutdown, tick).await;
}
