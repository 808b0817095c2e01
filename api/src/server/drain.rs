//! Stopping in order, and knowing whether the database is there.

use super::door::Door;
use super::state::State;
use actix_web::dev::ServerHandle;
use runtime::clock::{sleep, timeout};
use runtime::error_chain::ErrorChain;
use runtime::health::Health;
use runtime::shutdown::{Shutdown, ShutdownHandle};
use runtime::tick::{TickOutcome, TickPolicy, Ticker};
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;
use store::connect::{ApiDb, SubmitDb};

/// Between "not ready" and closing the door, so that load balancers can look once.
const NOTICE: Duration = Duration::from_secs(1);
const CHECK_INTERVAL: Duration = Duration::from_secs(1);
const CHECK_TIMEOUT: Duration = Duration::from_secs(2);

/// For a connection that was accepted to bring its request, which was sent when it was made.
const TAKE_UP: Duration = Duration::from_millis(50);
/// How long connections that were made may wait to be accepted: a server that takes longer is stuck.
const ACCEPT_LIMIT: Duration = Duration::from_secs(2);
const ACCEPT_POLL: Duration = Duration::from_millis(5);

/// What is closed, in this order.
pub(super) struct Closing {
    pub state: Arc<State>,
    pub door: Door,
    pub http: ServerHandle,
    pub stop_writers: ShutdownHandle,
}

/// Waits for the shutdown; then not ready first, kept-alive connections end with their next answer, then no new
/// connections are made, then the open requests end. A client that connects anew where it is refused sees no error.
pub(super) async fn drain(closing: Closing, health: Health, shutdown: Shutdown, grace: Duration) {
    shutdown.cancelled().await;
    health.mark_draining();
    closing.state.close_connections();
    tracing::info!("The API stops: open requests have {grace:?} to end");
    sleep(NOTICE.min(grace / 10)).await;
    if let Err(error) = closing.door.shut() {
        tracing::debug!(%error, "New connections cannot be held off; some may be cut");
    }
    let accepted = async {
        while closing.door.waiting() > 0 {
            sleep(ACCEPT_POLL).await;
        }
    };
    if timeout(ACCEPT_LIMIT, accepted).await.is_err() {
        tracing::warn!(
            waiting = closing.door.waiting(),
            "Connections were not accepted in time and are cut"
        );
    }
    sleep(TAKE_UP).await;
    // Ours is a handle of the same socket, which would keep it open.
    drop(closing.door);
    closing.http.stop(true).await;
    closing.stop_writers.shut_down();
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
