//! Runs of workflows that fires start: of which definition, and for how many there is room.
//!
//! Read in the transaction that starts them. The number of runs that a tenant may have is exact, because only one transaction at a time
//! starts runs of a tenant.

use crate::StoreError;
use crate::plan::limits_of;
use crate::statement::named;
use crate::workflow::read_plan;
use crate::workflow::run::{NewRun, RunOf, start_in, unfinished};
use domain::id::{PlanName, PoolName, TenantId};
use domain::workflow::Plan;
use serde_json::Value;
use sqlx::PgConnection;
use std::collections::BTreeSet;

/// Tasks that one decision stores, about: it starts one run, or as many as have no more.
pub const TASKS_AT_ONCE: u64 = 1000;
/// Longest reason, characters.
const MAX_REASON: usize = 500;

/// Of which workflow a schedule starts runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Starts {
    /// Its name.
    pub workflow: String,
    /// Its definition now; `None`: there is none, or it was not read.
    definition: Option<(i64, String)>,
    /// Runs that its tenant may start.
    room: u64,
    /// Tasks that each may come to have.
    most_tasks: i64,
}

/// Runs to start.
#[derive(Debug, Clone, PartialEq)]
pub struct FiredRuns {
    /// The workflow and its version.
    pub workflow: (String, i64),
    /// What they are made of, with the input in it.
    pub plan: Plan,
    /// The input, JSON.
    pub input: Option<String>,
    /// Runs that the tenant may start.
    pub room: u64,
    /// Tasks that each may come to have.
    most_tasks: i64,
}

impl Starts {
    pub(super) fn of(workflow: String) -> Self {
        Self { workflow, definition: None, room: 0, most_tasks: 0 }
    }

    /// Reads the definition, and for how many runs there is room. No other transaction starts a run of this tenant until this one ends.
    pub(super) async fn read(
        &mut self,
        tx: &mut PgConnection,
        (tenant, plan): (TenantId, &PlanName),
    ) -> Result<(), StoreError> {
        let query = sqlx::query_scalar!(
            r#"select limits::text as "limits!" from plan where name = $1"#,
            plan.as_str()
        );
        let limits = named("fire.run_limits", query.fetch_optional(&mut *tx)).await?;
        let limits = limits_of(&limits.ok_or(StoreError::Contended)?)?;
        let most = u64::from(limits.workflow_runs);
        self.room = most.saturating_sub(unfinished(&mut *tx, tenant, most).await?);
        self.most_tasks = limits.workflow_tasks.into();
        let query = sqlx::query!(
            "select version, plan from workflow where tenant_id = $1 and name = $2",
            tenant.uuid(),
            self.workflow
        );
        let row = named("fire.definition", query.fetch_optional(tx)).await?;
        self.definition = row.map(|row| (row.version, row.plan));
        Ok(())
    }

    /// What runs of it with this input are made of.
    ///
    /// # Errors
    /// Why none can be started, for people.
    pub fn runs(&self, input: Option<&str>) -> Result<FiredRuns, String> {
        let name = &self.workflow;
        let Some((version, plan)) = &self.definition else {
            return Err(format!("there is no workflow `{name}`"));
        };
        let another = |_| format!("workflow `{name}` was stored by another version of Berth");
        let plan = read_plan(name, plan).map_err(another)?;
        let value: Value = match input {
            None => Value::Null,
            Some(input) => serde_json::from_str(input)
                .map_err(|_| "its input was stored by another version of Berth".to_owned())?,
        };
        let plan = plan.with_input(&value).map_err(|problems| {
            let more = match problems.len() {
                0 | 1 => String::new(),
                all => format!(", and {} more", all - 1),
            };
            let first = problems.first().map(ToString::to_string).unwrap_or_default();
            let why = format!(
                "version {version} of workflow `{name}` cannot run with its input: {first}{more}"
            );
            why.replace('\0', "\u{fffd}").chars().take(MAX_REASON).collect::<String>()
        })?;
        let Self { room, most_tasks, .. } = *self;
        let workflow = (name.clone(), *version);
        Ok(FiredRuns { workflow, plan, input: input.map(str::to_owned), room, most_tasks })
    }
}

impl FiredRuns {
    /// Tasks of each.
    #[must_use]
    pub fn tasks(&self) -> u64 {
        self.plan.nodes.len().max(1) as u64
    }

    /// How many may be started where the tenant may have `tasks` tasks more.
    #[must_use]
    pub fn room_with(&self, tasks: u64) -> u64 {
        self.room.min(tasks / self.tasks())
    }

    /// How many are started in one transaction.
    #[must_use]
    pub fn at_once(&self) -> u64 {
        (TASKS_AT_ONCE / self.tasks()).max(1)
    }

    /// The pools in which their tasks run.
    #[must_use]
    pub fn pools(&self) -> BTreeSet<&PoolName> {
        self.plan.nodes.iter().map(|node| &node.task.pool).collect()
    }
}

/// A run to start, and what it is of.
pub(super) struct RunToStart<'a> {
    pub run: NewRun,
    pub of: &'a FiredRuns,
}

impl FiredRuns {
    pub(super) fn run_of(
        &self,
        tenant: TenantId,
        started_by: &str,
        fired: crate::task::submit::FiredBy,
    ) -> RunOf {
        RunOf {
            tenant,
            workflow: Some(self.workflow.clone()),
            plan: self.plan.clone(),
            input: self.input.clone(),
            started_by: started_by.to_owned(),
            traceparent: None,
            fired: Some(fired),
        }
    }
}

/// Stores runs and their tasks.
pub(super) async fn start(
    tx: &mut PgConnection,
    runs: &[RunToStart<'_>],
) -> Result<(), StoreError> {
    for one in runs {
        // None takes tasks of another run over.
        start_in(&mut *tx, &one.run, one.of.most_tasks).await?;
    }
    Ok(())
}
