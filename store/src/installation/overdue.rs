//! What would fire at once, if schedules fired again now.

use crate::StoreError;
use crate::connect::AdminDb;
use crate::statement::named;
use domain::time::Timestamp;
use std::time::Duration;

/// Schedules whose next due time is past.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Overdue {
    /// How many there are.
    pub total: u64,
    /// The longest overdue of them, that one first.
    pub first: Vec<OverdueSchedule>,
}

/// One of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OverdueSchedule {
    /// The tenant.
    pub tenant: String,
    /// Its name.
    pub name: String,
    /// Its first due time that was not fired.
    pub due_at: Timestamp,
    /// What it does about due times that were missed, as JSON.
    pub misfire: String,
}

/// All that would fire, `most` of them by name.
///
/// # Errors
/// [`StoreError::Timeout`] when it takes longer than `limit`; when the database cannot answer.
pub async fn overdue(db: &AdminDb, most: i32, limit: Duration) -> Result<Overdue, StoreError> {
    let mut tx = db.begin_within(limit).await?;
    let query = sqlx::query!(
        r#"select tenant as "tenant!", schedule as "schedule!", due_at as "due_at!", misfire as "misfire!", total as "total!"
            from berth_schedules_overdue($1)"#,
        most
    );
    let rows = named("installation.overdue", query.fetch_all(&mut *tx)).await?;
    let total = rows.first().map_or(0, |row| row.total.unsigned_abs());
    let first = rows.into_iter().map(|row| OverdueSchedule {
        tenant: row.tenant,
        name: row.schedule,
        due_at: row.due_at,
        misfire: row.misfire,
    });
    Ok(Overdue { total, first: first.collect() })
}
