//! Looks whether queues are as this release declares them. Changes nothing.
//!
//! For `berth doctor`. A passive declaration says whether a queue is there, and not how; the same declaration as ever of one that is
//! there says how, and does nothing besides. So none is made here, unless it is deleted between the two.

use super::fault::{Fault, within};
use super::session::Session;
use super::topology::{dead_arguments, dead_queue, hint_arguments, hint_queue};
use crate::queues::QueueFault;
use domain::id::PoolName;
use lapin::options::QueueDeclareOptions;
use lapin::types::FieldTable;

/// What is wrong with the queues of these pools, and with that of the dead.
pub(crate) async fn look(session: &Session, pools: &[PoolName]) -> Result<Vec<QueueFault>, Fault> {
    let settings = &session.settings;
    let mut faults = Vec::new();
    for pool in pools {
        let name = hint_queue(&settings.prefix, pool);
        faults.extend(look_at(session, name, hint_arguments(settings)).await?);
    }
    faults.extend(look_at(session, dead_queue(&settings.prefix), dead_arguments(settings)).await?);
    Ok(faults)
}

async fn look_at(
    session: &Session,
    queue: String,
    arguments: FieldTable,
) -> Result<Option<QueueFault>, Fault> {
    // Each on a channel of its own, because a refusal closes the channel.
    let declare = async |passive: bool, arguments: FieldTable| {
        let channel = session.channel().await?;
        let options =
            QueueDeclareOptions { durable: true, passive, ..QueueDeclareOptions::default() };
        let work = channel.queue_declare(queue.as_str().into(), options, arguments);
        within(session.limit(), work).await?;
        // Whether it closes cleanly changes nothing.
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
        Err(fault) if fault.is_precondition_failed() => Ok(Some(QueueFault::Otherwise(queue))),
        Err(fault) => Err(fault),
    }
}
