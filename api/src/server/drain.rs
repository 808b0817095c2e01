//! Stopping in order, and knowing whether the database is there.

use actix_web::dev::ServerHandle;
use runtime::clock::{sleep, timeout};
use runtime::error_chain::ErrorChain;
use runtime::health::Health;
use runtime::shutdown::{Shutdown, ShutdownHandle};
use runtime::tick::{TickOutcome, TickPolicy, Ticker};
use std::convert::Infallible;
use std::time::Duration;
use store::connect::{ApiDb, SubmitDb};

/// Between "not ready" and closing the door, so that load balancers can look once.
const NOTICE: Duration = Duration::from_secs(1);
const CHECK_INTERVAL: Duration = Duration::from_secs(1);
const CHECK_TIMEOUT: Duration = Duration::from_secs(2);

/// What is closed, in this order.
pub(super) struct Door {
    pub http: ServerHandle,
    pub stop_writers: ShutdownHandle,
}

/// Waits for the shutdown; then not ready first, then no new connections, then the open requests end.
pub(super) async fn drain(door: Door, health: Health, shutdown: Shutdown, grace: Duration) {
    shutdown.cancelled().await;
    health.mark_draining();
    tracing::info!("The API stops: open requests have {grace:?} to end");
    sleep(NOTICE.min(grace / 10)).await;
    door.http.stop(true).await;
    door.stop_writers.shut_down();
}

/// Keeps `/readyz` true to whether the database answers.
pub(super) async fn watch_database(
    api: ApiDb,
    submit: SubmitDb,
    health: Health,
    shutdown: Shutdown,
) {
    health.set_check("database", Err("not asked yet".to_owned()));
    let ticker = Ticker::new("api_database_check", TickPolicy::every(CHECK_INTERVAL));
    ticker
        .run(shutdown, || async {
            let ping = async {
                api.ping().await?;
                submit.ping().await
            };
            health.set_check(
                "database",
                match timeout(CHECK_TIMEOUT, ping).await {
                    Ok(Ok(())) => Ok(()),
                    Ok(Err(error)) => Err(ErrorChain(&error).to_string()),
                    Err(_) => Err("does not answer in time".to_owned()),
                },
            );
            Ok::<_, Infallible>(TickOutcome::idle(1))
        })
        .await;
}
