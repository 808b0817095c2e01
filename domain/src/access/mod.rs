//! Permissions, and the scopes and roles that grant them.
//!
//! Each route names one [`Permission`]. An API key has those of its [`Scope`]s, a user those of its [`Role`]; both
//! tables are in this folder only. The rule: only permissions that the caller holds can be granted.

mod operator;
mod permission;
mod role;
mod scope;

pub use operator::{OperatorScope, ParseOperatorScopeError};
pub use permission::{Permission, PermissionSet};
pub use role::{ParseRoleError, Role};
pub use scope::{ParseScopeError, Scope, ScopeSet};
