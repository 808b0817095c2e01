//! What a verb says of itself.

use super::form::Form;
use crate::problem::Code;
use api_types::{DEFAULT_LIMIT, MAX_LIMIT};

/// One operation, as far as the table of routes does not say it already.
#[derive(Debug, Clone, Copy)]
pub struct Doc {
    /// One line.
    pub summary: &'static str,
    /// More, where it is needed.
    pub description: &'static str,
    /// Query parameters; all are optional.
    pub query: &'static [Param],
    /// Headers of its own; all are optional.
    pub headers: &'static [Param],
    /// Name of the body's schema.
    pub request: Option<&'static str>,
    /// Name of a line's schema, where the body may be lines.
    pub request_lines: Option<&'static str>,
    /// Good answers.
    pub answers: &'static [AnswerDoc],
    /// Headers of each good answer, besides those that follow from the route.
    pub answer_headers: &'static [AnswerHeader],
    /// Problems that other routes do not have.
    pub problems: &'static [Code],
}

impl Doc {
    /// Nothing said yet.
    pub const EMPTY: Self = Self {
        summary: "",
        description: "",
        query: &[],
        headers: &[],
        request: None,
        request_lines: None,
        answers: &[],
        answer_headers: &[],
        problems: &[],
    };
    /// For routes without a tenant.
    pub const PROBE: Self = Self::EMPTY;
}

/// A query parameter or header.
#[derive(Debug, Clone, Copy)]
pub struct Param {
    /// Its name.
    pub name: &'static str,
    /// What it does.
    pub text: &'static str,
    /// What its text may be.
    pub form: Form,
}

/// The parameters of every list.
pub const PAGE: [Param; 2] = [
    Param {
        name: "limit",
        text: "Rows per page, 1 to 200; default 50. A page ends after 1 MiB",
        form: Form::Whole { least: 1, most: MAX_LIMIT, usual: Some(DEFAULT_LIMIT) },
    },
    Param {
        name: "cursor",
        text: "The `next_cursor` of the previous page, with the same filters",
        form: Form::Text,
    },
];

/// The header that names a version.
pub const IF_MATCH: Param = Param {
    name: "If-Match",
    text: "Only if the object has this version, in quotes: `\"3\"`; see `ETag`",
    form: Form::Pattern("^\"[1-9][0-9]*\"$"),
};

/// The header that asks that there is none yet.
pub const IF_NONE_MATCH: Param = Param {
    name: "If-None-Match",
    text: "`*`: only if the name is new",
    form: Form::Pattern("^[*]$"),
};

/// Of a list with filters.
pub const SOME_PAGES_ARE_SHORT: &str = "A page scans at most 10 000 tasks. It may be short or empty and still have a `next_cursor`: \
                                        continue until it is null.";

/// A header of a good answer that not every route has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AnswerHeader {
    /// The version of what is shown.
    ETag,
    /// Where it is, or what was asked for.
    Location,
    /// Where to go on.
    NextCursor,
}

/// A good answer.
#[derive(Debug, Clone, Copy)]
pub struct AnswerDoc {
    /// HTTP status.
    pub status: u16,
    /// When it is given.
    pub text: &'static str,
    /// What is in it.
    pub content: Content,
}

/// The body of an answer; the texts are names of schemas.
#[derive(Debug, Clone, Copy)]
pub enum Content {
    /// One thing.
    Json(&'static str),
    /// One thing; or lines, each one of two.
    JsonOrLines(&'static str, [&'static str; 2]),
    /// `{"data": [...], "next_cursor": ...}`.
    Page(&'static str),
    /// The same, or raw bytes or events when asked for; events are these and the second.
    Output(&'static str, &'static str),
    /// One thing; or the same as CSV or PDF.
    Document(&'static str),
    /// Lines, each any JSON object.
    AnyLines,
    /// Any JSON object.
    AnyJson,
    /// Any JSON value.
    AnyValue,
    /// Plain text.
    Text,
    /// A web page.
    Html,
    /// A file of a web page: a style sheet or a script.
    AnyFile,
    /// None.
    Nothing,
}
