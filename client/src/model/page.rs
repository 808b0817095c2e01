//! One page of a list, and how to ask for the next.

use serde::Deserialize;

/// Which page is wanted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PageRequest {
    /// Rows at most, 1 to 200; the server's choice when left out.
    pub limit: Option<u32>,
    /// From the page before; the first page when left out.
    pub cursor: Option<String>,
}

impl PageRequest {
    pub(crate) fn parameters(&self) -> [(&'static str, Option<String>); 2] {
        [("limit", self.limit.map(|limit| limit.to_string())), ("cursor", self.cursor.clone())]
    }
}

/// One page of a list.
#[derive(Debug, Clone, Deserialize)]
pub struct Page<T> {
    /// The rows.
    pub data: Vec<T>,
    /// Asks for the next page; `None` on the last.
    pub next_cursor: Option<String>,
}

impl<T> Page<T> {
    /// The request for the page after this one, with the same limit; `None` on the last.
    #[must_use]
    pub fn next(&self, request: &PageRequest) -> Option<PageRequest> {
        self.next_cursor
            .clone()
            .map(|cursor| PageRequest { cursor: Some(cursor), ..request.clone() })
    }
}
