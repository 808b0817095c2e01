//! Does what a plan says: an object is written only in the version that the plan was made from.
//!
//! What was changed meanwhile is read and compared once more, so that two runs over the same files end alike. An object that the server
//! refuses does not stop the others, as long as the server can be reached.

use super::super::connection::Connection;
use super::super::failure::failure;
use super::check::{Normal, Rules};
use super::invitations;
use super::kind::Kind;
use super::plan::{Action, Change, change, deleted};
use super::selector::{LabelValue, carries};
use super::stored;
use crate::failure::{Exit, Failure};
use crate::output::Progress;
use client::{ApiError, ClientError, ErrorCode, RawJson, TaskWarning};
use domain::access::Role;
use futures::{StreamExt, stream};
use std::collections::HashMap;
use std::fs::File;
use std::sync::atomic::{AtomicBool, Ordering};

/// Writes at a time.
const AT_ONCE: usize = 8;
/// A version that no object has: a write for it is checked and never done.
const NO_VERSION: i64 = i64::MAX;

/// What became of a change.
#[derive(Debug)]
pub(super) enum Outcome {
    /// Done, or found done; with the version now.
    Done {
        action: Action,
        version: Option<i64>,
        warnings: Vec<TaskWarning>,
    },
    Refused(Failure),
    /// Not tried, because the server could not be used any more.
    NotTried,
}

/// Writes changes.
pub(super) struct Writer<'a> {
    pub connection: &'a Connection,
    pub rules: &'a Rules,
    /// What files have, for what changed meanwhile.
    pub wanted: &'a HashMap<(Kind, String), Normal>,
    pub selector: &'a [LabelValue],
    pub invitations: Option<&'a File>,
}

/// What a write answered.
#[derive(Debug, Default)]
struct Written {
    version: Option<i64>,
    warnings: Vec<TaskWarning>,
}

impl Writer<'_> {
    /// Does all of `changes`, which are in order, several of a kind at a time. Gives an outcome for each.
    pub async fn write(&self, changes: &[Change]) -> Vec<Outcome> {
        let stopped = AtomicBool::new(false);
        let mut outcomes = Vec::with_capacity(changes.len());
        let number = changes.iter().filter(|change| change.action != Action::Unchanged).count();
        let mut progress = Progress::new("written", Some(number));
        let (mut done, mut refused) = (0, 0);
        for group in changes.chunk_by(|one, next| {
            one.kind == next.kind
                && (one.action == Action::Delete) == (next.action == Action::Delete)
        }) {
            let each = group.iter().map(|change| self.unless_stopped(change, &stopped));
            let mut answers = stream::iter(each).buffered(AT_ONCE);
            while let Some(outcome) = answers.next().await {
                match &outcome {
                    Outcome::Done { action: Action::Unchanged, .. } | Outcome::NotTried => {}
                    Outcome::Done { .. } => done += 1,
                    Outcome::Refused(_) => refused += 1,
                }
                progress.show(done, refused);
                outcomes.push(outcome);
            }
        }
        progress.clear();
        outcomes
    }

    async fn unless_stopped(&self, change: &Change, stopped: &AtomicBool) -> Outcome {
        if stopped.load(Ordering::Relaxed) {
            return Outcome::NotTried;
        }
        let outcome = self.one(change).await;
        if let Outcome::Refused(failure) = &outcome
            && matches!(failure.exit(), Exit::Unreachable | Exit::NotAllowed)
        {
            stopped.store(true, Ordering::Relaxed);
        }
        outcome
    }

    /// Does a change; where the object is another meanwhile, compares once more and tries again once.
    async fn one(&self, change: &Change) -> Outcome {
        match self.try_once(change).await {
            Err(Tried::Stale) => {}
            Err(Tried::Failed(failure)) => return Outcome::Refused(failure),
            Ok(done) => return done,
        }
        let again = match self.compared_again(change).await {
            Ok(Some(again)) => again,
            Ok(None) => return unchanged(None),
            Err(failure) => return Outcome::Refused(failure),
        };
        match self.try_once(&again).await {
            Ok(done) => done,
            Err(Tried::Failed(failure)) => Outcome::Refused(failure),
            Err(Tried::Stale) => Outcome::Refused(Failure::failed(
                "it is being changed by somebody else at the same time; run the command again",
            )),
        }
    }

    /// The change from what there is now; `None`: nothing is left to do.
    async fn compared_again(&self, before: &Change) -> Result<Option<Change>, Failure> {
        let Change { kind, name, action, .. } = before;
        let found = stored::one(self.connection, *kind, name).await;
        let found = found.map_err(|error| failure(&error))?;
        if *action == Action::Delete {
            let meant = found.filter(|found| carries(&found.labels(), self.selector));
            return Ok(meant.map(|found| deleted(&found)));
        }
        let Some(wanted) = self.wanted.get(&(*kind, name.clone())) else { return Ok(None) };
        change((*kind, name), wanted, found.as_ref(), self.rules).map(Some).map_err(|mistakes| {
            let first = mistakes.into_iter().next();
            let said = first.map(|mistake| format!("{}: {}", mistake.pointer, mistake.detail));
            Failure::usage(said.unwrap_or_default())
        })
    }

    async fn try_once(&self, change: &Change) -> Result<Outcome, Tried> {
        if change.action == Action::Unchanged {
            return Ok(unchanged(change.version));
        }
        let answer = match &change.body {
            Some(body) => self.put(change, body).await,
            None => self.delete(change).await,
        };
        match answer {
            Ok(Written { version, warnings }) => {
                // The server may find equal what this version does not.
                let is_same = change.action == Action::Update
                    && version.is_some()
                    && version == change.version;
                let action = if is_same { Action::Unchanged } else { change.action };
                Ok(Outcome::Done { action, version, warnings })
            }
            Err(error) => Err(judged(change, error)),
        }
    }

    async fn put(&self, change: &Change, body: &RawJson) -> Result<Written, PutError> {
        let (client, name, version) = (&self.connection.client, &change.name, change.version);
        let text = body.as_str();
        Ok(match change.kind {
            Kind::Schedule => {
                let stored = client.put_schedule_json(name, text.to_owned(), version).await?;
                let stored = stored.into_value();
                Written { version: Some(stored.version), warnings: stored.warnings }
            }
            Kind::Workflow => {
                let stored = client.put_workflow(name, body, version).await?.into_value();
                Written { version: Some(stored.version), warnings: stored.warnings }
            }
            Kind::ConcurrencyLimit => {
                let running = serde_json::from_str::<client::request::ConcurrencyLimitPut>(text);
                let running = running.map_err(|error| unreadable(&error))?.running;
                client.set_concurrency_limit(name, running).await?;
                Written::default()
            }
            Kind::User => {
                let role = serde_json::from_str::<client::request::UserPut>(text);
                self.put_user(change, role.map_err(|error| unreadable(&error))?.role).await?
            }
        })
    }

    /// A new user is invited: the token goes into the file for it.
    async fn put_user(&self, change: &Change, role: Role) -> Result<Written, PutError> {
        let Change { name, version, action, .. } = change;
        let file = match (action, self.invitations) {
            (Action::Create, None) => {
                return Err(PutError::Own(Failure::usage(
                    "the user is new: give --invitations FILE for the token, or invite them with `berth users invite`",
                )));
            }
            (_, file) => file,
        };
        let stored = self.connection.client.put_user(name, role, *version).await?;
        if let (Some(token), Some(file)) = (&stored.invite_token, file) {
            invitations::add(file, name, token.expose()).map_err(|error| {
                PutError::Own(Failure::failed(format!(
                    "the user was invited, but the token could not be written ({error}): remove the user and invite them again"
                )))
            })?;
        }
        Ok(Written { version: Some(stored.info.version), warnings: Vec::new() })
    }

    async fn delete(&self, change: &Change) -> Result<Written, PutError> {
        let (client, name, version) = (&self.connection.client, &change.name, change.version);
        match change.kind {
            Kind::Schedule => client.delete_schedule(name, version).await.map(drop)?,
            Kind::Workflow => client.delete_workflow(name, version).await.map(drop)?,
            Kind::ConcurrencyLimit | Kind::User => {}
        }
        Ok(Written::default())
    }
}

/// Whether a write failed because the object is another meanwhile.
fn judged(change: &Change, error: PutError) -> Tried {
    let error = match error {
        PutError::Client(error) => error,
        PutError::Own(failure) => return Tried::Failed(failure),
    };
    match error.api() {
        Some(problem) if problem.is(ErrorCode::VersionMismatch) => Tried::Stale,
        // Another deleted it first.
        Some(problem) if problem.status == 404 && change.action == Action::Delete => Tried::Stale,
        _ => Tried::Failed(failure(&error)),
    }
}

/// Asks the server what is wrong with changes, without a write: each is sent for a version that no object has, which the server finds last.
/// What it cannot check now, such as a schedule of a workflow that is to be created, is left to the write.
pub(super) async fn refused_by_server<'a>(
    connection: &Connection,
    changes: &'a [Change],
) -> Result<Vec<(&'a Change, Box<ApiError>)>, Failure> {
    let ask = |change: &'a Change| async move {
        let (client, name) = (&connection.client, &change.name);
        let Some(body) = &change.body else { return Ok(None) };
        let answer = match change.kind {
            Kind::Schedule => {
                let text = body.as_str().to_owned();
                client.put_schedule_json(name, text, Some(NO_VERSION)).await.map(drop)
            }
            Kind::Workflow => client.put_workflow(name, body, Some(NO_VERSION)).await.map(drop),
            // One has no version, of the other nothing is left to check.
            Kind::ConcurrencyLimit | Kind::User => return Ok(None),
        };
        match answer {
            Err(ClientError::Api(problem)) if matches!(problem.status, 400 | 413 | 422) => {
                Ok(Some((change, problem)))
            }
            Ok(()) | Err(ClientError::Api(_)) => Ok(None),
            Err(error) => Err(failure(&error)),
        }
    };
    let is_checked = |change: &&Change| change.body.is_some() && !waits(change, changes);
    let asked = changes.iter().filter(is_checked).map(ask);
    let mut answers = stream::iter(asked).buffered(AT_ONCE);
    let number = changes.iter().filter(|change| change.body.is_some()).count();
    let mut progress = Progress::new("checked", Some(number));
    let (mut checked, mut refused) = (0, Vec::new());
    while let Some(answer) = answers.next().await {
        match answer? {
            Some(found) => refused.push(found),
            None => checked += 1,
        }
        progress.show(checked, refused.len());
    }
    progress.clear();
    Ok(refused)
}

/// Whether a schedule names a workflow that is to be written first.
fn waits(change: &Change, changes: &[Change]) -> bool {
    let Some(body) = change.body.as_ref().filter(|_| change.kind == Kind::Schedule) else {
        return false;
    };
    let body: serde_json::Value = serde_json::from_str(body.as_str()).unwrap_or_default();
    let named = body.pointer("/workflow/name").and_then(serde_json::Value::as_str);
    named.is_some_and(|named| {
        changes.iter().any(|other| {
            other.kind == Kind::Workflow && other.name == named && other.action != Action::Unchanged
        })
    })
}

fn unchanged(version: Option<i64>) -> Outcome {
    Outcome::Done { action: Action::Unchanged, version, warnings: Vec::new() }
}

fn unreadable(error: &serde_json::Error) -> PutError {
    PutError::Own(Failure::failed(format!("cannot write the request: {error}")))
}

/// Why a write was not done.
enum Tried {
    /// It is in another version than was read, or gone.
    Stale,
    Failed(Failure),
}

enum PutError {
    Client(ClientError),
    Own(Failure),
}

impl From<ClientError> for PutError {
    fn from(error: ClientError) -> Self {
        Self::Client(error)
    }
}
