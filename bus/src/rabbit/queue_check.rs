//! Checks that queues exist with the arguments that this release declares. Changes nothing.
//!
//! For `berth doctor`. A passive declaration checks the existence, a second one the arguments. The
//! second creates a queue only if it is deleted between the two.

use super::fault::{Fault, within};
use super::session::Session;
use super::topology::{dead_arguments, dead_queue, hint_arguments, hint_queue};
use crate::queues::QueueFault;
use domain::id::PoolName;
use lapin::options::QueueDeclareOptions;
use lapin::types::FieldTable;

/// The queues of these pools, and the dead-letter queue, that differ.
pub(crate) async fn check_queues(
    session: &Session,
    pools: &[PoolName],
) -> Result<Vec<QueueFault>, Fault> {
    let settings = &session.settings;
    let mut faults = Vec::new();
    for pool in pools {
        let name = hint_queue(&settings.prefix, pool);
        faults.extend(check_queue(session, name, hint_arguments(settings)).await?);
    }
    faults.extend(
        check_queue(session, dead_queue(&settings.prefix), dead_arguments(settings)).await?,
    );
    Ok(faults)
}

async fn check_queue(
    session: &Session,
    queue: String,
    arguments: FieldTable,
) -> Result<Option<QueueFault>, Fault> {
    // Each on its own channel, because a refusal closes the channel.
    let declare = async |passive: bool, arguments: FieldTable| {
        let channel = session.channel().await?;
        let options =
            QueueDeclareOptions { durable: true, passive, ..QueueDeclareOptions::default() };
        let work = channel.queue_declare(queue.as_str().into(), options, arguments);
        within(session.limit(), work).await?;
        // Whether the channel closes cleanly does not matter.
        let _ = within(session.limit(), channel.close(200, "OK".into())).await;
        Ok::<_, Fault>(())
    };
    match declare(true, FieldTable::default()).await {
        Ok(()) => {}
        Err(fault) if fault.is_not_found() => return Ok(Some(QueueFault::Missing(queue))),
        Err(fault) => return Err(fault),
    }
    match declare(false, arguments).await {
        Ok(()) => Ok(None),
        Err(fault) if fault.is_precondition_failed() => Ok(Some(QueueFault::OtherArguments(queue))),
        Err(fault) => Err(fault),
    }
}
