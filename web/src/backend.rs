//! The API as the dashboard sees it: routes that are called in this process.
//!
//! Implemented by `api`, which answers each call by the very endpoint of its table of routes: with the same authentication,
//! permissions, limits and audit as if it had come over HTTP. The dashboard has no other way to data.

use actix_web::HttpRequest;
use actix_web::web::Bytes;
use api_types::Problem;
use domain::access::{OperatorScope, PermissionSet};
use domain::id::TenantId;
use futures::future::LocalBoxFuture;
use std::fmt;

/// HTTP methods of the API.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// Reads.
    Get,
    /// Writes.
    Post,
    /// Stores under a name.
    Put,
    /// Changes parts.
    Patch,
    /// Ends a thing.
    Delete,
}

/// A call of a route.
#[derive(Debug)]
pub struct Call<'a> {
    /// Its method.
    pub method: Method,
    /// Path and query, percent-encoded.
    pub target: String,
    /// The JSON body, if any.
    pub body: Option<Vec<u8>>,
    /// Further headers.
    pub headers: Vec<(&'static str, String)>,
    /// The caller's API key or access token.
    pub credential: Option<&'a str>,
    /// The request of the browser on whose behalf it is: where the call comes from.
    pub from: &'a HttpRequest,
}

/// What the API answered.
#[derive(Debug)]
pub struct Reply {
    /// HTTP status.
    pub status: u16,
    /// Version of the object.
    pub etag: Option<String>,
    /// Its media type.
    pub content_type: String,
    /// The body, whole.
    pub body: Bytes,
}

/// Whom a credential belongs to, and what it may do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Who {
    /// Somebody of a tenant.
    Tenant(TenantId, PermissionSet),
    /// An operator of the installation.
    Operator(Vec<OperatorScope>),
}

/// Kind of a credential.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// An API key or access token of a tenant.
    Tenant,
    /// An operator key.
    Operator,
}

/// The API.
pub trait Backend: Send + Sync {
    /// Calls a route. A problem is a reply, too.
    fn call<'a>(&'a self, call: Call<'a>) -> LocalBoxFuture<'a, Reply>;

    /// Whom `credential` belongs to, from the cache of credentials; it costs no statement where the credential was used just now.
    fn admit<'a>(
        &'a self,
        kind: Kind,
        credential: &'a str,
        from: &'a HttpRequest,
    ) -> LocalBoxFuture<'a, Result<Who, Box<Problem>>>;

    /// Whether the browser reached the installation by TLS: at this socket, or at a proxy before it.
    fn is_secure(&self, from: &HttpRequest) -> bool;
}

impl fmt::Debug for dyn Backend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Backend")
    }
}
