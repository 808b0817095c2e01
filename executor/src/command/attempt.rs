//! One attempt of a command, from its folder to its end.
//!
//! Spawned by the agent, one task each. Orders come from the agent and go to the supervisor; lease
//! confirmations too, so that a supervisor knows by itself when the right to run is over. Returns only
//! when nothing of the command is left, because that word frees its resources.

use super::environment::{self, Facts};
use super::folder::{WorkFolders, name, remove};
use super::leftovers;
use super::spawner::{Spawner, Supervisor, Turn};
use crate::cgroup;
use crate::due::Due;
use crate::identity::{User, Users};
use crate::isolation::{Measures, WORK};
use crate::metrics::START_SECONDS;
use crate::output::{AttemptOutput, OutputQueue, Which, pump};
use crate::supervise::{Decoder, Ended, Job, NotStarted, Order, Report, encode};
use domain::task::{CommandRun, LeaseKey};
use protocol::Capacity;
use runtime::clock::{self, Instant};
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::sync::{mpsc, watch};
use tokio::task::spawn_blocking;

/// Once a supervisor has ended, its pipes can only be open because the command gave them to a process
/// outside its tree; no longer than this is waited for their end.
const PIPES_CLOSE: Duration = Duration::from_secs(1);

/// One that takes longer to start waits for something else than processor time, and must not hold up the others.
const LONGEST_TURN: Duration = Duration::from_secs(1);

/// How long an attempt that could not be started keeps its place.
pub(crate) const UNABLE_HOLD: Duration = Duration::from_secs(1);

/// Everything an attempt needs.
pub(super) struct Assigned {
    pub(super) lease: LeaseKey,
    pub(super) run: CommandRun,
    pub(super) traceparent: String,
    pub(super) due: Due,
    pub(super) resources: Capacity,
    pub(super) received: Instant,
    /// When its turn to start had come. The customer does not pay for the wait.
    pub(super) began: Option<Instant>,
    pub(super) cap_until_ns: u64,
    pub(super) kill_grace: Duration,
    pub(super) folders: WorkFolders,
    pub(super) users: Users,
    pub(super) spawner: Spawner,
    pub(super) measures: Measures,
    pub(super) output: Arc<AttemptOutput>,
    pub(super) queue: Arc<OutputQueue>,
    /// What the agent wants.
    pub(super) orders: mpsc::UnboundedReceiver<Order>,
    /// When the lease is over, in `monotonic_ns`.
    pub(super) lease_until: watch::Receiver<u64>,
}

/// How it went.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum CommandEnd {
    /// It ran, and nothing of it is left.
    Ended(Ended),
    /// It never ran, by its own fault: why, for people.
    Refused(String),
    /// It never ran, by the executor's fault: no folder or no process could be made for it.
    Unable(String),
    /// It never ran: it was killed, or the lease was over, before it could.
    TooLate,
    /// Its supervisor was killed; what was left of it has been killed, too.
    SupervisorLost,
}

/// Runs the attempt; also says when its turn to start had come.
pub(super) async fn run(mut assigned: Assigned) -> (CommandEnd, Option<Instant>) {
    let (folders, users, lease) =
        (assigned.folders.clone(), assigned.users.clone(), assigned.lease);
    let made = spawn_blocking(move || {
        let user = users.claim()?;
        io::Result::Ok((folders.make(&lease, user.identity())?, user))
    });
    let (folder, mut user) = match made.await.map_err(io::Error::other).and_then(|made| made) {
        Ok(made) => made,
        Err(error) => return (unable(&format!("no work folder: {error}")).await, None),
    };
    let end = match supervised(&mut assigned, &folder, &user).await {
        Ok(CommandEnd::Unable(why)) => unable(&why).await,
        Ok(end) => end,
        Err(error) => unable(&format!("no supervisor: {error}")).await,
    };
    let end = if end == CommandEnd::SupervisorLost {
        tracing::error!(task.id = %lease.task, attempt = lease.attempt, "The supervisor of attempt {} of `{}` was killed", lease.attempt, lease.task);
        let (left, places) = (folder.clone(), assigned.measures.places.clone());
        let killed = spawn_blocking(move || {
            leftovers::kill_all(lease.task, lease.attempt, &left);
            cgroup::kill_all(&places, &name(&lease));
            user.kill_all();
            user
        });
        match killed.await {
            Ok(freed) => user = freed,
            Err(_) => return (end, assigned.began),
        }
        end
    } else {
        end
    };
    assigned.queue.finish(&assigned.output);
    // The result does not wait for the disk.
    spawn_blocking(move || {
        if let Err(error) = remove(&folder) {
            tracing::warn!(path = %folder.display(), %error, "A work folder cannot be removed: {error}");
        }
        // Free for another attempt only now that nothing belongs to it.
        drop(user);
    });
    (end, assigned.began)
}

/// Keeps the attempt's place for a moment: an executor that can start nothing must not draw all work to
/// itself by being free again at once.
async fn unable(why: &str) -> CommandEnd {
    tracing::error!("No command can be started: {why}");
    clock::sleep(UNABLE_HOLD).await;
    CommandEnd::Unable(why.to_owned())
}

async fn supervised(assigned: &mut Assigned, folder: &Path, user: &User) -> io::Result<CommandEnd> {
    let turn = assigned.spawner.turn().await?;
    assigned.began = Some(clock::monotonic());
    let Supervisor { mut process, mut control, stdout, stderr } =
        assigned.spawner.supervisor().await?;
    // Who opens its own output anew (`/dev/stderr`) is held to the pipe's owner, which is us.
    if let Some(identity) = user.identity() {
        identity.own(&stdout)?;
        identity.own(&stderr)?;
    }
    // Killed while it was being prepared: then it must not even start.
    if matches!(assigned.orders.try_recv(), Ok(Order::Kill | Order::Stop { .. })) {
        drop(control);
        process.wait().await?;
        return Ok(CommandEnd::TooLate);
    }
    let pumps = {
        let stream = |pipe, which| {
            pump(pipe, which, Arc::clone(&assigned.output), Arc::clone(&assigned.queue))
        };
        let (stdout, stderr) = (stream(stdout, Which::Stdout), stream(stderr, Which::Stderr));
        async { tokio::join!(stdout, stderr) }
    };
    tokio::pin!(pumps);
    let job = encode(&job(assigned, folder, user)).map_err(io::Error::other)?;
    let mut pumped = false;
    let end = {
        let conversation = converse(&mut control, &job, assigned, turn);
        tokio::pin!(conversation);
        loop {
            tokio::select! {
                end = &mut conversation => break end,
                _ = &mut pumps, if !pumped => pumped = true,
            }
        }
    };
    // An error here means that the supervisor's end of the socket is gone, and so is it.
    let end = end.unwrap_or(CommandEnd::SupervisorLost);
    drop(control);
    process.wait().await?;
    if !pumped {
        clock::timeout(PIPES_CLOSE, pumps).await.ok();
    }
    Ok(end)
}

fn job(assigned: &mut Assigned, folder: &Path, user: &User) -> Job {
    let facts = Facts {
        task: assigned.lease.task.to_string(),
        attempt: assigned.lease.attempt,
        traceparent: &assigned.traceparent,
        due: &assigned.due,
        // As the command itself finds it.
        home: if assigned.measures.sandbox.is_some() { Some(WORK) } else { folder.to_str() },
        resources: &assigned.resources,
    };
    let (run, measures) = (&mut assigned.run, &assigned.measures);
    Job {
        argv: std::mem::take(&mut run.argv),
        env: environment::build(std::mem::take(&mut run.env), &facts),
        stdin: run.stdin.take().unwrap_or_default().into_bytes(),
        folder: folder.to_owned(),
        identity: user.identity(),
        own_user: user.is_own(),
        kill_grace_ms: u64::try_from(assigned.kill_grace.as_millis()).unwrap_or(u64::MAX),
        cap_until_ns: assigned.cap_until_ns,
        lease_until_ns: *assigned.lease_until.borrow_and_update(),
        sandbox: measures.sandbox.clone(),
        places: measures.places.clone(),
        group: name(&assigned.lease),
        limits: measures.limits,
        probe: false,
    }
}

/// Hands over the job, then passes orders on until the final report. The turn ends with the first report.
async fn converse(
    control: &mut tokio::net::UnixStream,
    job: &[u8],
    assigned: &mut Assigned,
    turn: Turn,
) -> io::Result<CommandEnd> {
    let mut turn = Some(turn);
    let turn_over = clock::monotonic() + LONGEST_TURN;
    let (mut reader, mut writer) = control.split();
    writer.write_all(job).await?;
    let mut decoder = Decoder::default();
    let mut piece = [0; 1024];
    // Both senders live as long as the agent; should one go, the supervisor goes on by itself.
    let (mut orders_open, mut lease_open) = (true, true);
    loop {
        while let Some(report) = decoder.next().map_err(io::Error::other)? {
            turn = None;
            match report {
                Report::Started => {
                    let took = clock::monotonic() - assigned.received;
                    START_SECONDS.with(&[]).observe(took.as_secs_f64());
                }
                Report::NotStarted(NotStarted::LeaseOver) => return Ok(CommandEnd::TooLate),
                Report::NotStarted(NotStarted::Refused(why)) => {
                    return Ok(CommandEnd::Refused(why));
                }
                Report::NotStarted(NotStarted::Unable(why)) => return Ok(CommandEnd::Unable(why)),
                Report::Ended(ended) => return Ok(CommandEnd::Ended(ended)),
            }
        }
        let order = tokio::select! {
            len = reader.read(&mut piece) => {
                let len = len?;
                if len == 0 {
                    return Ok(CommandEnd::SupervisorLost);
                }
                decoder.push(piece.get(..len).unwrap_or_default());
                continue;
            }
            order = assigned.orders.recv(), if orders_open => {
                orders_open = order.is_some();
                order
            }
            changed = assigned.lease_until.changed(), if lease_open => {
                lease_open = changed.is_ok();
                Some(Order::LeaseUntil(*assigned.lease_until.borrow_and_update()))
            }
            () = clock::sleep_until(turn_over), if turn.is_some() => {
                turn = None;
                continue;
            }
        };
        if let Some(order) = order {
            // A few bytes into an empty socket. When nobody reads there, the next read says so.
            writer.write_all(&encode(&order).map_err(io::Error::other)?).await.ok();
        }
    }
}
