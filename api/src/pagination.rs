//! `limit` and `cursor`, the same for every list.
//!
//! Lists are keyset pages: no counts, no offsets, so that rows inserted meanwhile neither repeat nor
//! hide others. A list reads one row more than it shows, to know whether there is a next page.

use crate::cursor::{Context, Sealer};
use crate::problem::{Code, Problem};
use crate::request::Query;
use domain::id::TenantId;
use serde::Serialize;
use uuid::Uuid;

/// Rows when nothing is said.
pub const DEFAULT_LIMIT: u32 = 50;
/// Most rows of one page.
pub const MAX_LIMIT: u32 = 200;

/// What the client asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// Rows wanted, 1 to 200.
    pub limit: u32,
    cursor: Option<String>,
}

/// One page as it is sent.
#[derive(Debug, Serialize)]
pub struct Sheet<T> {
    /// The rows.
    pub data: Vec<T>,
    /// Asks for the next page; null on the last.
    pub next_cursor: Option<String>,
}

impl Page {
    /// Takes `limit` and `cursor` out of a query.
    ///
    /// # Errors
    /// `invalid_parameter` when the limit is not 1 to 200.
    pub fn take(query: &mut Query) -> Result<Self, Problem> {
        let limit = match query.one("limit")? {
            None => DEFAULT_LIMIT,
            Some(text) => text
                .parse()
                .ok()
                .filter(|limit| {
                    (1..=MAX_LIMIT).contains(limit) && text.bytes().all(|b| b.is_ascii_digit())
                })
                .ok_or_else(|| {
                    let detail = format!("must be a whole number from 1 to {MAX_LIMIT}");
                    Problem::at(Code::InvalidParameter, "query:limit", detail)
                })?,
        };
        Ok(Self { limit, cursor: query.one("cursor")? })
    }

    /// The position to go on after; `None` on the first page.
    ///
    /// # Errors
    /// `invalid_cursor` when the cursor is not one of this tenant's for this context.
    pub fn position(
        &self,
        sealer: &Sealer,
        tenant: TenantId,
        context: Context,
    ) -> Result<Option<Vec<u8>>, Problem> {
        self.cursor.as_deref().map(|text| sealer.open(tenant, context, text)).transpose()
    }

    /// The same where rows are in the order of their ids.
    ///
    /// # Errors
    /// As [`Self::position`].
    pub fn after_id(
        &self,
        sealer: &Sealer,
        tenant: TenantId,
        context: Context,
    ) -> Result<Option<Uuid>, Problem> {
        let position = self.position(sealer, tenant, context)?;
        position.map(|bytes| Uuid::from_slice(&bytes).map_err(|_| outdated_cursor())).transpose()
    }

    /// Takes off the row that was asked for beyond the page; the last one of the page, where another page comes after it.
    pub fn cut<'a, R>(&self, rows: &'a mut Vec<R>) -> Option<&'a R> {
        let more = rows.len() > self.limit as usize;
        rows.truncate(self.limit as usize);
        rows.last().filter(|_| more)
    }
}

/// Refuses a position that this version did not write, though its signature is good.
#[must_use]
pub fn outdated_cursor() -> Problem {
    Problem::at(
        Code::InvalidCursor,
        "query:cursor",
        "is of another version; start again without it",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(query: &str) -> Result<Page, Problem> {
        Page::take(&mut Query::parse(query).unwrap())
    }

    #[test]
    fn the_limit_is_from_1_to_200_and_50_when_left_out() {
        assert_eq!(page("").unwrap().limit, 50);
        assert_eq!(page("limit=1").unwrap().limit, 1);
        assert_eq!(page("limit=200").unwrap().limit, 200);
        for bad in ["0", "201", "-1", "+5", "1e2", "", "50%00", "99999999999999999999", "five"] {
            let error = page(&format!("limit={}", bad.replace('%', "%25"))).unwrap_err();
            assert_eq!(error.errors()[0].pointer, "query:limit", "{bad}");
        }
    }

    #[test]
    fn there_is_another_page_where_a_row_came_beyond_this_one() {
        for (rows, last, left) in [(0, None, 0), (1, None, 1), (2, None, 2), (3, Some(2), 2)] {
            let mut rows: Vec<u32> = (1..=rows).collect();
            assert_eq!(page("limit=2").unwrap().cut(&mut rows).copied(), last);
            assert_eq!(rows.len(), left);
        }
    }

    #[test]
    fn a_parameter_given_twice_is_refused() {
        assert_eq!(page("limit=1&limit=2").unwrap_err().code(), Code::InvalidParameter);
    }
}
