//! Who may see a page.

use domain::access::{OperatorScope, Permission};

/// Who may see a page. The API checks again at each call that the page makes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Needs {
    /// Anybody.
    Nothing,
    /// Whoever is signed in.
    SignedIn,
    /// Somebody of a tenant.
    Tenant,
    /// Somebody who may do this in a tenant.
    May(Permission),
    /// An operator with this scope.
    Operator(OperatorScope),
}
