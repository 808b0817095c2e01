//! `GET /v1/audit` for a tenant, and `GET /v1/admin/audit` for the platform's operators: the same rows, newest first.

use super::view::entry;
use crate::answer::Answer;
use crate::call::{Call, OperatorCall};
use crate::cursor::{Context, List};
use crate::openapi::{AnswerDoc, Content, Doc, Form, PAGE, Param};
use crate::pagination::{PageRequest, Rest, page_and};
use crate::problem::{Code, Problem};
use crate::request::{Query, time_parameter};
use crate::state::State;
use api_types::{AuditEntry, Page};
use domain::audit::PLATFORM;
use domain::id::{AuditId, TenantId};
use domain::time::Timestamp;
use store::audit::{AuditFilter, AuditRecord};
use store::connect::AdminDb;
use store::{PageOf, StoreError};

const ACTOR: Param =
    Param { name: "actor", text: "Actor: id of a key, user or operator", form: Form::Text };
const ACTION: Param =
    Param { name: "action", text: "Action, such as `key.create`", form: Form::Text };
const FROM: Param =
    Param { name: "from", text: "At or after this time (RFC 3339)", form: Form::Time };
const TO: Param = Param { name: "to", text: "Before this time (RFC 3339)", form: Form::Time };
const TENANT: Param = Param {
    name: "tenant",
    text: "Tenant, by name or id; default: entries of the platform",
    form: Form::Text,
};

const ANSWERS: [AnswerDoc; 1] =
    [AnswerDoc { status: 200, text: "A page", content: Content::Page("AuditEntry") }];

/// The document's words.
pub const DOC: Doc = Doc {
    summary: "Read the audit log, newest first",
    description: "Administration and access: keys, users, sign-ins and failed attempts, and actions of operators. Task history is \
                  not included. The log is append-only; see docs/audit.md. A filtered page may be short or empty and still have a \
                  `next_cursor`.",
    query: &[ACTOR, ACTION, FROM, TO, PAGE[0], PAGE[1]],
    answers: &ANSWERS,
    problems: &[Code::InvalidCursor],
    ..Doc::EMPTY
};

/// The document's words.
pub const OPERATOR_DOC: Doc = Doc {
    summary: "Read the audit log of a tenant or of the platform",
    query: &[TENANT, ACTOR, ACTION, FROM, TO, PAGE[0], PAGE[1]],
    answers: &ANSWERS,
    problems: &[Code::InvalidCursor, Code::NotFound],
    ..Doc::EMPTY
};

/// Answers a tenant.
///
/// # Errors
/// `invalid_parameter`, `invalid_cursor`; what the database said.
pub async fn handle(call: Call) -> Result<Answer<Page<AuditEntry>>, Problem> {
    let mut query = call.query()?;
    let (page, mut filter) = (PageRequest::take(&mut query)?, filter(&mut query)?);
    query.finish()?;
    let (tenant, context) = (call.caller.tenant(), context(&filter, ""));
    filter.before = page.after_id(&call.state.sealer, tenant, context)?.map(AuditId);
    let (db, scope) = (&call.state.api, call.scope());
    let rows = store::audit::find(db, &scope, &filter, page.limit + 1).await?;
    Ok(Answer::ok(sheet(&call.state, (tenant, context), &page, rows)?))
}

/// Answers an operator.
///
/// # Errors
/// As [`handle`]; `not_found` for a tenant that is not there.
pub async fn for_operator(call: OperatorCall) -> Result<Answer<Page<AuditEntry>>, Problem> {
    let mut query = call.query()?;
    let (page, mut filter) = (PageRequest::take(&mut query)?, filter(&mut query)?);
    let tenant = query.one("tenant")?;
    query.finish()?;
    let db = &call.state.admin;
    let tenant = match &tenant {
        None => PLATFORM,
        Some(text) => {
            named(db, text).await?.ok_or_else(|| Problem::no_such("tenant").called(text))?
        }
    };
    // Not the cursors of the tenant itself, though it is the same list.
    let context = context(&filter, "operator");
    filter.before = page.after_id(&call.state.sealer, tenant, context)?.map(AuditId);
    let rows = store::audit::find_for_operator(db, tenant, &filter, page.limit + 1).await?;
    Ok(Answer::ok(sheet(&call.state, (tenant, context), &page, rows)?))
}

/// The tenant of this name, or of this id: what was purged has no name any more.
async fn named(db: &AdminDb, text: &str) -> Result<Option<TenantId>, StoreError> {
    if let Some(tenant) = store::tenant::find_by_name(db, text).await? {
        return Ok(Some(tenant));
    }
    let Ok(id) = text.parse() else { return Ok(None) };
    Ok(store::tenant::get(db, id).await?.map(|tenant| tenant.id))
}

fn filter(query: &mut Query) -> Result<AuditFilter, Problem> {
    Ok(AuditFilter {
        actor: query.one("actor")?,
        action: query.one("action")?,
        from: time_parameter(query, "from")?,
        to: time_parameter(query, "to")?,
        before: None,
    })
}

fn context(filter: &AuditFilter, who: &str) -> Context {
    let some = |text: Option<&str>| text.map(|text| format!("={text}")).unwrap_or_default();
    let time =
        |at: Option<Timestamp>| at.map(|at| at.timestamp_micros().to_string()).unwrap_or_default();
    let parts = [
        who.to_owned(),
        some(filter.actor.as_deref()),
        some(filter.action.as_deref()),
        time(filter.from),
        time(filter.to),
    ];
    Context::new(List::Audit, parts.iter().map(String::as_str))
}

fn sheet(
    state: &State,
    (tenant, context): (TenantId, Context),
    page: &PageRequest,
    found: PageOf<AuditRecord, AuditId>,
) -> Result<Page<AuditEntry>, Problem> {
    let seal = |id: AuditId| state.sealer.seal(tenant, context, id.uuid().as_bytes());
    let mut rows = found.rows;
    let rest = Rest { more: page.cut(&mut rows), stopped_at: found.stopped_at.map(seal) };
    page_and(rows, rest, entry, |row| row.entry.id, seal)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_other_filter_and_any_other_asker_is_another_context() {
        let of = |text: &str| context(&filter(&mut Query::parse(text).unwrap()).unwrap(), "");
        let mut contexts = vec![
            of(""),
            of("actor=a"),
            of("action=a"),
            of("from=2030-01-31T12:00:00Z"),
            of("to=2030-01-31T12:00:00Z"),
            context(&AuditFilter::default(), "operator"),
        ];
        while let Some(one) = contexts.pop() {
            assert!(contexts.iter().all(|other| *other != one));
        }
    }
}
