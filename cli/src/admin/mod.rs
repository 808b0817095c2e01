//! The operator's commands: each is one call of the API with an operator key, or a few.
//!
//! Three speak to Postgres themselves: `berth migrate`; `operator-key create --first`, before there is a key to ask the API with; and
//! `audit verify`, which takes nobody's word.

mod audit_verify;
mod costs;
mod credit;
mod executor_list;
mod invoice;
mod key_create;
mod key_list;
mod key_revoke;
mod key_rotate;
mod login;
mod migrate;
mod operator;
mod operator_key_create;
mod operator_key_list;
mod operator_key_revoke;
mod operator_key_rotate;
mod plan;
mod plan_billing;
mod plan_limits;
mod pool;
mod pool_flow;
mod price_book;
mod price_dry_run;
mod resume_after_restore;
mod tenant_create;
mod tenant_put;
mod tenant_show;
mod tenant_stand;
mod usage_events;
mod user_create;
mod user_put;
mod user_remove;
mod who_am_i;

pub(crate) use local::database;

pub use audit_verify::{AuditVerifyArguments, run as audit_verify};
pub use costs::{CostsArguments, run as costs};
pub use credit::{CreditCreateArguments, create as credit_create, list as credit_list};
pub use executor_list::{ExecutorListArguments, run as executor_list};
pub use invoice::{
    BillingSetArguments, InvoiceMoveArguments, billing, list as invoice_list, set_billing,
    settle as invoice_settle,
};
pub use key_create::{KeyCreateArguments, run as key_create};
pub use key_list::{KeyListArguments, run as key_list};
pub use key_revoke::{KeyRevokeArguments, run as key_revoke};
pub use key_rotate::{KeyRotateArguments, run as key_rotate};
pub use login::{LoginArguments, run as login};
pub use migrate::{MigrateArguments, run as migrate};
pub use operator_key_create::{OperatorKeyCreateArguments, run as operator_key_create};
pub use operator_key_list::run as operator_key_list;
pub use operator_key_revoke::{OperatorKeyRevokeArguments, run as operator_key_revoke};
pub use operator_key_rotate::{OperatorKeyRotateArguments, run as operator_key_rotate};
pub use plan::{
    PlanDeleteArguments, PlanSetArguments, create as plan_create, delete as plan_delete,
    list as plan_list, set as plan_set,
};
pub use pool::{
    PoolArguments, PoolPauseArguments, PoolSetArguments, delete as pool_delete, list as pool_list,
    pause as pool_pause, resume as pool_resume, set as pool_set,
};
pub use pool_flow::run as pool_flow;
pub use price_book::{
    PriceBookArguments, PriceBookPutArguments, delete as price_book_delete, get as price_book_get,
    list as price_book_list, put as price_book_put,
};
pub use price_dry_run::{PriceBookDryRunArguments, run as price_book_dry_run};
pub use resume_after_restore::{ResumeAfterRestoreArguments, run as resume_after_restore};
pub use tenant_create::{TenantCreateArguments, run as tenant_create};
pub use tenant_put::{TenantPutArguments, run as tenant_put};
pub use tenant_show::{
    TenantArguments, TenantListArguments, list as tenant_list, show as tenant_show,
};
pub use tenant_stand::{
    Standing, TenantDeleteArguments, TenantSetPlanArguments, delete as tenant_delete,
    set_plan as tenant_set_plan, stand as tenant_stand,
};
pub use usage_events::{UsageEventsArguments, run as usage_events};
pub use user_create::{
    UserCreateArguments, UserListArguments, list as user_list, run as user_create,
};
pub use user_put::{UserPutArguments, run as user_put};
pub use user_remove::{UserRemoveArguments, run as user_remove};
pub use who_am_i::run as who_am_i;
