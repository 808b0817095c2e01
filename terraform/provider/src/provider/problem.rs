//! Why something cannot be done, in words for whoever applies.

use crate::plugin::messages::{AttributePath, Diagnostic};
use crate::schema::{Attribute, path_of};
use crate::value::Path;
use api_types::ErrorCode;
use client::{ApiError, ClientError};
use std::error::Error;

const ERROR: i32 = 1;
const WARNING: i32 = 2;

/// Why.
#[derive(Debug)]
pub enum Problem {
    /// The API refused it, or did not answer.
    Api(ClientError),
    /// The provider's settings are known only after the apply.
    NotYet,
    /// Something else: a summary, and what to do.
    Said {
        /// The attribute that it is about.
        path: Option<Path>,
        /// One line.
        summary: String,
        /// More lines.
        detail: String,
    },
}

impl From<ClientError> for Problem {
    fn from(error: ClientError) -> Self {
        Self::Api(error)
    }
}

impl Problem {
    /// A problem of an attribute.
    pub fn at(name: &str, summary: impl Into<String>, detail: impl Into<String>) -> Self {
        Self::Said { path: Some(Path::of(name)), summary: summary.into(), detail: detail.into() }
    }

    /// The API's refusal, if it is one.
    #[must_use]
    pub fn refusal(&self) -> Option<&ApiError> {
        match self {
            Self::Api(error) => error.api(),
            Self::NotYet | Self::Said { .. } => None,
        }
    }

    /// Whether the API refused it with this code. A page of a proxy has none.
    #[must_use]
    pub fn is(&self, code: ErrorCode) -> bool {
        self.refusal().is_some_and(|error| error.is(code))
    }

    /// As diagnostics: one per mistake. `verb` and `name` are what was tried; pointers lead into `attributes`, or into `body`.
    #[must_use]
    pub fn diagnostics(
        &self,
        (verb, name): (&str, &str),
        attributes: &[Attribute],
        body: Option<&str>,
    ) -> Vec<Diagnostic> {
        let summary = format!("Cannot {verb} {name}");
        match self {
            Self::NotYet => vec![error(
                summary,
                "The provider's settings are known only after the apply. Apply what they depend on first, with -target.".to_owned(),
                None,
            )],
            Self::Said { path, summary, detail } => {
                vec![error(summary.clone(), detail.clone(), path.as_ref())]
            }
            Self::Api(problem) => match problem.api() {
                None => vec![error(summary, unreachable(problem), None)],
                Some(refusal) if refusal.errors.is_empty() => {
                    vec![error(summary, refused(refusal), None)]
                }
                Some(refusal) => refusal
                    .errors
                    .iter()
                    .map(|mistake| {
                        let mut path = path_of(attributes, &mistake.pointer);
                        if let (true, Some(body)) = (path.0.is_empty(), body) {
                            path = Path::of(body);
                        }
                        let detail = format!("{}: {}", mistake.pointer, mistake.detail);
                        error(summary.clone(), detail, Some(&path))
                    })
                    .collect(),
            },
        }
    }
}

/// No answer is no statement about the object.
fn unreachable(error: &ClientError) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text = format!("{text}: {cause}");
        source = cause.source();
    }
    format!("{text}.\n\nNothing is known about the object, and its state is kept.")
}

fn refused(error: &ApiError) -> String {
    let mut text = error.to_string();
    if error.is(ErrorCode::VersionMismatch) {
        text.push_str(
            "\n\nIt was changed since it was read for this plan, or exists already. Plan again: the plan starts from what it is now. \
             What exists and is not in the state is imported first.",
        );
    }
    if matches!(error.status, 401 | 403) {
        text.push_str(
            "\n\nThe state is kept: a key that is refused says nothing about the object.",
        );
    }
    if let Some(id) = &error.request_id {
        text = format!("{text}\n\nFor the operator's log: {id}.");
    }
    text
}

/// A diagnostic that fails the call.
#[must_use]
pub fn error(summary: String, detail: String, path: Option<&Path>) -> Diagnostic {
    let attribute = path.filter(|path| !path.0.is_empty()).map(AttributePath::from);
    Diagnostic { severity: ERROR, summary, detail, attribute }
}

/// A diagnostic that does not.
#[must_use]
pub fn warning(summary: String, detail: String) -> Diagnostic {
    Diagnostic { severity: WARNING, summary, detail, attribute: None }
}
