//! The query string. Parameters are taken out by name; what is left at the end is refused.
//!
//! So a misspelt filter is an error and never silently the list without that filter.

use crate::problem::{Code, FieldError, Problem};
use domain::time::Timestamp;
use url::form_urlencoded;

/// More parameters than any route has.
const MAX_PARAMETERS: usize = 64;

/// Decoded parameters, in the order given.
#[derive(Debug, Clone, Default)]
pub struct Query(Vec<(String, String)>);

impl Query {
    /// Decodes a query string (without `?`).
    ///
    /// # Errors
    /// `invalid_parameter` when there are too many, or one holds a NUL, which no text here may.
    pub fn parse(raw: &str) -> Result<Self, Problem> {
        let mut pairs = Vec::new();
        for (name, value) in form_urlencoded::parse(raw.as_bytes()) {
            if pairs.len() == MAX_PARAMETERS {
                return Err(Problem::new(
                    Code::InvalidParameter,
                    "There are too many query parameters.",
                ));
            }
            if name.contains('\0') || value.contains('\0') {
                let name: String = name.chars().filter(|c| *c != '\0').take(64).collect();
                return Err(wrong(&name, "must not contain a NUL character"));
            }
            pairs.push((name.into_owned(), value.into_owned()));
        }
        Ok(Self(pairs))
    }

    /// Takes a parameter that may be given once.
    ///
    /// # Errors
    /// `invalid_parameter` when it is given more often.
    pub fn one(&mut self, name: &str) -> Result<Option<String>, Problem> {
        let mut all = self.all(name);
        if all.len() > 1 {
            return Err(wrong(name, "must be given once"));
        }
        Ok(all.pop())
    }

    /// Takes a parameter that may be given several times.
    pub fn all(&mut self, name: &str) -> Vec<String> {
        self.0.extract_if(.., |(n, _)| n == name).map(|(_, value)| value).collect()
    }

    /// Takes a parameter that must be one of a type's texts; `form` says which, as in "must be …".
    ///
    /// # Errors
    /// `invalid_parameter` when it is not, or is given twice.
    pub fn parsed<T: std::str::FromStr>(
        &mut self,
        name: &str,
        form: &str,
    ) -> Result<Option<T>, Problem> {
        self.one(name)?
            .map(|text| text.parse().map_err(|_| wrong(name, &format!("must be {form}"))))
            .transpose()
    }

    /// Refuses what nobody took.
    ///
    /// # Errors
    /// `invalid_parameter`, naming each.
    pub fn finish(self) -> Result<(), Problem> {
        if self.0.is_empty() {
            return Ok(());
        }
        let unknown = |(name, _): (String, String)| FieldError {
            pointer: pointer(&name),
            detail: "is not a parameter of this route".to_owned(),
        };
        Err(Problem::with_errors(Code::InvalidParameter, self.0.into_iter().map(unknown).collect()))
    }
}

/// A parameter that is not usable.
pub(crate) fn wrong(name: &str, detail: &str) -> Problem {
    Problem::at(Code::InvalidParameter, pointer(name), detail)
}

/// Takes a time.
///
/// # Errors
/// `invalid_parameter` when it is none, or is given twice.
pub(crate) fn time(query: &mut Query, name: &str) -> Result<Option<Timestamp>, Problem> {
    const FORM: &str = "must be a time such as 2030-01-31T12:00:00Z (RFC 3339) from 1970 to 2199";
    let text = query.one(name)?;
    text.map(|text| text_time(&text).ok_or_else(|| wrong(name, FORM))).transpose()
}

/// A time, if it is one. An unescaped `+` of a zone offset arrives as a blank.
pub(crate) fn text_time(text: &str) -> Option<Timestamp> {
    let at = chrono::DateTime::parse_from_rfc3339(&text.replace(' ', "+")).ok()?.to_utc();
    let (first, end) = (0, 7_258_118_400); // 1970-01-01 and 2200-01-01
    (first..end).contains(&at.timestamp()).then_some(at)
}

fn pointer(name: &str) -> String {
    let name: String = name.chars().take(64).collect();
    format!("query:{name}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_decoded_and_taken_by_name() {
        let mut query =
            Query::parse("label=team=media&name=a%20b+c&state=ready&state=queued").unwrap();
        assert_eq!(query.one("label").unwrap().as_deref(), Some("team=media"));
        assert_eq!(query.one("name").unwrap().as_deref(), Some("a b c"));
        assert_eq!(query.all("state"), ["ready", "queued"]);
        assert_eq!(query.one("cursor").unwrap(), None);
        query.finish().unwrap();
    }

    #[test]
    fn what_nobody_took_is_refused_by_name() {
        let error = Query::parse("statee=ready&x").unwrap().finish().unwrap_err();
        let pointers: Vec<_> = error.errors().iter().map(|e| e.pointer.as_str()).collect();
        assert_eq!(pointers, ["query:statee", "query:x"]);
    }

    #[test]
    fn nul_bytes_and_floods_are_refused() {
        assert_eq!(Query::parse("name=a%00b").unwrap_err().errors()[0].pointer, "query:name");
        assert!(Query::parse(&"a=1&".repeat(10_000)).is_err());
    }
}
