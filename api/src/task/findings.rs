//! Gathers what is wrong with one task, so that a client learns it all at once.

use crate::problem::{Code, FieldError, Problem};
use crate::request::json;

/// More than anybody reads; the rest is left out.
const MAX_ERRORS: usize = 32;

/// Mistakes found so far. Pointers start with where the task is in the body.
#[derive(Debug, Default)]
pub struct Findings {
    base: String,
    errors: Vec<FieldError>,
    /// Some are mistakes, not merely features to come.
    mistaken: bool,
}

impl Findings {
    /// For a task at `base` in the body: empty, or `/tasks/3`.
    #[must_use]
    pub fn new(base: String) -> Self {
        Self { base, ..Self::default() }
    }

    /// The field at `pointer` (below the task) is wrong.
    pub fn wrong(&mut self, pointer: &str, detail: impl Into<String>) {
        self.mistaken = true;
        self.push(pointer, detail.into());
    }

    /// The entry `key` of the object at `pointer` is wrong.
    pub fn wrong_entry(&mut self, pointer: &str, key: &str, detail: impl Into<String>) {
        let mut pointer = pointer.to_owned();
        json::push(&mut pointer, key);
        self.wrong(&pointer, detail);
    }

    /// A pointer from the start of the body.
    #[must_use]
    pub fn at(&self, pointer: &str) -> String {
        format!("{}{pointer}", self.base)
    }

    /// Takes the mistakes of a part that was checked by itself, with its pointers from the start of the body.
    ///
    /// # Errors
    /// The problem, where it is no mistake of a field.
    pub fn note(&mut self, problem: Problem) -> Result<(), Problem> {
        let is_of_fields = [Code::ValidationFailed, Code::NotAvailable].contains(&problem.code());
        if !is_of_fields || problem.errors().is_empty() {
            return Err(problem);
        }
        self.mistaken |= problem.code() == Code::ValidationFailed;
        let room = MAX_ERRORS.saturating_sub(self.errors.len());
        self.errors.extend(problem.errors().iter().take(room).cloned());
        Ok(())
    }

    /// The field at `pointer` asks for a feature to come.
    pub fn unavailable(&mut self, pointer: &str) {
        let name = pointer.trim_start_matches('/').replace('/', ".");
        self.push(pointer, format!("`{name}` is not available yet"));
    }

    /// Whether nothing was found.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.errors.is_empty()
    }

    /// Takes what was found elsewhere in the body, too.
    pub fn join(&mut self, other: Self) {
        self.mistaken |= other.mistaken;
        let room = MAX_ERRORS.saturating_sub(self.errors.len());
        self.errors.extend(other.errors.into_iter().take(room));
    }

    fn push(&mut self, pointer: &str, detail: String) {
        if self.errors.len() < MAX_ERRORS {
            self.errors.push(FieldError { pointer: format!("{}{pointer}", self.base), detail });
        }
    }

    /// Refuses when anything was found.
    ///
    /// # Errors
    /// `validation_failed`, or `not_available` when features to come are all there is to say.
    pub fn into_result(self) -> Result<(), Problem> {
        if self.errors.is_empty() {
            return Ok(());
        }
        let code = if self.mistaken { Code::ValidationFailed } else { Code::NotAvailable };
        Err(Problem::with_errors(code, self.errors))
    }
}
