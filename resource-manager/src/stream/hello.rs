//! The first message of a stream: open or adopt the session, and agree on what is held.
//!
//! Adoption raises the epoch and commits before the leases are read, so nothing can be added behind
//! our back. What the database has and the executor does not list is over: it never arrived, or is gone.

use super::service::StreamService;
use crate::fleet::{HeldKey, HeldLease, Seat, Stream};
use domain::id::{ExecutorId, PoolName, SessionId};
use domain::resources::Resources;
use domain::task::AttemptOutcome;
use protocol::refused::Reason;
use protocol::{
    Capacity, Hello, Lease, MAX_ASSIGNMENT, PROTOCOL_VERSION, PoolPolicy, Refused, Welcome,
    session_id,
};
use std::collections::HashSet;
use store::StoreError;
use store::lease::{LeaseKey, live};
use store::session::{NewSession, Opened, open_or_adopt};
use store::task::transition::{EndedAttempt, lease_lapsed, not_started};
use tracing::{info, warn};

/// Seats the executor and welcomes it, or says why not.
pub(super) async fn greet(
    service: &StreamService,
    stream: &Stream,
    hello: &Hello,
) -> Result<PoolName, Refused> {
    let session = parse(hello)?;
    let stream = Stream { session: session.id, ..stream.clone() };
    let opened = open_or_adopt(&service.db, &session, service.node, service.lease_term)
        .await
        .map_err(unavailable)?;
    let Opened::Owned { epoch, adopted } = opened else {
        return Err(refuse(
            Reason::SessionOver,
            "the session has lapsed or was fenced; start a new one",
        ));
    };
    let policy = store::pool::policy(&service.db, &session.pool).await.map_err(unavailable)?;
    let mut seat = Seat::empty(
        stream.clone(),
        epoch,
        session.executor.clone(),
        session.pool.clone(),
        (session.capacity, session.port_first),
    );
    seat.next_assignment = hello.last_assignment + 1;
    let mut kept: Vec<Lease> = Vec::new();
    if adopted {
        let held = keys(&hello.held)?;
        for (key, lease) in settle_unlisted(service, session.id, hello.last_assignment, &held)
            .await
            .map_err(unavailable)?
        {
            kept.push(
                protocol::LeaseKey { tenant: lease.tenant, task: key.task, attempt: key.attempt }
                    .into(),
            );
            seat.hold(key, lease);
        }
    }
    info!(
        executor = %session.executor, session = %session.id, epoch, leases = kept.len(),
        "Executor `{}` is connected", session.executor
    );
    // Welcomed before it is seated: nothing may be assigned on a stream that has not said hello.
    let welcome = Welcome {
        epoch: epoch.unsigned_abs(),
        term_ms: u32::try_from(service.lease_term.as_millis()).unwrap_or(u32::MAX),
        kill_grace_ms: u32::try_from(service.kill_grace.as_millis()).unwrap_or(u32::MAX),
        leases: kept,
        pool_policy: Some(PoolPolicy {
            command_network: policy.command_network,
            private_targets: policy.private_targets,
        }),
    };
    if !stream.send(welcome) {
        return Err(refuse(Reason::Unavailable, "the stream is gone"));
    }
    service.fleet.seat(seat);
    Ok(session.pool)
}

/// Ends what the executor does not list, and returns what it does.
async fn settle_unlisted(
    service: &StreamService,
    session: SessionId,
    last_assignment: u64,
    held: &HashSet<HeldKey>,
) -> Result<Vec<(HeldKey, HeldLease)>, StoreError> {
    let (listed, gone): (Vec<_>, Vec<_>) = live(&service.db, &[session])
        .await?
        .into_iter()
        .partition(|lease| held.contains(&lease.key.into()));
    let (arrived, never): (Vec<_>, Vec<_>) =
        gone.into_iter().partition(|lease| lease.assignment <= last_assignment);
    if !never.is_empty() {
        let ended: Vec<_> = never
            .iter()
            .map(|lease| {
                EndedAttempt::bare(
                    lease.key,
                    AttemptOutcome::NotStarted,
                    "the assignment never reached its executor",
                )
            })
            .collect();
        not_started(&service.db, &ended).await?;
    }
    if !arrived.is_empty() {
        let lost: Vec<(LeaseKey, bool)> =
            arrived.iter().map(|lease| (lease.key, lease.at_most_once)).collect();
        lease_lapsed(&service.db, &lost).await?;
    }
    Ok(listed.iter().map(|lease| (lease.key.into(), HeldLease::of_live(lease))).collect())
}

fn parse(hello: &Hello) -> Result<NewSession, Refused> {
    let invalid = |detail: &str| refuse(Reason::Invalid, detail);
    if hello.protocol != PROTOCOL_VERSION {
        return Err(refuse(
            Reason::Protocol,
            &format!("this resource manager speaks protocol {PROTOCOL_VERSION}"),
        ));
    }
    let capacity: Capacity = hello.capacity.unwrap_or_default();
    if capacity.port_first.saturating_add(capacity.port_count) > 65_536 {
        return Err(invalid("the ports go past 65535"));
    }
    if hello.last_assignment > MAX_ASSIGNMENT {
        return Err(invalid("last_assignment is above what a session can have"));
    }
    Ok(NewSession {
        id: session_id(&hello.session_id).map_err(|error| invalid(&error.to_string()))?,
        executor: hello
            .executor_id
            .parse::<ExecutorId>()
            .map_err(|error| invalid(&format!("executor_id: {error}")))?,
        pool: hello.pool.parse::<PoolName>().map_err(|error| invalid(&format!("pool: {error}")))?,
        capacity: Resources {
            cpu_millis: capacity.cpu_millis,
            memory_mib: capacity.memory_mib,
            disk_mib: capacity.disk_mib,
            iops: capacity.iops,
            ports: capacity.port_count,
        },
        port_first: capacity.port_first,
        version: plain(hello.version.chars().take(64).collect()),
    })
}

/// The leases of a list, as keys.
pub(super) fn keys(leases: &[Lease]) -> Result<HashSet<HeldKey>, Refused> {
    leases
        .iter()
        .map(|lease| {
            let key = protocol::LeaseKey::try_from(lease)
                .map_err(|error| refuse(Reason::Invalid, &error.to_string()))?;
            Ok(HeldKey { task: key.task, attempt: key.attempt })
        })
        .collect()
}

pub(super) fn refuse(reason: Reason, detail: &str) -> Refused {
    Refused { reason: reason.into(), detail: detail.to_owned() }
}

/// Text as the database takes it: without NUL.
pub(super) fn plain(text: String) -> String {
    if text.contains('\0') { text.replace('\0', "\u{fffd}") } else { text }
}

fn unavailable(error: StoreError) -> Refused {
    warn!(%error, "An executor could not be welcomed");
    refuse(Reason::Unavailable, "the database cannot be reached; try again")
}
