//! What is done to Postgres, the broker and Redis.
//!
//! Called by `inject`. The rule: an engine is as before when its fault is over, but for what it lost.

use super::fault::{Fault, Link};
use super::rig::Rig;
use runtime::clock;
use std::time::Duration;
use testkit::proxy::Mode;

/// The services' logins.
const LOGINS: [&str; 5] =
    ["berth_api", "berth_submit", "berth_admin", "berth_scheduler", "berth_rm"];
const SLOWER: Duration = Duration::from_millis(50);

/// Does it, waits for as long as it lasts, and undoes it; nothing where it is not done to an engine.
pub async fn inflict(rig: &mut Rig, fault: Fault, lasts: Duration) -> anyhow::Result<()> {
    match fault {
        Fault::BrokerRestart => {
            rig.rabbit.kill9()?;
            clock::sleep(lasts).await;
            rig.rabbit.restart().await?;
        }
        Fault::BrokerWipe => {
            rig.rabbit.lose_data()?;
            clock::sleep(lasts).await;
            rig.rabbit.restart().await?;
        }
        Fault::QueueDeletion => {
            let queue = format!("{}.hints.default", rig.cluster.broker().queue_prefix());
            rig.rabbitmqctl(&["delete_queue", &queue]).await?;
        }
        Fault::MemoryAlarm => {
            rig.rabbitmqctl(&["set_vm_memory_high_watermark", "0"]).await?;
            clock::sleep(lasts).await;
            rig.rabbitmqctl(&["set_vm_memory_high_watermark", "0.4"]).await?;
        }
        Fault::PostgresCrash => {
            rig.postgres.kill9()?;
            clock::sleep(lasts).await;
            rig.postgres.restart().await?;
        }
        Fault::PostgresSlow => {
            let links = [Link::ApiDatabase, Link::SchedulerDatabase, Link::ManagerDatabase];
            links.iter().for_each(|link| rig.set(*link, Mode::Delay(SLOWER)));
            clock::sleep(lasts).await;
            links.iter().for_each(|link| rig.set(*link, Mode::Pass));
        }
        Fault::FewConnections => {
            // Those there are go, or nobody would notice.
            limit_connections(rig, 2).await?;
            end_backends(rig).await?;
            clock::sleep(lasts).await;
            limit_connections(rig, -1).await?;
        }
        Fault::KilledBackends => {
            let until = clock::monotonic() + lasts;
            while clock::monotonic() < until {
                end_backends(rig).await?;
                clock::sleep(Duration::from_millis(700)).await;
            }
        }
        Fault::RedisAway => {
            rig.redis.kill9()?;
            clock::sleep(lasts).await;
            rig.redis.restart().await?;
        }
        _ => {}
    }
    Ok(())
}

async fn limit_connections(rig: &Rig, most: i32) -> anyhow::Result<()> {
    let limits = LOGINS.map(|login| format!("alter role {login} connection limit {most}"));
    rig.sql(&limits.join("; ")).await.map(drop)
}

async fn end_backends(rig: &Rig) -> anyhow::Result<()> {
    let ours = "select count(pg_terminate_backend(pid)) from pg_stat_activity where usename like 'berth\\_%'";
    rig.sql(ours).await.map(drop)
}
