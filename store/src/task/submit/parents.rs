//! Stores tasks that may have parents: each edge is stored, or decided, and none is lost to a parent that ends meanwhile.
//!
//! Parents that were stored before are locked first, by counting the new edges in their rows: one that ends after that ends with them.
//! One that is not alive then has ended, and its edges are decided here. Then the tasks go in, and then the edges of those that wait. Of a
//! parent whose unique key another task holds, that other task is the parent.

use super::guarded;
use super::links::{NewEdge, TaskLinks, Wait};
use super::{NewTask, SubmitAnswer};
use crate::StoreError;
use crate::statement::named;
use domain::dependency::{Dependencies, Edge, Verdict, Waiting};
use domain::id::{TaskId, TenantId};
use domain::task::State;
use sqlx::PgConnection;
use std::collections::{BTreeMap, HashMap, HashSet};
use uuid::Uuid;

type Key = (TenantId, TaskId);

/// How parents stand that are not among the tasks to be stored: alive and locked, or ended.
#[derive(Debug, Default)]
struct Parents {
    /// `None`: alive.
    found: HashMap<Key, Option<State>>,
}

pub(super) async fn insert(
    tx: &mut PgConnection,
    tasks: &[NewTask],
) -> Result<Vec<SubmitAnswer>, StoreError> {
    let is_item = |task: &NewTask| task.node.as_ref().is_some_and(|node| node.item_of.is_some());
    if tasks.iter().all(|task| task.depends_on.is_none() && !is_item(task)) {
        let all: Vec<&NewTask> = tasks.iter().collect();
        let is_linked = |task: &NewTask| task.rerun_of.is_some() || task.node.is_some();
        let links: Vec<TaskLinks> = if tasks.iter().any(is_linked) {
            tasks.iter().map(|task| TaskLinks::of(task, Wait::None, 0)).collect()
        } else {
            Vec::new()
        };
        return guarded::insert(tx, &all, &links).await;
    }
    let held = holders(tx, tasks).await?;
    if held.is_empty() {
        return insert_linked(tx, tasks, &held).await;
    }
    let mut tasks = tasks.to_vec();
    for task in &mut tasks {
        let tenant = task.tenant;
        for edge in task.depends_on.iter_mut().flat_map(|all| &mut all.edges) {
            edge.parent = held.get(&(tenant, edge.parent)).copied().unwrap_or(edge.parent);
        }
    }
    insert_linked(tx, &tasks, &held).await
}

/// `held` are tasks whose unique keys others hold. Where that turns out to be otherwise, the caller begins again.
async fn insert_linked(
    tx: &mut PgConnection,
    tasks: &[NewTask],
    held: &HashMap<Key, TaskId>,
) -> Result<Vec<SubmitAnswer>, StoreError> {
    let own: HashSet<Key> = tasks
        .iter()
        .map(|task| (task.tenant, task.id))
        .filter(|key| !held.contains_key(key))
        .collect();
    let mut named_outside = BTreeMap::new();
    for key in edges(tasks).filter(|key| !own.contains(key)) {
        *named_outside.entry(key).or_insert(0) += 1;
    }
    let parents = Parents::lock(tx, &named_outside).await?;
    let unknown: Vec<Vec<TaskId>> = tasks.iter().map(|task| parents.unknown(task, &own)).collect();
    let known = tasks.iter().zip(&unknown).filter(|(_, unknown)| unknown.is_empty());
    let known: Vec<&NewTask> = known.map(|(task, _)| task).collect();
    let stored = store(tx, &known, &parents).await?;
    let own_parents: HashSet<Key> = edges(tasks).filter(|key| own.contains(key)).collect();
    for (task, answer) in known.iter().zip(&stored) {
        let is_new = matches!(answer, SubmitAnswer::Created(_));
        if !is_new && own_parents.contains(&(task.tenant, task.id)) {
            return Err(StoreError::Contended);
        }
    }
    let mut stored = stored.into_iter();
    let answer = |unknown: Vec<TaskId>| {
        if unknown.is_empty() { stored.next() } else { Some(SubmitAnswer::UnknownParents(unknown)) }
    };
    unknown.into_iter().map(answer).map(|answer| answer.ok_or(StoreError::Contended)).collect()
}

/// Stores tasks whose parents are known, and the edges of those that wait.
async fn store(
    tx: &mut PgConnection,
    tasks: &[&NewTask],
    parents: &Parents,
) -> Result<Vec<SubmitAnswer>, StoreError> {
    if tasks.is_empty() {
        return Ok(Vec::new());
    }
    let waits: Vec<Wait> = tasks.iter().map(|task| parents.wait(task)).collect();
    let mut children: HashMap<Key, i64> = HashMap::new();
    for key in edges(tasks.iter().copied()) {
        *children.entry(key).or_default() += 1;
    }
    let links = tasks.iter().zip(&waits).map(|(task, wait)| {
        let named = children.get(&(task.tenant, task.id)).copied().unwrap_or(0);
        TaskLinks::of(task, *wait, named)
    });
    let links: Vec<TaskLinks> = links.collect();
    let answers = guarded::insert(tx, tasks, &links).await?;
    let mut new_edges = Vec::new();
    for ((task, wait), answer) in tasks.iter().zip(&waits).zip(&answers) {
        if matches!(wait, Wait::Parents(_)) && matches!(answer, SubmitAnswer::Created(_)) {
            new_edges.extend(
                parents.undecided(task).map(|(place, edge)| NewEdge::of(task, place, edge)),
            );
        }
        new_edges.extend(NewEdge::of_item(task));
    }
    if new_edges.is_empty() {
        return Ok(answers);
    }
    let query = sqlx::query!(
        "insert into task_edge (tenant_id, parent_id, child_id, place, condition)
            select tenant_id, parent_id, child_id, place, condition from unnest($1::new_edge[])",
        &new_edges as &[NewEdge]
    );
    named("submit.edges", query.execute(tx)).await?;
    Ok(answers)
}

fn edges<'a>(tasks: impl IntoIterator<Item = &'a NewTask>) -> impl Iterator<Item = Key> {
    tasks.into_iter().flat_map(|task| {
        let edges = task.depends_on.iter().flat_map(|all| &all.edges);
        edges.map(|edge| (task.tenant, edge.parent))
    })
}

/// Which other tasks hold the unique keys of parents among `tasks`.
async fn holders(
    tx: &mut PgConnection,
    tasks: &[NewTask],
) -> Result<HashMap<Key, TaskId>, StoreError> {
    let parents: HashSet<Key> = edges(tasks).collect();
    let unique: Vec<(&NewTask, &str)> = tasks
        .iter()
        .filter(|task| parents.contains(&(task.tenant, task.id)))
        .filter_map(|task| Some((task, task.unique_key.as_deref()?)))
        .collect();
    if unique.is_empty() {
        return Ok(HashMap::new());
    }
    let tenants: Vec<Uuid> = unique.iter().map(|(task, _)| task.tenant.uuid()).collect();
    let ids: Vec<Uuid> = unique.iter().map(|(task, _)| task.id.uuid()).collect();
    let keys: Vec<String> = unique.iter().map(|(_, key)| (*key).to_owned()).collect();
    let query = sqlx::query!(
        r#"select i.tenant_id as "tenant_id!", i.id as "id!", t.id as "holder!"
            from unnest($1::uuid[], $2::uuid[], $3::text[]) as i(tenant_id, id, unique_key)
            cross join lateral (select h.id from task h
                where h.tenant_id = i.tenant_id and h.unique_key = i.unique_key limit 1) t"#,
        &tenants,
        &ids,
        &keys
    );
    let rows = named("submit.holders_of_parents", query.fetch_all(tx)).await?;
    let held =
        rows.into_iter().map(|row| ((TenantId(row.tenant_id), TaskId(row.id)), TaskId(row.holder)));
    Ok(held.collect())
}

fn columns<'a>(keys: impl Iterator<Item = &'a Key>) -> (Vec<Uuid>, Vec<Uuid>) {
    keys.map(|(tenant, task)| (tenant.uuid(), task.uuid())).unzip()
}

impl Parents {
    /// Counts new edges in the rows of their parents, which locks them; finds the ends of those that live no more.
    async fn lock(tx: &mut PgConnection, edges: &BTreeMap<Key, i64>) -> Result<Self, StoreError> {
        if edges.is_empty() {
            return Ok(Self::default());
        }
        let (tenants, ids) = columns(edges.keys());
        let counts: Vec<i64> = edges.values().copied().collect();
        let query = sqlx::query!(
            "update task t set children = coalesce(t.children, 0) + i.edges
                from unnest($1::uuid[], $2::uuid[], $3::bigint[]) as i(tenant_id, id, edges)
                where t.tenant_id = any (array[i.tenant_id]) and t.id = i.id
                returning t.tenant_id, t.id",
            &tenants,
            &ids,
            &counts
        );
        let rows = named("submit.lock_parents", query.fetch_all(&mut *tx)).await?;
        let mut found: HashMap<Key, Option<State>> =
            rows.into_iter().map(|row| ((TenantId(row.tenant_id), TaskId(row.id)), None)).collect();
        let others: Vec<&Key> = edges.keys().filter(|key| !found.contains_key(key)).collect();
        if !others.is_empty() {
            let (tenants, ids) = columns(others.into_iter());
            let query = sqlx::query!(
                r#"select i.tenant_id as "tenant_id!", i.id as "id!", h.state::text as "state!"
                    from unnest($1::uuid[], $2::uuid[]) as i(tenant_id, id)
                    cross join lateral (
                        select e.state from task_history e where e.tenant_id = i.tenant_id and e.id = i.id limit 1) h"#,
                &tenants,
                &ids
            );
            for row in named("submit.ended_parents", query.fetch_all(tx)).await? {
                let key = (TenantId(row.tenant_id), TaskId(row.id));
                found.insert(key, row.state.parse().ok());
            }
        }
        Ok(Self { found })
    }

    /// The parents of `task` that are neither found nor stored with it.
    fn unknown(&self, task: &NewTask, own: &HashSet<Key>) -> Vec<TaskId> {
        let edges = task.depends_on.iter().flat_map(|all| &all.edges);
        let is_known = |key: &Key| self.found.contains_key(key) || own.contains(key);
        edges.map(|edge| edge.parent).filter(|id| !is_known(&(task.tenant, *id))).collect()
    }

    /// How the parent of an edge ended; `None` where it lives, or is stored with the task.
    fn ended(&self, task: &NewTask, edge: &Edge) -> Option<State> {
        self.found.get(&(task.tenant, edge.parent)).copied().flatten()
    }

    /// The edges of `task` whose parents have not ended, with their places.
    fn undecided<'a>(&'a self, task: &'a NewTask) -> impl Iterator<Item = (usize, &'a Edge)> {
        let edges = task.depends_on.iter().flat_map(|all| &all.edges).enumerate();
        edges.filter(|(_, edge)| self.ended(task, edge).is_none())
    }

    /// What `task` waits for, after the edges of ended parents are decided.
    fn wait(&self, task: &NewTask) -> Wait {
        let Some(Dependencies { edges, .. }) = &task.depends_on else { return Wait::None };
        let needs = task.depends_on.as_ref().map_or(0, Dependencies::needs);
        let undecided = u32::try_from(edges.len()).unwrap_or(u32::MAX);
        let mut waiting = Waiting { needs, undecided };
        for edge in edges {
            let Some(ended) = self.ended(task, edge) else { continue };
            match waiting.decide(edge.on.holds(ended)) {
                Verdict::Waits(left) => waiting = left,
                Verdict::Released => return Wait::None,
                Verdict::Doomed => {
                    waiting.undecided = waiting.undecided.saturating_sub(1);
                    return Wait::Skip(waiting, edge.parent.uuid());
                }
            }
        }
        Wait::Parents(waiting)
    }
}
