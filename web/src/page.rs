//! What a page is: method, path, who may see it, who makes it.

use crate::fault::Fault;
pub use crate::needs::Needs;
use crate::visit::Visit;
use actix_web::HttpResponse;
use futures::future::LocalBoxFuture;
use std::fmt;

/// Methods of pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verb {
    /// Shows.
    Get,
    /// Takes a form.
    Post,
}

impl Verb {
    /// Its name in HTTP.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Post => "POST",
        }
    }
}

/// Makes a page.
pub(crate) type Handler = fn(Visit) -> LocalBoxFuture<'static, Result<HttpResponse, Fault>>;

/// One page.
pub struct Page {
    /// HTTP method.
    pub method: Verb,
    /// Path, with `{id}` for a part that varies.
    pub path: &'static str,
    /// Who may see it.
    pub needs: Needs,
    pub(crate) handler: Handler,
}

impl fmt::Debug for Page {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.method.as_str(), self.path)
    }
}
