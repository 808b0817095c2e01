//! A list as a table: the form of all pages that show one kind of thing.

use crate::fault::Fault;
use crate::form::with_query;
use crate::frame::{Frame, page};
use crate::visit::Visit;
use crate::words::{Ago, Mark, Moment};
use actix_web::HttpResponse;
use askama::Template;

/// What stands in one place of the table.
#[derive(Debug, Clone)]
pub(crate) enum Cell {
    Text(String),
    /// A small line below the text.
    Two(String, String),
    /// Where it leads, and its text.
    Link(String, String),
    /// The same, several.
    Links(Vec<(String, &'static str)>),
    Code(String),
    Mark(Mark),
    Number(String),
    Ago(Ago),
    At(Moment),
    Nothing,
}

impl Cell {
    const fn is_number(&self) -> bool {
        matches!(self, Self::Number(_))
    }
}

/// A head of a column: what it is called, and whether a narrow screen leaves it out.
pub(crate) type Column = (&'static str, bool);

/// A tab beside the page: its path, its name, whether it is this one.
pub(crate) type Tab = (String, &'static str, bool);

/// A field of the form above a list.
#[derive(Debug, Clone)]
pub(crate) struct Filter {
    pub name: &'static str,
    pub label: &'static str,
    /// The type of its `input`, or `select`.
    pub kind: &'static str,
    /// Of a `select`, besides any.
    pub options: &'static [&'static str],
    pub value: String,
}

/// The page.
#[derive(Template)]
#[template(path = "listing.html")]
pub(crate) struct Listing {
    pub frame: Frame,
    pub sub: String,
    pub tabs: Vec<Tab>,
    /// Links beside the title: path, label.
    pub acts: Vec<(String, &'static str)>,
    /// Fields of the URL, as a form above the list.
    pub filters: Vec<Filter>,
    pub columns: Vec<Column>,
    pub rows: Vec<Vec<Cell>>,
    /// The words where there is none: what, and what to do.
    pub empty: (&'static str, &'static str),
    pub first: Option<String>,
    pub next: Option<String>,
}

impl Listing {
    /// A list with these columns, without anything else.
    pub(crate) fn new(
        frame: Frame,
        columns: &[Column],
        empty: (&'static str, &'static str),
    ) -> Self {
        let (sub, tabs, acts, filters) = (String::new(), Vec::new(), Vec::new(), Vec::new());
        let (columns, rows) = (columns.to_vec(), Vec::new());
        Self { frame, sub, tabs, acts, filters, columns, rows, empty, first: None, next: None }
    }

    /// Its links to other pages of the list, which keep the filters named.
    pub(crate) fn paged(mut self, visit: &Visit, names: &[&str], next: Option<String>) -> Self {
        let to = |cursor: &str| {
            with_query(visit.http.path(), &visit.query.query(names, &[("cursor", cursor)]))
        };
        self.first = visit.query.get("cursor").map(|_| to(""));
        self.next = next.map(|cursor| to(&cursor));
        self
    }

    /// Shows it.
    pub(crate) fn show(&self) -> Result<HttpResponse, Fault> {
        page(self)
    }

    /// Whether a narrow screen leaves this column out.
    fn is_wide(&self, place: &usize) -> bool {
        self.columns.get(*place).is_some_and(|(_, wide)| *wide)
    }
}

/// The query of a list's page at the API.
pub(crate) fn asked(visit: &Visit, path: &str, names: &[&str]) -> String {
    let cursor = visit.query.get("cursor").unwrap_or_default();
    with_query(path, &visit.query.query(names, &[("cursor", cursor), ("limit", "50")]))
}
