//! What exists, in the form in which files have it.

use super::super::connection::Connection;
use super::super::schedule::storable;
use super::kind::Kind;
use client::{ApiResponse, ClientError, Page, PageRequest};
use client::{ConcurrencyLimit, Schedule, User, Workflow};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Most that a page of a list has.
const PAGE: u32 = 200;

/// An object that exists.
#[derive(Debug, Clone)]
pub(super) struct Stored {
    pub kind: Kind,
    pub name: String,
    /// Concurrency limits have none.
    pub version: Option<i64>,
    /// What `PUT` takes, as the server shows it.
    pub value: Value,
    /// The same as text, with its fields in their order.
    pub text: String,
}

impl Stored {
    /// The labels that it carries: of a schedule those of its task, of a workflow those of its runs. Others have none.
    pub fn labels(&self) -> BTreeMap<String, String> {
        let labels = match self.kind {
            Kind::Schedule => self.value.pointer("/task/labels"),
            Kind::Workflow => self.value.pointer("/labels"),
            Kind::ConcurrencyLimit | Kind::User => None,
        };
        let labels = labels.and_then(Value::as_object).into_iter().flatten();
        labels.filter_map(|(key, value)| Some((key.clone(), value.as_str()?.to_owned()))).collect()
    }
}

/// All objects of a kind, by name.
pub(super) async fn all(connection: &Connection, kind: Kind) -> Result<Vec<Stored>, ClientError> {
    let client = &connection.client;
    let mut all = match kind {
        Kind::ConcurrencyLimit => {
            pages(
                async |page: &PageRequest| client.concurrency_limits(page).await,
                concurrency_limit,
            )
            .await
        }
        Kind::Workflow => {
            pages(async |page: &PageRequest| client.workflows(page).await, workflow).await
        }
        Kind::Schedule => {
            pages(async |page: &PageRequest| client.schedules(page).await, schedule).await
        }
        Kind::User => pages(async |page: &PageRequest| client.users(page).await, user).await,
    }?;
    all.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(all)
}

/// One object, if it exists.
pub(super) async fn one(
    connection: &Connection,
    kind: Kind,
    name: &str,
) -> Result<Option<Stored>, ClientError> {
    let client = &connection.client;
    let found = match kind {
        Kind::ConcurrencyLimit => {
            let limit = client.concurrency_limit(name).await?.into_value().limit;
            return Ok(limit.stored.then(|| concurrency_limit(&limit)));
        }
        Kind::Workflow => client.workflow(name).await.map(|found| workflow(&found)),
        Kind::Schedule => client.schedule(name).await.map(|found| schedule(&found)),
        Kind::User => client.user(name).await.map(|found| user(&found)),
    };
    match found {
        Ok(found) => Ok(Some(found)),
        Err(error) if error.api().is_some_and(|problem| problem.status == 404) => Ok(None),
        Err(error) => Err(error),
    }
}

async fn pages<T>(
    ask: impl AsyncFn(&PageRequest) -> Result<ApiResponse<Page<T>>, ClientError>,
    show: impl Fn(&T) -> Stored,
) -> Result<Vec<Stored>, ClientError> {
    let mut all = Vec::new();
    let mut next = Some(PageRequest { limit: Some(PAGE), cursor: None });
    while let Some(request) = next.take() {
        let page = ask(&request).await?;
        all.extend(page.data.iter().map(&show));
        next = page.next(&request);
    }
    Ok(all)
}

fn concurrency_limit(limit: &ConcurrencyLimit) -> Stored {
    let value = json!({"running": limit.running});
    stored(Kind::ConcurrencyLimit, (&limit.key, None), value)
}

fn user(user: &User) -> Stored {
    let value = json!({"role": user.role.to_string()});
    stored(Kind::User, (&user.email, Some(user.version)), value)
}

fn schedule(schedule: &Schedule) -> Stored {
    let mut value = storable(serde_json::to_value(schedule).unwrap_or_default());
    if let Some(fields) = value.as_object_mut() {
        fields.remove("warnings");
    }
    stored(Kind::Schedule, (&schedule.name, Some(schedule.version)), value)
}

fn workflow(workflow: &Workflow) -> Stored {
    let text = workflow.definition.as_str();
    let value = serde_json::from_str(text).unwrap_or_default();
    let of = (workflow.name.as_str(), Some(workflow.version));
    Stored { text: text.to_owned(), ..stored(Kind::Workflow, of, value) }
}

fn stored(kind: Kind, (name, version): (&str, Option<i64>), value: Value) -> Stored {
    Stored { kind, name: name.to_owned(), version, text: value.to_string(), value }
}
