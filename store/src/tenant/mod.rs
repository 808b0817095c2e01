//! Tenants: the customers.

mod change;
mod count;
mod create;
mod find;
mod holding;
pub(crate) mod keys;
mod name;
mod purge;
mod put;
mod stand;
mod terms;
mod watch;

pub use change::{Changed, TenantChange, change};
pub use count::{Count, Holding, count_slice};
pub use create::{Created, NewTenant, create};
pub use find::{TenantRecord, find_by_name, get, list};
pub use holding::holding;
pub use name::{name, plan_name};
pub use purge::{DeletedTenant, LAST_PART, deleted, purge};
pub use put::{PutTenant, TenantStored, WhichTenant, put};
pub(crate) use stand::state_of;
pub use stand::{Stood, delete, resume, suspend};
pub use terms::{TenantTerms, terms};
pub use watch::{NearlyUsed, Watched, tell_nearly_used, watched};

use crate::StoreError;

/// A row that another one names, or was to name, is not as it must be.
pub(crate) fn is_foreign_key(error: &StoreError) -> bool {
    error.sqlstate().as_deref() == Some("23503")
}
