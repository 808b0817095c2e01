//! The first message of a stream: opens or adopts the session and reconciles leases.
//!
//! Adoption raises the epoch and commits before the leases are read, so no lease can be added in between. A lease in
//! the database that the executor does not list is over: it never arrived or is lost.

use super::service::StreamService;
use crate::fleet::{ExecutorConnection, HeldLease, Released, Stream};
use crate::returned::end_returned;
use domain::epoch::Epoch;
use domain::id::{ExecutorId, PoolName, SessionId};
use domain::resources::Resources;
use domain::task::{DriverSet, LeaseKey};
use protocol::refused::Reason;
use protocol::{
    Capacity, Hello, KindsOfRuns, Lease, MAX_ASSIGNMENT, MAX_EARLIER_SESSIONS, PROTOCOL_VERSION,
    PoolPolicy, Refused, Welcome, session_id,
};
use std::collections::HashSet;
use store::StoreError;
use store::lease::live;
use store::session::{NewSession, Opened, SessionOwner, open_or_adopt};
use tracing::{info, warn};

/// Drivers of one executor that are noted.
const MAX_DRIVERS: usize = 64;

/// Adds the connection and sends the welcome; whose session it is, or a refusal.
pub(super) async fn greet(
    service: &StreamService,
    stream: &Stream,
    hello: &Hello,
) -> Result<SessionOwner, Refused> {
    let session = parse(hello)?;
    let stream = Stream { session: session.id, ..stream.clone() };
    let opened = open_or_adopt(&service.db, &session, service.node, service.lease_term)
        .await
        .map_err(unavailable)?;
    let (epoch, adopted) = owned(opened, &session)?;
    let policy = store::pool::policy(&service.db, &session.pool).await.map_err(unavailable)?;
    let mut connection = ExecutorConnection::empty(
        stream.clone(),
        epoch,
        SessionOwner { executor: session.executor.clone(), pool: session.pool.clone() },
        session.capacity,
        session.port_first,
    );
    connection.drivers = session.drivers.clone();
    connection.runs = KindsOfRuns { typed: hello.typed_runs, callbacks: hello.callbacks };
    connection.next_assignment = hello.last_assignment + 1;
    let (mut kept, mut came_back): (Vec<Lease>, bool) = Default::default();
    if adopted {
        let held = keys(&hello.held, session.id)?;
        let (listed, gone) = settle_unlisted(service, session.id, hello.last_assignment, &held)
            .await
            .map_err(unavailable)?;
        came_back = gone;
        for (key, lease) in listed {
            kept.push(key.into());
            connection.hold(key, lease);
        }
    }
    info!(
        executor = %session.executor, session = %session.id, pool = %session.pool, %epoch, leases = kept.len(),
        "Executor `{}` is connected", session.executor
    );
    // The welcome comes first: nothing may be assigned before it.
    let welcome = Welcome {
        epoch: epoch.0.unsigned_abs(),
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
    service.fleet.connect(connection, came_back);
    Ok(SessionOwner { executor: session.executor, pool: session.pool })
}

/// The new epoch of the session and whether it was adopted; or a refusal.
fn owned(opened: Opened, session: &NewSession) -> Result<(Epoch, bool), Refused> {
    let (executor, pool) = (&session.executor, &session.pool);
    Err(match opened {
        Opened::Owned { epoch, adopted } => return Ok((epoch, adopted)),
        Opened::Over => {
            refuse(Reason::SessionOver, "the session has lapsed or was fenced; start a new one")
        }
        Opened::NameTaken => refuse(
            Reason::NameTaken,
            &format!(
                "another executor has the name `{executor}`, or had it a moment ago: give each its own executor.id; one that has \
                lost its executor.data_dir is let in when the term of its last session is over"
            ),
        ),
        Opened::NoPool => refuse(
            Reason::Invalid,
            &format!(
                "there is no pool `{pool}`: make it with `berth admin pool set {pool}`, or set executor.pool to one there is"
            ),
        ),
        Opened::TooLarge { dimension, most } => refuse(
            Reason::Invalid,
            &format!(
                "an executor of pool `{pool}` may have {most} {dimension} at most: lower what executor `{executor}` offers, or \
                raise the pool's limit with `berth admin pool set {pool} --max-executor {dimension}=N`",
                dimension = dimension.as_str()
            ),
        ),
    })
}

/// Ends leases that the executor does not list; returns those it does, and whether any were ended.
async fn settle_unlisted(
    service: &StreamService,
    session: SessionId,
    last_assignment: u64,
    held: &HashSet<LeaseKey>,
) -> Result<(Vec<(LeaseKey, HeldLease)>, bool), StoreError> {
    let (listed, gone): (Vec<_>, Vec<_>) = live(&service.db, &[session])
        .await?
        .into_iter()
        .partition(|lease| held.contains(&lease.key));
    let gone: Vec<Released> = gone
        .iter()
        .map(|lease| Released { key: lease.key, lease: HeldLease::of_live(lease) })
        .collect();
    // A higher assignment number never reached it.
    end_returned(&service.db, &gone, |lease| lease.assignment <= last_assignment).await?;
    let held = listed.iter().map(|lease| (lease.key, HeldLease::of_live(lease)));
    Ok((held.collect(), !gone.is_empty()))
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
    if hello.earlier_session_ids.len() > MAX_EARLIER_SESSIONS {
        return Err(invalid("earlier_session_ids are more than 8"));
    }
    let session = |id: &Vec<u8>| session_id(id).map_err(|error| invalid(&error.to_string()));
    Ok(NewSession {
        id: session(&hello.session_id)?,
        earlier: hello.earlier_session_ids.iter().map(session).collect::<Result<_, _>>()?,
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
        drivers: drivers(&hello.drivers),
    })
}

/// The drivers that an executor offers. One that names none says nothing of them. What is no name of a driver is left
/// out: no task needs it.
fn drivers(names: &[String]) -> DriverSet {
    if names.is_empty() {
        return DriverSet::default();
    }
    DriverSet::of(names.iter().take(MAX_DRIVERS).filter_map(|name| name.parse().ok()))
}

/// The leases of a list that came under `session`.
pub(super) fn keys(leases: &[Lease], session: SessionId) -> Result<HashSet<LeaseKey>, Refused> {
    leases
        .iter()
        .map(|lease| lease.key(session))
        .collect::<Result<_, _>>()
        .map_err(|error| refuse(Reason::Invalid, &error.to_string()))
}

pub(super) fn refuse(reason: Reason, detail: &str) -> Refused {
    Refused { reason: reason.into(), detail: detail.to_owned() }
}

/// Text without NUL, which Postgres refuses.
pub(super) fn plain(text: String) -> String {
    if text.contains('\0') { text.replace('\0', "\u{fffd}") } else { text }
}

fn unavailable(error: StoreError) -> Refused {
    warn!(%error, "An executor could not be welcomed");
    refuse(Reason::Unavailable, "the database cannot be reached; try again")
}
