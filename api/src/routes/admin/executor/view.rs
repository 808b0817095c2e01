//! An executor as operators see it.

use api_types::Executor;
use domain::resources::Resources;
use store::session::ConnectedExecutor;

/// The executor of a record.
pub(super) fn executor(record: ConnectedExecutor) -> Executor {
    let (has, granted) = (record.capacity, record.granted);
    let free = Resources {
        cpu_millis: has.cpu_millis.saturating_sub(granted.cpu_millis),
        memory_mib: has.memory_mib.saturating_sub(granted.memory_mib),
        disk_mib: has.disk_mib.saturating_sub(granted.disk_mib),
        iops: has.iops.saturating_sub(granted.iops),
        ports: has.ports.saturating_sub(granted.ports),
    };
    Executor {
        id: record.executor,
        session: record.session.to_string().into(),
        pool: record.pool,
        draining: record.draining,
        version: record.version,
        started_at: record.started_at,
        expires_at: record.expires_at,
        quarantined_at: record.quarantined_at,
        running: record.running,
        capacity: has.into(),
        free: free.into(),
    }
}
