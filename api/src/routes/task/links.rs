//! Batches in which tasks depend on others: judged as a whole, and refused as a whole.
//!
//! A task that is left out would leave others waiting for it, so one mistake refuses all. Ids are made in the order of the graph: a parent's
//! is smaller than those of its children, which is the order in which all statements lock rows.

use super::batch::{Piece, Sender};
use super::judged::Judged;
use crate::limit::Shortage;
use crate::problem::{Code, FieldError, Problem};
use crate::task::{Links, Rules, Siblings, UNKNOWN_PARENT};
use api_types::request::{self as body, ParentName};
use domain::dependency::{Circle, topological_order};
use domain::id::TaskId;
use std::collections::HashMap;

/// Edges of one batch, at most.
const MAX_EDGES: usize = 100_000;
/// Mistakes that are named in one answer.
const MAX_ERRORS: usize = 32;
/// Places of a circle that are named.
const MAX_CIRCLE: usize = 20;

/// Whether a batch may have tasks that depend on others.
pub(super) fn may_be_linked(body: &[u8]) -> bool {
    memchr::memmem::find(body, b"\"depends_on\"").is_some()
}

impl Sender {
    /// Admits and judges all of `pieces`, or none.
    ///
    /// # Errors
    /// All mistakes; what the database said of the pools.
    pub(super) async fn judge_linked(
        &self,
        pieces: Vec<Piece>,
    ) -> Result<(Judged, Option<Shortage>), Problem> {
        let wanted = pieces.len() as u64;
        let admission = self.admit_all(wanted).await;
        if admission.is_some() {
            return Ok((Judged::default(), admission));
        }
        let judged = self.judge_all(pieces).await;
        if judged.is_err() {
            self.give_back(wanted);
        }
        Ok((judged?, None))
    }

    pub(super) async fn judge_all(&self, pieces: Vec<Piece>) -> Result<Judged, Problem> {
        let (pools, now) = (self.state.pools.current().await?, runtime::clock::wall());
        self.apart(move |sender| {
            let (limits, caller) = (&sender.state.limits, &sender.caller);
            let (user, plan) = (caller.pool_user(), caller.limits());
            let links = Links::Stored;
            let rules = Rules { limits, pools: &pools, user, now, plan, links };
            Batch::read(sender, pieces)?.judge(sender, rules)
        })
        .await
    }
}

/// The tasks of a batch as they were sent.
struct Batch {
    bases: Vec<String>,
    specs: Vec<body::NewTask>,
    errors: Vec<FieldError>,
}

impl Batch {
    fn read(sender: &Sender, pieces: Vec<Piece>) -> Result<Self, Problem> {
        let most = sender.task_size();
        let mut batch = Self { bases: Vec::new(), specs: Vec::new(), errors: Vec::new() };
        for piece in pieces {
            let spec = match piece.read(most) {
                Ok(spec) => spec,
                Err(problem) => {
                    batch.note(problem)?;
                    body::NewTask::default()
                }
            };
            batch.bases.push(piece.base);
            batch.specs.push(spec);
        }
        Ok(batch)
    }

    /// Notes the mistakes of a task; what is no mistake of a field ends it all.
    fn note(&mut self, problem: Problem) -> Result<(), Problem> {
        if problem.code() != Code::ValidationFailed || problem.errors().is_empty() {
            return Err(problem);
        }
        self.errors.extend(problem.errors().iter().cloned());
        Ok(())
    }

    fn wrong(&mut self, place: usize, pointer: &str, detail: impl Into<String>) {
        let pointer = format!("{}{pointer}", self.bases[place]);
        self.errors.push(FieldError { pointer, detail: detail.into() });
    }

    fn judge(mut self, sender: &Sender, rules: Rules<'_>) -> Result<Judged, Problem> {
        let is_read = self.errors.is_empty();
        let by_ref = self.refs();
        self.unique_keys();
        let siblings = Siblings { ids: self.ids(&by_ref), by_ref };
        let rules = Rules { links: Links::Batch(&siblings), ..rules };
        let mut judged = Judged { is_linked: true, ..Judged::default() };
        // Of tasks that could not be read the places are known, and no more.
        let specs = if is_read { std::mem::take(&mut self.specs) } else { Vec::new() };
        for (place, spec) in specs.into_iter().enumerate() {
            let base = self.bases[place].clone();
            match sender.check(&rules, spec, base) {
                Ok((mut task, warnings)) => {
                    task.id = siblings.ids[place];
                    judged.places.push((place, Ok(judged.tasks.len())));
                    judged.tasks.push(task);
                    judged.warnings.push(warnings);
                }
                Err(problem) => self.note(problem)?,
            }
        }
        if self.errors.is_empty() {
            return Ok(judged);
        }
        self.errors.truncate(MAX_ERRORS);
        Err(Problem::with_errors(Code::ValidationFailed, self.errors))
    }

    /// The places of the tasks that have a `ref`.
    fn refs(&mut self) -> HashMap<String, usize> {
        let mut by_ref: HashMap<String, usize> = HashMap::new();
        for place in 0..self.specs.len() {
            let Some(name) = self.specs[place].reference.clone() else { continue };
            if let Some(first) = by_ref.get(&name) {
                let detail = format!("is the `ref` of {}, too", self.bases[*first]);
                self.wrong(place, "/ref", detail);
            } else {
                by_ref.insert(name, place);
            }
        }
        by_ref
    }

    /// Two tasks with one key would be one task, which might then depend on itself.
    fn unique_keys(&mut self) {
        let mut seen: HashMap<String, usize> = HashMap::new();
        for place in 0..self.specs.len() {
            let Some(key) = self.specs[place].unique_key.clone() else { continue };
            if let Some(first) = seen.get(&key) {
                let detail = format!(
                    "is the `unique_key` of {}, too: in a batch with `depends_on` each can be given once",
                    self.bases[*first]
                );
                self.wrong(place, "/unique_key", detail);
            } else {
                seen.insert(key, place);
            }
        }
    }

    /// An id for each task, in the order of the graph. Circles and too many edges are noted.
    fn ids(&mut self, by_ref: &HashMap<String, usize>) -> Vec<TaskId> {
        let mut edges = Vec::new();
        let mut named = 0;
        for (child, spec) in self.specs.iter().enumerate() {
            for given in spec.depends_on.iter().flatten() {
                named += 1;
                let parent = match given.clone().read().map(|parent| parent.task) {
                    Ok(ParentName::Ref(name)) => by_ref.get(&name).copied(),
                    Ok(ParentName::Position(place)) => Some(place),
                    Ok(ParentName::Task(_)) | Err(_) => None,
                };
                edges.extend(
                    parent.filter(|place| *place < self.specs.len()).map(|parent| (parent, child)),
                );
            }
        }
        if named > MAX_EDGES {
            let detail = format!("must have {MAX_EDGES} entries of `depends_on` or fewer in all");
            self.errors.push(FieldError { pointer: "/tasks".to_owned(), detail });
        }
        let natural = |count: usize| (0..count).collect::<Vec<_>>();
        let order = topological_order(self.specs.len(), &edges).unwrap_or_else(|Circle(circle)| {
            self.circle(&circle);
            natural(self.specs.len())
        });
        let mut ids = vec![TaskId(uuid::Uuid::nil()); order.len()];
        for place in order {
            ids[place] = TaskId::fresh();
        }
        ids
    }

    fn circle(&mut self, circle: &[usize]) {
        let Some(first) = circle.first().copied() else { return };
        let mut names: Vec<&str> =
            circle.iter().take(MAX_CIRCLE).map(|place| self.bases[*place].as_str()).collect();
        if circle.len() > MAX_CIRCLE {
            names.push("…");
        }
        names.push(&self.bases[first]);
        let detail = format!("waits for itself: {}", names.join(" waits for "));
        self.wrong(first, "/depends_on", detail);
    }
}

impl Judged {
    /// The refusal of a batch that names parents which its tenant does not have: of each task, which.
    pub(super) fn unknown_parents(&self, unknown: &[Vec<TaskId>]) -> Problem {
        let mut errors = Vec::new();
        for (index, place) in &self.places {
            let Ok(place) = place else { continue };
            let (Some(task), Some(unknown)) = (self.tasks.get(*place), unknown.get(*place)) else {
                continue;
            };
            let edges = task.depends_on.iter().flat_map(|all| &all.edges).enumerate();
            errors.extend(edges.filter(|(_, edge)| unknown.contains(&edge.parent)).map(
                |(nth, _)| FieldError {
                    pointer: format!("/tasks/{index}/depends_on/{nth}"),
                    detail: UNKNOWN_PARENT.to_owned(),
                },
            ));
        }
        errors.truncate(MAX_ERRORS);
        Problem::with_errors(Code::ValidationFailed, errors)
    }
}
