//! What a task waits for, as a client sends it: tasks that were stored before, and others of its batch.

use super::findings::Findings;
use api_types::request::{Dependency, Given, ParentName, is_ref};
use domain::dependency::{Dependencies, Edge, Join, MAX_PARENTS};
use domain::id::TaskId;
use std::collections::{HashMap, HashSet};

/// What a task may name as its parents.
#[derive(Debug, Clone, Copy)]
pub enum Links<'a> {
    /// Nothing, for this reason.
    None(&'static str),
    /// Tasks that were stored before.
    Stored,
    /// These, and others of its batch.
    Batch(&'a Siblings),
}

/// The tasks of a batch, by their places and by what each calls itself.
#[derive(Debug, Default)]
pub struct Siblings {
    /// The id that each is stored under.
    pub ids: Vec<TaskId>,
    /// Places by `ref`.
    pub by_ref: HashMap<String, usize>,
}

/// The fields of a task that say what it has to do with others.
#[derive(Debug)]
pub(super) struct LinkFields {
    pub reference: Option<String>,
    pub depends_on: Option<Vec<Given<Dependency>>>,
    pub join: Option<Join>,
}

impl Links<'_> {
    /// The parents of a task; `None` where it has none, or where something is wrong.
    pub(super) fn read(self, f: &mut Findings, given: LinkFields) -> Option<Dependencies> {
        if let Some(name) = &given.reference {
            match self {
                Self::Batch(_) if is_ref(name) => {}
                Self::Batch(_) => f.wrong("/ref", REF),
                Self::None(_) | Self::Stored => {
                    f.wrong("/ref", "is allowed only in a batch that is one JSON document")
                }
            }
        }
        let parents = given.depends_on.unwrap_or_default();
        if parents.is_empty() {
            if given.join.is_some() {
                f.wrong("/join", "is allowed only together with `depends_on`");
            }
            return None;
        }
        if let Self::None(reason) = self {
            f.wrong("/depends_on", reason);
            return None;
        }
        if parents.len() > MAX_PARENTS {
            f.wrong("/depends_on", format!("must have {MAX_PARENTS} entries or fewer"));
            return None;
        }
        let count = u32::try_from(parents.len()).unwrap_or(u32::MAX);
        let edges = self.edges(f, parents);
        let join = given.join.unwrap_or_default();
        if let Join::AtLeast(wanted) = join
            && !(1..=count).contains(&wanted)
        {
            f.wrong(
                "/join/at_least",
                format!("must be 1 to {count}, the number of entries of `depends_on`"),
            );
        }
        Some(Dependencies { edges, join })
    }

    fn edges(self, f: &mut Findings, parents: Vec<Given<Dependency>>) -> Vec<Edge> {
        let mut seen = HashSet::new();
        let mut edges = Vec::with_capacity(parents.len());
        for (place, given) in parents.into_iter().enumerate() {
            let pointer = format!("/depends_on/{place}");
            let found = given.read().map_err(|wrong| wrong.to_string());
            let found = found
                .and_then(|parent| Ok(Edge { parent: self.find(parent.task)?, on: parent.on }));
            match found {
                Ok(edge) if seen.insert(edge.parent) => edges.push(edge),
                Ok(_) => f.wrong(&pointer, "is given twice"),
                Err(detail) => f.wrong(&pointer, detail),
            }
        }
        edges
    }

    fn find(self, name: ParentName) -> Result<TaskId, String> {
        let siblings = match (self, &name) {
            (_, ParentName::Task(id)) => return Ok(*id),
            (Self::Batch(siblings), _) => siblings,
            (Self::None(_) | Self::Stored, _) => {
                return Err("must be the id of a task: there is no batch".to_owned());
            }
        };
        let place = match name {
            ParentName::Ref(name) => siblings.by_ref.get(&name).copied(),
            ParentName::Position(place) => Some(place),
            ParentName::Task(_) => None,
        };
        place
            .and_then(|place| siblings.ids.get(place).copied())
            .ok_or_else(|| "is not a task of this batch".to_owned())
    }
}

const REF: &str = "must be 1 to 100 of a-z A-Z 0-9 _ . - and must not begin with `task_`";

/// Detail for a parent that this tenant does not have. It does not reveal whether another tenant has it.
pub const UNKNOWN_PARENT: &str =
    "is not a task of yours: the id is wrong, or the task has been removed from history";
