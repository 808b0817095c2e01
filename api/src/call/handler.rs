//! What handlers take, by the kind of their route.

use crate::limit::TenantBucket;
use crate::problem::Problem;
use crate::request::{Head, Hold, Lines, Query, RequestId, json};
use crate::state::State;
use actix_web::web::Bytes;
use chrono::TimeDelta;
use domain::audit::By;
use domain::id::TaskId;
use domain::time::Timestamp;
use identity::{Caller, Operator, Peer};
use runtime::trace::TraceContext;
use serde::de::DeserializeOwned;
use std::sync::Arc;
use store::TenantScope;

/// More bytes of JSON are not read on the thread that serves other requests meanwhile.
const READ_HERE: usize = 64 * 1024;

/// A request to an open route: probes and documents.
#[derive(Debug)]
pub struct OpenCall {
    /// What the process shares.
    pub state: Arc<State>,
    /// Path, query and headers.
    pub request: Head,
}

/// A request to a route that leads to a token, from somebody who has none.
#[derive(Debug)]
pub struct SignInCall {
    /// What the process shares.
    pub state: Arc<State>,
    /// Path, query and headers.
    pub request: Head,
    /// The body, within its limit.
    pub body: Bytes,
    /// Its name in logs and answers.
    pub id: RequestId,
    /// Where it comes from; not known where the socket has no address.
    pub peer: Option<Peer>,
}

impl SignInCall {
    /// Who asks, for the audit: nobody, until the body says otherwise.
    #[must_use]
    pub const fn by(&self) -> By {
        By::new(domain::audit::Actor::Nobody, self.id)
    }
}

/// A request to a route of the platform's operators.
#[derive(Debug)]
pub struct OperatorCall {
    /// What the process shares.
    pub state: Arc<State>,
    /// Who asks; the route's scope has been checked.
    pub operator: Operator,
    /// Path, query and headers.
    pub request: Head,
    /// The body, within its limit. Empty where the route takes none.
    pub body: Bytes,
    /// Its name in logs and answers.
    pub id: RequestId,
    /// The trace it belongs to.
    pub trace: TraceContext,
}

impl OperatorCall {
    /// Who asks, for the audit.
    #[must_use]
    pub fn by(&self) -> By {
        By::new(domain::audit::Actor::Operator(self.operator.key().public()), self.id)
    }

    /// Refuses a key that has ended since the request was let in. Asked before what gives access that outlives the key.
    ///
    /// # Errors
    /// `unauthenticated`; what the database said.
    pub async fn require_live(&self) -> Result<(), Problem> {
        Ok(self.state.operators.require_live(&self.operator).await?)
    }

    /// The query string.
    ///
    /// # Errors
    /// As [`Query::parse`].
    pub fn query(&self) -> Result<Query, Problem> {
        Query::parse(self.request.query_string())
    }
}

/// A request to a tenant's route.
#[derive(Debug)]
pub struct Call {
    /// What the process shares.
    pub state: Arc<State>,
    /// Who asks; the route's permission has been checked.
    pub caller: Caller,
    /// What its tenant may still submit.
    pub(crate) bucket: Arc<TenantBucket>,
    /// What it holds of the memory for requests: the body, and what a handler is about to answer.
    pub(crate) hold: Hold,
    /// Path, query and headers.
    pub request: Head,
    /// The body, within its limit. Empty where the route takes none.
    pub body: Bytes,
    /// A body of lines, which has not been read: then `body` is empty.
    pub lines: Option<Lines>,
    /// Its name in logs and answers.
    pub id: RequestId,
    /// The trace it belongs to.
    pub trace: TraceContext,
    /// Where it comes from; not known where the socket has no address.
    pub peer: Option<Peer>,
}

impl Call {
    /// The caller's authority, for store functions, and who asks, for the audit.
    #[must_use]
    pub const fn scope(&self) -> TenantScope {
        self.caller.scope().acting(By::new(self.caller.actor().audit_actor(), self.id))
    }

    /// Tasks that ended before this are not shown: the plan keeps no more. Whole days are dropped for all tenants alike, so
    /// `None` where the plan keeps what the installation does.
    #[must_use]
    pub fn ended_from(&self, now: Timestamp) -> Option<Timestamp> {
        let days = u32::from(self.caller.limits().retention_days);
        let shorter = days < self.state.limits.history_retention_days;
        shorter.then(|| now - TimeDelta::days(i64::from(days)))
    }

    /// The body as `T`.
    ///
    /// # Errors
    /// As [`json::parse`]; `too_many_at_once` where a large one finds no turn.
    pub async fn parsed<T: DeserializeOwned + Send + 'static>(&self) -> Result<T, Problem> {
        let body = self.body.clone();
        self.reading(body.len(), move || json::parse(&body)).await
    }

    /// Does `work` on so many bytes of JSON: here where they are few.
    ///
    /// # Errors
    /// Those of `work`; `too_many_at_once` where many bytes find no turn.
    pub(crate) async fn reading<T: Send + 'static>(
        &self,
        bytes: usize,
        work: impl FnOnce() -> Result<T, Problem> + Send + 'static,
    ) -> Result<T, Problem> {
        if bytes <= READ_HERE {
            return work();
        }
        self.state.computing.compute(self.caller.tenant(), work).await
    }

    /// The task named in the path. A malformed id is a task that does not exist.
    ///
    /// # Errors
    /// `not_found`.
    pub fn task_id(&self) -> Result<TaskId, Problem> {
        let text = self.request.part("id").unwrap_or_default();
        text.parse().map_err(|_| Problem::not_found())
    }

    /// The query string.
    ///
    /// # Errors
    /// As [`Query::parse`].
    pub fn query(&self) -> Result<Query, Problem> {
        Query::parse(self.request.query_string())
    }
}
