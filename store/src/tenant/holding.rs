//! How much of its quotas a tenant holds, from the rows themselves.

use super::count::{Count, Holding, slice};
use crate::connect::{CountDb, Pace};
use crate::{StoreError, TenantScope};

/// Counts what the tenant holds, until `most` tasks are found: of more than these the figures are only a lower bound. Takes as long
/// as there is to count; only a first slice that is soon done stands in the way of other tenants' first ones.
///
/// # Errors
/// When the database cannot answer, or takes longer for a slice than a read may.
pub async fn holding(db: &CountDb, scope: &TenantScope, most: u64) -> Result<Holding, StoreError> {
    let (mut count, mut pace) = (Count::default(), Pace::Quick);
    loop {
        let mut turn = db.begin(pace).await?;
        match slice(&mut turn.tx, scope.tenant(), &mut count, most).await {
            Ok(Some(holding)) => return Ok(holding),
            Ok(None) => {}
            // There is little to count, but much that has just ended lies in between.
            Err(StoreError::Timeout) if pace == Pace::Quick => {}
            Err(error) => return Err(error),
        }
        pace = Pace::Long;
    }
}
