//! Ids that are texts: a client sends back what it was given and reads nothing from it.

use domain::text_id;

text_id!(
    /// Id of an API key or an operator key: its third part, 12 of `a-z2-7`. Not secret.
    KeyId
);
text_id!(
    /// Id of a request, as in `X-Request-Id`. Not secret.
    RequestId
);
text_id!(
    /// Id of what an audited action was done to: an id or a name, by its kind.
    TargetId
);
text_id!(
    /// Where a page of a list ended. Valid for the same list and filters.
    Cursor
);
text_id!(
    /// A session of an executor as logs show it. Not its id, which could be used to take it over.
    SessionLabel
);

impl From<domain::id::RequestId> for RequestId {
    fn from(id: domain::id::RequestId) -> Self {
        id.to_string().into()
    }
}
