//! `limit` and `cursor`, the same for every list.
//!
//! Lists are keyset pages: no counts, no offsets, so that rows inserted meanwhile neither repeat nor
//! hide others. A list reads one row more than it shows, to know whether there is a next page.

use crate::answer::json_bytes;
use crate::cursor::{Context, Sealer};
use crate::problem::{Code, Problem};
use crate::request::Query;
use api_types::{Cursor, DEFAULT_LIMIT, MAX_LIMIT, MAX_PAGE_BYTES, Page};
use domain::id::TenantId;
use serde::Serialize;
use uuid::Uuid;

/// What the client asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageRequest {
    /// Rows wanted, 1 to 200.
    pub limit: u32,
    cursor: Option<Cursor>,
}

impl PageRequest {
    /// Whether another page than the first is asked for.
    #[must_use]
    pub const fn has_cursor(&self) -> bool {
        self.cursor.is_some()
    }

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
        Ok(Self { limit, cursor: query.one("cursor")?.map(Cursor::from) })
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
        self.cursor.as_ref().map(|cursor| sealer.open(tenant, context, cursor)).transpose()
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

    /// Takes off the row that was asked for beyond the page; says whether it was there, so that another page comes after this one.
    pub fn cut<R>(&self, rows: &mut Vec<R>) -> bool {
        let more = rows.len() > self.limit as usize;
        rows.truncate(self.limit as usize);
        more
    }
}

/// What comes after the rows of a page.
#[derive(Debug, Default)]
pub struct Rest {
    /// There are rows after these.
    pub more: bool,
    /// The cursor of the last row that was read, where the page ended before it was full; used unless the page ends at a row shown.
    pub stopped_at: Option<Cursor>,
}

/// As [`page_and`], for lists that are read to their end.
///
/// # Errors
/// Those of `show`.
pub fn page<R, T: Serialize, P>(
    rows: Vec<R>,
    more: bool,
    show: impl Fn(R) -> Result<T, Problem>,
    place: impl Fn(&R) -> P,
    seal: impl Fn(P) -> Cursor,
) -> Result<Page<T>, Problem> {
    page_and(rows, Rest { more, stopped_at: None }, show, place, seal)
}

/// The page of `rows`, each as `show` makes it. It ends before [`MAX_PAGE_BYTES`]: customers decide how large a row is, and a client
/// goes on after what it got. `seal` makes the cursor that says "after this one" of a row's `place` in the list.
///
/// # Errors
/// Those of `show`.
pub fn page_and<R, T: Serialize, P>(
    rows: Vec<R>,
    rest: Rest,
    show: impl Fn(R) -> Result<T, Problem>,
    place: impl Fn(&R) -> P,
    seal: impl Fn(P) -> Cursor,
) -> Result<Page<T>, Problem> {
    let (mut data, mut bytes) = (Vec::with_capacity(rows.len()), 0);
    let (mut last, mut more) = (None, rest.more);
    for row in rows {
        let at = place(&row);
        let row = show(row)?;
        bytes += json_bytes(&row)?;
        if bytes > MAX_PAGE_BYTES && last.is_some() {
            more = true;
            break;
        }
        data.push(row);
        last = Some(at);
    }
    let next_cursor = last.filter(|_| more).map(seal).or(rest.stopped_at);
    Ok(Page { data, next_cursor })
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
    use super::page as page_of;
    use super::*;
    use serde_json::Value;

    fn asked(query: &str) -> Result<PageRequest, Problem> {
        PageRequest::take(&mut Query::parse(query).unwrap())
    }

    #[test]
    fn the_limit_is_from_1_to_200_and_50_when_left_out() {
        assert_eq!(asked("").unwrap().limit, 50);
        assert_eq!(asked("limit=1").unwrap().limit, 1);
        assert_eq!(asked("limit=200").unwrap().limit, 200);
        for bad in ["0", "201", "-1", "+5", "1e2", "", "50%00", "99999999999999999999", "five"] {
            let error = asked(&format!("limit={}", bad.replace('%', "%25"))).unwrap_err();
            assert_eq!(error.errors()[0].pointer, "query:limit", "{bad}");
        }
    }

    #[test]
    fn there_is_another_page_where_a_row_came_beyond_this_one() {
        for (rows, more, left) in [(0, false, 0), (1, false, 1), (2, false, 2), (3, true, 2)] {
            let mut rows: Vec<u32> = (1..=rows).collect();
            assert_eq!(asked("limit=2").unwrap().cut(&mut rows), more);
            assert_eq!(rows.len(), left);
        }
    }

    #[test]
    fn a_page_ends_before_it_is_too_large_and_says_where_the_next_one_begins() {
        let shown = |rows: &[usize], more: bool| -> Value {
            let show = |row: usize| Ok("x".repeat(row));
            let place = |row: &usize| *row;
            let page =
                page_of(rows.to_vec(), more, show, place, |row| row.to_string().into()).unwrap();
            let bytes = serde_json::to_vec(&page).unwrap();
            assert!(bytes.len() <= MAX_PAGE_BYTES + 100 || rows[0] > MAX_PAGE_BYTES - 100);
            serde_json::from_slice(&bytes).unwrap()
        };
        let of = |page: &Value| {
            let lengths = page["data"].as_array().unwrap().iter();
            let lengths: Vec<_> = lengths.map(|row| row.as_str().unwrap().len()).collect();
            (lengths, page["next_cursor"].as_str().map(str::to_owned))
        };
        assert_eq!(of(&shown(&[], false)), (vec![], None));
        assert_eq!(of(&shown(&[1, 2], false)), (vec![1, 2], None));
        assert_eq!(of(&shown(&[1, 2], true)), (vec![1, 2], Some("2".to_owned())));
        assert_eq!(of(&shown(&[600_001, 400_002, 100_003], false)).0, [600_001, 400_002]);
        assert_eq!(of(&shown(&[600_001, 400_002, 100_003], false)).1.unwrap(), "400002");
        let large = MAX_PAGE_BYTES + 7;
        assert_eq!(of(&shown(&[large, 1], false)), (vec![large], Some(large.to_string())));
        assert_eq!(of(&shown(&[large], false)), (vec![large], None));
    }

    #[test]
    fn a_parameter_given_twice_is_refused() {
        assert_eq!(asked("limit=1&limit=2").unwrap_err().code(), Code::InvalidParameter);
    }
}
