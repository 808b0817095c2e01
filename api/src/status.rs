//! How the service does, for everybody, however many ask.

use crate::problem::{Code, Problem};
use api_types::{Extensible, Status, StatusDay};
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
    read: Mutex<Option<(Instant, Status)>>,
}

impl std::fmt::Debug for PublicStatus {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PublicStatus").field("is_shown", &self.is_shown).finish_non_exhaustive()
    }
}

impl PublicStatus {
    pub(crate) fn new(is_shown: bool, db: AdminDb) -> Self {
        Self { is_shown, db, read: Mutex::default() }
    }

    /// Whether everybody may read it.
    pub(crate) const fn is_shown(&self) -> bool {
        self.is_shown
    }

    /// How the service does; at most [`AGE`] old.
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
        let mut read = self.read.lock().await;
        if let Some((at, status)) = &*read
            && at.elapsed() < AGE
        {
            return Ok(status.clone());
        }
        let found = store::canary::status(&self.db).await?;
        let day =
            |day: &store::canary::Day| StatusDay { day: day.day, figures: (&day.seen).into() };
        let status = Status {
            as_of: found.now,
            health: Extensible::Known(found.health),
            failing_since: found.failing_since,
            recent: (&found.recent).into(),
            days: found.days.iter().map(day).collect(),
        };
        *read = Some((clock::monotonic(), status.clone()));
        Ok(status)
    }
}
