//! Times as fields of wire types.

/// A time in UTC, RFC 3339 in JSON. The derive of schemas knows a time by this name.
pub type DateTime = domain::time::Timestamp;
