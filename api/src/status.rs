//! How the service does, for everybody, however many ask.

use crate::problem::{Code, Problem};
use api_types::{Extensible, Status, StatusDay};
use parking_lot::RwLock;
use runtime::clock;
use std::time::Duration;
use store::connect::AdminDb;
use tokio::sync::Mutex;
use tokio::time::Instant;

/// However many ask, the database is asked this often.
const AGE: Duration = Duration::from_secs(10);

/// What everybody may read, as it was read last.
pub(crate) struct PublicStatus {
    is_shown: bool,
    db: AdminDb,
    read: RwLock<Option<(Instant, Status)>>,
    reading: Mutex<()>,
}

impl std::fmt::Debug for PublicStatus {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PublicStatus").field("is_shown", &self.is_shown).finish_non_exhaustive()
    }
}

impl PublicStatus {
    pub(crate) fn new(is_shown: bool, db: AdminDb) -> Self {
        Self { is_shown, db, read: RwLock::default(), reading: Mutex::default() }
    }

    /// Whether everybody may read it.
    pub(crate) const fn is_shown(&self) -> bool {
        self.is_shown
    }

    /// How the service does; at most [`AGE`] old, or older while the database does not answer.
    ///
    /// # Errors
    /// `not_found` where it is not public; what the database said.
    pub(crate) async fn read(&self) -> Result<Status, Problem> {
        if !self.is_shown {
            return Err(Problem::new(
                Code::NotFound,
                "The status of this installation is not public.",
            ));
        }
        if let Some(fresh) = self.known(AGE) {
            return Ok(fresh);
        }
        // One asks, and the others make do with what was read before: while the database does not answer, nobody waits in a line.
        let _reading = match (self.reading.try_lock(), self.known(Duration::MAX)) {
            (Ok(reading), _) => reading,
            (Err(_), Some(earlier)) => return Ok(earlier),
            (Err(_), None) => self.reading.lock().await,
        };
        if let Some(fresh) = self.known(AGE) {
            return Ok(fresh);
        }
        match store::canary::status(&self.db).await {
            Ok(found) => {
                let status = shown(&found);
                *self.read.write() = Some((clock::monotonic(), status.clone()));
                Ok(status)
            }
            Err(error) => self.known(Duration::MAX).ok_or_else(|| error.into()),
        }
    }

    /// What was read last, if that is no older than `age`.
    fn known(&self, age: Duration) -> Option<Status> {
        let read = self.read.read();
        read.as_ref().filter(|(at, _)| at.elapsed() <= age).map(|(_, status)| status.clone())
    }
}

fn shown(found: &store::canary::Status) -> Status {
    let day = |day: &store::canary::Day| StatusDay { day: day.day, figures: (&day.seen).into() };
    Status {
        as_of: found.now,
        health: Extensible::Known(found.health),
        failing_since: found.failing_since,
        recent: (&found.recent).into(),
        days: found.days.iter().map(day).collect(),
    }
}
