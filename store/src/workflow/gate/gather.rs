//! Ends a node with `for_each` when all of its items have ended. It returns the list of what they returned.

use super::moves::{Moves, over};
use super::read::{GatedTask, RunOfGates};
use crate::StoreError;
use crate::statement::named;
use crate::workflow::run::ends;
use domain::id::TaskId;
use domain::task::{MAX_RESULT_BYTES, State};
use sqlx::PgConnection;

pub(super) async fn gather(
    tx: &mut PgConnection,
    task: &GatedTask,
    run: RunOfGates,
    moves: &mut Moves,
) -> Result<(), StoreError> {
    let (tenant, id) = task.key;
    let query = sqlx::query_scalar!(
        "select tasks from workflow_items where tenant_id = $1 and task_id = $2",
        tenant.uuid(),
        id.uuid()
    );
    let items = named("gate.items", query.fetch_optional(&mut *tx)).await?.unwrap_or_default();
    let keys: Vec<_> = items.into_iter().map(|item| (tenant, TaskId(item), run.since)).collect();
    let ended = ends(tx, &keys).await?;
    let bad = |(place, end): (usize, &Option<(State, Option<String>)>)| match end {
        Some((State::Succeeded, _)) => None,
        Some((state, _)) => Some((place, *state)),
        None => Some((place, State::Cancelled)),
    };
    let wrong: Vec<(usize, State)> = ended.iter().enumerate().filter_map(bad).collect();
    if let Some((place, state)) = wrong.first() {
        let (items, of) = (wrong.len(), ended.len());
        let why =
            format!("{items} of {of} items did not succeed, the first at place {place}: {state}");
        moves.failed.push((tenant, id, why));
        return Ok(());
    }
    let value = |end: &Option<(State, Option<String>)>| {
        end.as_ref().and_then(|(_, value)| value.clone()).unwrap_or_else(|| "null".to_owned())
    };
    let list = format!("[{}]", ended.iter().map(value).collect::<Vec<_>>().join(","));
    let count = ended.len();
    moves.gathered.push(if list.len() <= MAX_RESULT_BYTES {
        over(task.key, Some(list), &format!("all of its {count} items succeeded"))
    } else {
        let why = format!("all of its {count} items succeeded; what they returned is over {MAX_RESULT_BYTES} bytes together and is not kept");
        over(task.key, None, &why)
    });
    Ok(())
}
