//! Stopping in order.

use super::door::Door;
use crate::state::State;
use actix_web::dev::ServerHandle;
use runtime::clock::{sleep, timeout};
use runtime::health::Health;
use runtime::shutdown::{Shutdown, ShutdownHandle};
use std::sync::Arc;
use std::time::Duration;

/// Between "not ready" and closing the door, so that load balancers can look once.
const NOTICE: Duration = Duration::from_secs(1);

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
            "Connections were not accepted in time and are closed"
        );
    }
    sleep(TAKE_UP).await;
    // Ours is a handle of the same socket, which would keep it open.
    drop(closing.door);
    closing.http.stop(true).await;
    closing.stop_writers.shut_down();
}
