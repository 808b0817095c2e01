//! An object as a file has it, and what is wrong with one.

use super::super::workflow::{Located, Ordered, Position};
use super::kind::Kind;
use crate::output::cell;
use serde::Serialize;
use std::fmt;
use std::sync::Arc;

/// An object of a file.
#[derive(Debug, Clone)]
pub(super) struct Object {
    pub kind: Kind,
    pub name: String,
    /// What `PUT` takes.
    pub body: Ordered,
    pub source: Source,
}

/// Where an object is.
#[derive(Debug, Clone)]
pub(super) struct Source {
    pub file: Arc<str>,
    /// Place of its document in the file, from 1.
    pub document: usize,
    pub located: Arc<Located>,
}

/// What is wrong, and where.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Mistake {
    pub file: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub document: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<u64>,
    /// JSON pointer into the object.
    pub pointer: String,
    pub detail: String,
}

impl Source {
    /// A mistake at `pointer` of the object.
    pub fn mistake(&self, pointer: &str, detail: impl Into<String>) -> Mistake {
        let at = self.located.position(pointer);
        Mistake { document: Some(self.document), ..Mistake::new(&self.file, at, pointer, detail) }
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.located.position("") {
            Some((line, _)) => write!(f, "{}:{line}", self.file),
            None => write!(f, "{}, document {}", self.file, self.document),
        }
    }
}

impl Mistake {
    /// A mistake in a file.
    pub fn new(file: &str, at: Option<Position>, pointer: &str, detail: impl Into<String>) -> Self {
        Self {
            file: file.to_owned(),
            document: None,
            line: at.map(|(line, _)| line),
            column: at.map(|(_, column)| column),
            pointer: pointer.to_owned(),
            detail: detail.into(),
        }
    }
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&cell::plain(&self.file))?;
        if let (Some(line), Some(column)) = (self.line, self.column) {
            write!(f, ":{line}:{column}")?;
        }
        if let Some(document) = self.document {
            write!(f, ": document {document}")?;
        }
        if !self.pointer.is_empty() {
            write!(f, ": {}", cell::plain(&self.pointer))?;
        }
        write!(f, ": {}", cell::plain(&self.detail))
    }
}
