//! Pages of lists.

use crate::Cursor;
use serde::{Deserialize, Serialize};

/// Rows of a page when no `limit` is given.
pub const DEFAULT_LIMIT: u32 = 50;
/// Most rows of a page.
pub const MAX_LIMIT: u32 = 200;
/// Most bytes of a page's rows, unless the first row alone has more.
pub const MAX_PAGE_BYTES: usize = 1024 * 1024;

/// Request of a page.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PageRequest {
    /// Rows, 1 to [`MAX_LIMIT`]. Default: [`DEFAULT_LIMIT`].
    pub limit: Option<u32>,
    /// Cursor of the previous page. Default: the first page.
    pub cursor: Option<Cursor>,
}

impl PageRequest {
    /// Its query parameters.
    #[must_use]
    pub fn parameters(&self) -> [(&'static str, Option<String>); 2] {
        [
            ("limit", self.limit.map(|limit| limit.to_string())),
            ("cursor", self.cursor.as_ref().map(ToString::to_string)),
        ]
    }
}

/// One page of a list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Page<T> {
    /// The rows.
    pub data: Vec<T>,
    /// Cursor of the next page; `None` on the last.
    pub next_cursor: Option<Cursor>,
}

impl<T> Page<T> {
    /// A page after which there is none.
    #[must_use]
    pub const fn last(data: Vec<T>) -> Self {
        Self { data, next_cursor: None }
    }

    /// The request for the page after this one, with the same limit; `None` on the last.
    #[must_use]
    pub fn next(&self, request: &PageRequest) -> Option<PageRequest> {
        self.next_cursor
            .clone()
            .map(|cursor| PageRequest { cursor: Some(cursor), ..request.clone() })
    }
}
