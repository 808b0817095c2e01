//! What every resource has besides its own attributes: `timeouts`.

use super::Problem;
use crate::schema::{Attribute, Given, Kind};
use crate::value::Value;
use domain::time::parse_duration;
use std::time::Duration;

/// The attribute `timeouts`.
#[must_use]
pub fn timeouts() -> Attribute {
    let limit = |name, text| Attribute::duration(name, Given::Optional, text);
    let limits = vec![
        limit("create", "Of its creation."),
        limit("read", "Of reading it."),
        limit("update", "Of a change."),
        limit("delete", "Of its deletion."),
    ];
    Attribute::new(
        "timeouts",
        Kind::Object(limits),
        Given::Optional,
        "How long each may take, with repeats of what did not get through. Default: about six minutes.",
    )
    .local()
}

/// Ends what takes longer than `timeouts` of the resource says.
///
/// # Errors
/// That of `work`, or that it took too long.
pub async fn within<T>(
    resource: &Value,
    what: &str,
    work: impl Future<Output = Result<T, Problem>>,
) -> Result<T, Problem> {
    // Of one try, five tries and the waits between them; longer than the client takes.
    const USUAL: Duration = Duration::from_secs(360);
    let limit = resource.get("timeouts").get(what).text();
    let limit = limit.and_then(|text| parse_duration(text).ok()).unwrap_or(USUAL);
    tokio::time::timeout(limit, work).await.unwrap_or_else(|_| {
        Err(Problem::Said {
            path: None,
            summary: format!("No answer within {}", domain::time::format_duration(limit)),
            detail: format!(
                "`timeouts` limits `{what}`. The server may have done it: the next plan shows what is."
            ),
        })
    })
}
