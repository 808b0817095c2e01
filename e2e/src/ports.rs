//! Looks at the ports of live leases while they live: no row of history keeps them.
//!
//! One look is one statement, so one instant. It sees what stands in the tables; two leases that share a port between two
//! looks are not seen. Leases are compared within a session: what an executor held before it died has no process any more, though
//! its leases stand until the session lapses, while the next boot gives the same ports.

use crate::Oracle;
use runtime::clock;
use std::pin::pin;
use std::time::Duration;

const BETWEEN_LOOKS: Duration = Duration::from_millis(50);

/// What was seen.
#[derive(Debug, Clone, Default)]
pub struct PortsSeen {
    /// How often was looked.
    pub looks: usize,
    /// Most leases with ports under one session at one instant: with fewer than two nothing was shown.
    pub most_at_once: i64,
    /// What was wrong.
    pub faults: Vec<String>,
}

/// Looks again and again until `work` has come to its end; gives its answer and what was seen.
pub async fn watch_ports<T>(
    oracle: &Oracle<'_>,
    work: impl Future<Output = anyhow::Result<T>>,
) -> anyhow::Result<(T, PortsSeen)> {
    let mut work = pin!(work);
    let mut session = oracle.session()?;
    let mut seen = PortsSeen::default();
    loop {
        let look = async {
            clock::sleep(BETWEEN_LOOKS).await;
            session.row(LOOK).await
        };
        tokio::select! {
            done = &mut work => return Ok((done?, seen)),
            row = look => seen.add(&row?)?,
        }
    }
}

impl PortsSeen {
    pub(crate) fn add(&mut self, row: &str) -> anyhow::Result<()> {
        let numbers: Vec<i64> =
            row.split('|').map(|field| field.parse()).collect::<Result<_, _>>()?;
        let &[shared, outside, at_once] = numbers.as_slice() else {
            anyhow::bail!("{row:?} is no look at ports");
        };
        self.looks += 1;
        self.most_at_once = self.most_at_once.max(at_once);
        if shared > 0 {
            self.faults.push(format!("{shared} pair(s) of live leases share a port"));
        }
        if outside > 0 {
            self.faults
                .push(format!("{outside} live lease(s) with ports their executor does not give"));
        }
        Ok(())
    }
}

/// A block without a first port has no bounds, and so lies outside.
pub(crate) const LOOK: &str = "
    with held as materialized (
        select t.id, t.session_id, int4range(t.port_first, t.port_first + t.ports) as block,
            int4range(s.port_first, s.port_first + s.port_count) as given
        from task t join executor_session s on s.id = t.session_id
        where t.ports > 0
    )
    select
        (select count(*) from held a join held b on a.session_id = b.session_id and a.id < b.id and a.block && b.block),
        (select count(*) from held where not block <@ given),
        (select coalesce(max(n), 0) from (select count(*) as n from held group by session_id) c)";
