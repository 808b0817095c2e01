//! `limit` and `cursor`, the same for every list.
//!
//! Lists are keyset pages: no counts, no offsets, so that rows inserted meanwhile neither repeat nor
//! hide others. A list reads one row more than it shows, to know whether there is a next page.

use crate::answer::{append_json, raw_json};
use crate::cursor::{Context, Sealer};
use crate::problem::{Code, Problem};
use crate::request::Query;
use actix_web::HttpResponse;
use actix_web::http::StatusCode;
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

/// Bytes of a page's rows at most, unless the first alone has more.
pub const MAX_BYTES: usize = 1024 * 1024;

/// One page as it is sent.
#[derive(Debug, Serialize)]
pub struct Sheet<T> {
    /// The rows.
    pub data: Vec<T>,
    /// Asks for the next page; null on the last.
    pub next_cursor: Option<String>,
}

impl Page {
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
    pub stopped_at: Option<String>,
}

/// As [`answer_page_and`], for lists that are read to their end.
///
/// # Errors
/// Those of `view`.
pub fn answer_page<R>(
    rows: &[R],
    more: bool,
    view: impl Fn(&R, &mut Vec<u8>) -> Result<(), Problem>,
    seal: impl Fn(&R) -> String,
) -> Result<HttpResponse, Problem> {
    answer_page_and(rows, Rest { more, stopped_at: None }, view, seal)
}

/// Answers with the page of `rows`, each as `view` writes it. It ends before [`MAX_BYTES`]: customers decide how large a row is, and a
/// client goes on after what it got. `seal` makes the cursor that says "after this one".
///
/// # Errors
/// Those of `view`.
pub fn answer_page_and<R>(
    rows: &[R],
    rest: Rest,
    view: impl Fn(&R, &mut Vec<u8>) -> Result<(), Problem>,
    seal: impl Fn(&R) -> String,
) -> Result<HttpResponse, Problem> {
    let mut body = Vec::with_capacity(1024);
    body.extend_from_slice(b"{\"data\":[");
    let mut shown = 0_usize;
    for row in rows {
        let before = body.len();
        if shown > 0 {
            body.push(b',');
        }
        view(row, &mut body)?;
        if body.len() > MAX_BYTES && shown > 0 {
            body.truncate(before);
            break;
        }
        shown += 1;
    }
    let last = rows.get(shown.wrapping_sub(1)).filter(|_| rest.more || shown < rows.len());
    body.extend_from_slice(b"],\"next_cursor\":");
    append_json(&mut body, &last.map(seal).or(rest.stopped_at))?;
    body.push(b'}');
    Ok(raw_json(StatusCode::OK, body))
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
    use actix_web::body::MessageBody;
    use serde_json::Value;

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
        for (rows, more, left) in [(0, false, 0), (1, false, 1), (2, false, 2), (3, true, 2)] {
            let mut rows: Vec<u32> = (1..=rows).collect();
            assert_eq!(page("limit=2").unwrap().cut(&mut rows), more);
            assert_eq!(rows.len(), left);
        }
    }

    #[test]
    fn a_page_ends_before_it_is_too_large_and_says_where_the_next_one_begins() {
        let shown = |rows: &[usize], more: bool| -> Value {
            let view = |row: &usize, out: &mut Vec<u8>| append_json(out, &"x".repeat(*row));
            let answer = answer_page(rows, more, view, ToString::to_string).unwrap();
            let bytes = answer.into_body().try_into_bytes().unwrap();
            assert!(bytes.len() <= MAX_BYTES + 100 || rows[0] > MAX_BYTES - 100);
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
        let large = MAX_BYTES + 7;
        assert_eq!(of(&shown(&[large, 1], false)), (vec![large], Some(large.to_string())));
        assert_eq!(of(&shown(&[large], false)), (vec![large], None));
    }

    #[test]
    fn a_parameter_given_twice_is_refused() {
        assert_eq!(page("limit=1&limit=2").unwrap_err().code(), Code::InvalidParameter);
    }
}
