//! `GET /v1/schedules/{name}/fires`: what became of each due time, newest first.

use super::place::{name_in_path, no_such_schedule};
use crate::answer::Answer;
use crate::call::Call;
use crate::cursor::{Context, List};
use crate::openapi::{AnswerDoc, Content, Doc, Form, PAGE, Param};
use crate::pagination::{PageRequest, Rest, outdated_cursor, page_and};
use crate::problem::{Code, Problem};
use crate::request::{Query, wrong_parameter};
use crate::schedule::fire;
use api_types::{Fire, Page};
use chrono::DateTime;
use domain::schedule::Outcome;
use domain::time::Timestamp;
use store::schedule::FireFilter;

/// The document's words.
pub const DOC: Doc = Doc {
    summary: "List the outcomes of a schedule's due times, newest first",
    description: "Each due time appears once, for as long as history is stored. A filtered page may be short or empty and still have \
                  a `next_cursor`.",
    query: &[
        Param {
            name: "outcome",
            text: "Outcome; comma-separated or repeated",
            form: Form::Many(&Form::Schema("FireOutcome")),
        },
        PAGE[0],
        PAGE[1],
    ],
    answers: &[AnswerDoc { status: 200, text: "A page", content: Content::Page("Fire") }],
    problems: &[Code::NotFound, Code::InvalidCursor],
    ..Doc::EMPTY
};

/// Answers.
///
/// # Errors
/// As [`list`].
pub async fn handle(call: Call) -> Result<Answer<Page<Fire>>, Problem> {
    Ok(Answer::ok(list(&call).await?))
}

/// One page of the list.
///
/// # Errors
/// `not_found`; `invalid_parameter`, `invalid_cursor`; what the database said.
pub async fn list(call: &Call) -> Result<Page<Fire>, Problem> {
    let name = name_in_path(call)?;
    let mut query = call.query()?;
    let page = PageRequest::take(&mut query)?;
    let outcomes = outcomes(&mut query)?;
    query.finish()?;
    let (sealer, tenant) = (&call.state.sealer, call.caller.tenant());
    let names = outcomes.iter().map(|outcome| outcome.as_str());
    let context = Context::new(List::Fires, std::iter::once(name).chain(names));
    let before = page.position(sealer, tenant, context)?;
    let before = before.map(|bytes| read(&bytes).ok_or_else(outdated_cursor)).transpose()?;
    let filter = FireFilter { outcomes, before };
    let (db, scope) = (&call.state.api, call.scope());
    let found = store::schedule::fires(db, &scope, name, &filter, page.limit + 1).await?;
    let found = found.ok_or_else(no_such_schedule)?;
    let seal = |at: Timestamp| sealer.seal(tenant, context, &at.timestamp_micros().to_be_bytes());
    let mut fires = found.rows;
    let rest = Rest { more: page.cut(&mut fires), stopped_at: found.stopped_at.map(seal) };
    page_and(fires, rest, |row| Ok(fire(&row)), |row| row.due_at, seal)
}

fn outcomes(query: &mut Query) -> Result<Vec<Outcome>, Problem> {
    let mut outcomes = Vec::new();
    for text in query.all("outcome") {
        for name in text.split(',') {
            let known = Outcome::ALL.iter().copied().find(|outcome| outcome.as_str() == name);
            let outcome = known.ok_or_else(|| {
                let names: Vec<_> = Outcome::ALL.iter().map(|outcome| outcome.as_str()).collect();
                let names = names.join(", ");
                wrong_parameter("outcome", &format!("must be one of {names}"))
            })?;
            if !outcomes.contains(&outcome) {
                outcomes.push(outcome);
            }
        }
    }
    outcomes.sort_unstable_by_key(|outcome| outcome.as_str());
    Ok(outcomes)
}

fn read(bytes: &[u8]) -> Option<Timestamp> {
    DateTime::from_timestamp_micros(i64::from_be_bytes(bytes.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outcomes_come_with_commas_or_several_times_in_any_order() {
        let of = |text: &str| outcomes(&mut Query::parse(text).unwrap());
        let both = of("outcome=late,fired").unwrap();
        assert_eq!(both, of("outcome=fired&outcome=late&outcome=late").unwrap());
        assert_eq!(both.len(), 2);
        assert_eq!(of("").unwrap(), []);
        for bad in ["outcome=", "outcome=gone", "outcome=fired,"] {
            assert_eq!(of(bad).unwrap_err().errors()[0].pointer, "query:outcome", "{bad}");
        }
    }
}
