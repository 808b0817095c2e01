//! The one loop: writes what became of tries, moves webhooks along the event log, claims what is due and sends it.

use crate::metrics::{DISABLED, EVENTS};
use crate::render::render;
use crate::room::Room;
use crate::send::Sender;
use parking_lot::Mutex;
use runtime::clock;
use runtime::tasks::TaskGroup;
use runtime::tick::TickOutcome;
use std::sync::Arc;
use std::time::Duration;
use store::StoreError;
use store::connect::NotifierDb;
use store::webhook::{TryResult, claim, fan_out, settle};
use tokio::sync::Notify;
use tracing::warn;

/// Beyond a try's timeout, for looking its host up and for writing what became of it.
const SLACK: Duration = Duration::from_secs(15);
/// Between two turns while there is something to do: what happens in between is done in one transaction.
const PACE: Duration = Duration::from_millis(5);

/// Tries that have ended and are not written yet.
#[derive(Debug, Clone, Default)]
pub(crate) struct Ended(Arc<Mutex<Vec<TryResult>>>);

pub(crate) struct WebhookTick {
    pub(crate) db: NotifierDb,
    pub(crate) source: String,
    pub(crate) sender: Arc<Sender>,
    pub(crate) room: Room,
    pub(crate) ended: Ended,
    /// A try has ended.
    pub(crate) woken: Arc<Notify>,
    pub(crate) tasks: TaskGroup,
    pub(crate) disable_at: (u32, Duration),
}

impl WebhookTick {
    pub(crate) async fn tick(&self) -> Result<TickOutcome, StoreError> {
        let settled = self.settle().await?;
        let fanned_out = fan_out(&self.db, |event| render(event, &self.source)).await?;
        EVENTS.inc_by(fanned_out.events);
        let sent = self.send().await?;
        let done = settled + fanned_out.events + sent;
        Ok(if done > 0 { TickOutcome::after(PACE, done) } else { TickOutcome::idle(0) })
    }

    /// Writes what became of tries. They stay where the database cannot answer.
    pub(crate) async fn settle(&self) -> Result<u64, StoreError> {
        let tries = std::mem::take(&mut *self.ended.0.lock());
        if tries.is_empty() {
            return Ok(0);
        }
        match settle(&self.db, &tries, self.disable_at).await {
            Ok(settled) => {
                for webhook in settled.disabled {
                    DISABLED.inc();
                    warn!(%webhook, "Webhook {webhook} is disabled: its receiver has taken nothing for long");
                }
                Ok(tries.len() as u64)
            }
            Err(error) => {
                self.ended.0.lock().extend(tries);
                Err(error)
            }
        }
    }

    async fn send(&self) -> Result<u64, StoreError> {
        let Some(full) = self.room.full() else { return Ok(0) };
        // Begun before the claim, so that it ends before the claim's own.
        let lease = self.sender.timeout + SLACK;
        let until = clock::monotonic() + lease - self.sender.timeout;
        let claimed = claim(&self.db, &full, lease, |hook| self.room.of(hook)).await?;
        let count = claimed.len() as u64;
        for one in claimed {
            let place = self.room.take(&one.hook);
            let (sender, ended, woken) =
                (Arc::clone(&self.sender), self.ended.clone(), Arc::clone(&self.woken));
            self.tasks.spawn_detached("webhook_try", async move {
                let tried = sender.send(&one, until).await;
                drop(place);
                ended.0.lock().extend(tried);
                woken.notify_one();
            });
        }
        Ok(count)
    }
}
