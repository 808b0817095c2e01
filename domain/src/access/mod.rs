//! Who may do what: permissions, and the two ways to hold them.
//!
//! Each route names one [`Permission`]. An API key holds those of its [`Scope`]s, a user those of its [`Role`]; both tables
//! are in this folder and nowhere else. The rule on which the rest stands: nobody gives what they do not hold.

mod operator;
mod permission;
mod role;
mod scope;

pub use operator::{OperatorScope, ParseOperatorScopeError};
pub use permission::{Permission, PermissionSet};
pub use role::{ParseRoleError, Role};
pub use scope::{ParseScopeError, Scope, ScopeSet};
