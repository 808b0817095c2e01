//! Looks at what shows only while it is so, through outages of the database; and reads the event log while others write it.

use crate::PortsSeen;
use crate::ports::LOOK;
use runtime::clock;
use std::collections::HashMap;
use std::time::Duration;
use testkit::psql::Session;

const BETWEEN_LOOKS: Duration = Duration::from_millis(100);
const BEFORE_ANOTHER_TRY: Duration = Duration::from_millis(300);

/// Looks at the ports of live leases until it is dropped; a session that breaks is followed by another.
pub async fn ports(url: &str, seen: &mut PortsSeen) {
    loop {
        // Postgres may be away: that is what is being tried.
        let _broken = look(url, seen).await;
        clock::sleep(BEFORE_ANOTHER_TRY).await;
    }
}

async fn look(url: &str, seen: &mut PortsSeen) -> anyhow::Result<()> {
    let mut session = Session::open(url)?;
    loop {
        seen.add(&session.row(LOOK).await?)?;
        clock::sleep(BETWEEN_LOOKS).await;
    }
}

/// Events read at once.
const BATCH: usize = 2000;
/// Only ends: their transactions are on the disk before anybody can read them, so that a crash takes none away and gives no other one
/// its number.
const ENDS: &str =
    "e.state in ('succeeded', 'failed', 'aborted', 'killed', 'cancelled', 'expired', 'skipped')";
/// How long a transaction is left open.
const LEFT_OPEN: Duration = Duration::from_secs(2);

/// What a consumer of the event log has read.
#[derive(Debug, Default)]
pub struct EventsSeen {
    /// How often the end of each task was read, by the task's UUID.
    pub ends: HashMap<String, usize>,
    /// The place of the last event.
    cursor: (i64, i64),
}

impl EventsSeen {
    /// Reads the next events; how many there were.
    pub async fn read(&mut self, session: &mut Session) -> anyhow::Result<usize> {
        let (txid, seq) = self.cursor;
        let row = session
            .row(&format!(
                "select coalesce(string_agg(concat_ws(' ', txid, seq, task_id), ',' order by txid, seq), '') from (
                    select e.txid, e.seq, e.task_id from task_event e
                    where {ENDS} and (e.txid, e.seq) > ({txid}, {seq})
                        and e.txid < pg_snapshot_xmin(pg_current_snapshot())::text::bigint
                    order by e.txid, e.seq limit {BATCH}) e"
            ))
            .await?;
        let events: Vec<&str> = row.split(',').filter(|event| !event.is_empty()).collect();
        for event in &events {
            let fields: Vec<&str> = event.split(' ').collect();
            let &[txid, seq, task] = fields.as_slice() else {
                anyhow::bail!("{event:?} is no event");
            };
            self.cursor = (txid.parse()?, seq.parse()?);
            *self.ends.entry(task.to_owned()).or_default() += 1;
        }
        Ok(events.len())
    }

    /// Reads all that there is; waits at most `limit` for transactions that are still open.
    pub async fn read_all(&mut self, session: &mut Session, limit: Duration) -> anyhow::Result<()> {
        let began = clock::monotonic();
        loop {
            while self.read(session).await? > 0 {}
            let (txid, seq) = self.cursor;
            let unread = format!(
                "select count(*) from task_event e where {ENDS} and (e.txid, e.seq) > ({txid}, {seq})"
            );
            if session.row(&unread).await? == "0" {
                return Ok(());
            }
            anyhow::ensure!(began.elapsed() < limit, "events are held up for {limit:?}");
            clock::sleep(BETWEEN_LOOKS).await;
        }
    }
}

/// Reads the event log until it is dropped, as any consumer does: from its cursor on.
pub async fn events(url: &str, seen: &mut EventsSeen) {
    loop {
        let read = async {
            let mut session = Session::open(url)?;
            loop {
                if seen.read(&mut session).await? < BATCH {
                    clock::sleep(BETWEEN_LOOKS).await;
                }
            }
        };
        let _broken: anyhow::Result<()> = read.await;
        clock::sleep(BEFORE_ANOTHER_TRY).await;
    }
}

/// Leaves one transaction after the other open for a while, until it is dropped.
pub async fn leave_open(url: &str) {
    let open = format!(
        "begin; select pg_current_xact_id(); select pg_sleep({}); rollback",
        LEFT_OPEN.as_secs_f64()
    );
    loop {
        let held = async { Session::open(url)?.run(&open).await };
        let _broken: anyhow::Result<String> = held.await;
        clock::sleep(BEFORE_ANOTHER_TRY).await;
    }
}
