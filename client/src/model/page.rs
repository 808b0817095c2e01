//! Pages of lists.

use serde::Deserialize;

/// Request of a page.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PageRequest {
    /// Rows, 1 to 200. Default: the server's.
    pub limit: Option<u32>,
    /// Cursor of the previous page. Default: the first page.
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
    /// Cursor of the next page; `None` on the last.
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
