//! The customer's commands: each is one call of the API, or one for each page; and what they need to know of servers.

mod apply;
mod attempts;
mod audit;
mod cancel;
mod cap;
mod change;
mod complete;
mod concurrency;
mod connection;
mod cost;
mod decide;
mod ended;
mod env_file;
mod events;
mod explain;
mod failure;
mod follow;
mod get;
mod input;
mod invoice;
mod keys;
mod lever;
mod limits;
mod list;
mod log_reader;
mod login;
mod logs;
mod moment;
mod overview;
mod pages;
mod profile;
mod quote;
mod rerun;
mod result;
pub mod schedule;
mod script;
mod secret_line;
mod sentences;
mod set;
mod sign_in;
mod sign_up;
mod signal;
mod size;
mod submit;
mod submit_file;
mod task_arguments;
mod usage;
mod users;
mod warned;
mod watch;
pub mod webhook;
mod who_am_i;
pub mod workflow;

pub(crate) use workflow::json_file;

pub use apply::{ApplyArguments, ExportArguments, apply, export};
pub use attempts::{AttemptsArguments, run as attempts};
pub use audit::{AuditArguments, run as audit};
pub use cancel::{CancelArguments, run as cancel};
pub use cap::{
    CapArguments, CapSetArguments, delete as cap_delete, list as cap_list, set as cap_set,
    show as cap_show,
};
pub use change::{ChangeArguments, run as change};
pub use complete::{CompleteArguments, run as complete};
pub use concurrency::{
    ConcurrencyListArguments, ConcurrencySetArguments, KeyArguments as ConcurrencyKeyArguments,
    delete as concurrency_delete, list as concurrency_list, set as concurrency_set,
    show as concurrency_show,
};
pub(crate) use connection::secret;
pub use connection::{Connection, ConnectionArguments};
pub use cost::{CostArguments, run as cost};
pub use decide::{ApproveArguments, RejectArguments, approve, reject};
pub use events::{EventsArguments, run as events};
pub use explain::{ExplainArguments, run as explain};
pub(crate) use failure::{failure, operator_failure};
pub use get::{GetArguments, run as get};
pub use invoice::{
    InvoiceArguments, InvoiceDownloadArguments, download as invoice_download, get as invoice_get,
    list as invoice_list,
};
pub(crate) use invoice::{details as invoice_details, table as invoice_table};
pub use keys::{
    COLUMNS as KEY_COLUMNS, KeysCreateArguments, KeysRevokeArguments, KeysRotateArguments,
    create as keys_create, list as keys_list, revoke as keys_revoke, rotate as keys_rotate,
};
pub(crate) use keys::{row as key_row, show as show_key};
pub use lever::{
    MarkSucceededArguments, RetryArguments, RunNowArguments, mark_succeeded, retry, run_now,
};
pub use limits::run as limits;
pub use list::{ListArguments, run as list};
pub use login::{LoginArguments, run as login};
pub use logs::{LogsArguments, run as logs};
pub use overview::run as overview;
pub(crate) use profile::{Kept, Profile};
pub use profile::{ProfileUseArguments, list as profile_list, use_it as profile_use};
pub use quote::{
    QuoteScheduleArguments, QuoteTaskArguments, QuoteWorkflowArguments, schedule as quote_schedule,
    task as quote_task, workflow as quote_workflow,
};
pub use rerun::{RerunArguments, run as rerun};
pub use result::{ResultArguments, run as result};
pub(crate) use secret_line::ask as ask_secret;
pub use sign_in::{AcceptArguments, SignInArguments, accept, sign_in};
pub use sign_up::{SignUpArguments, run as sign_up};
pub use signal::{SignalArguments, run as signal};
pub use submit::{SubmitArguments, run as submit};
pub use usage::{UsageArguments, run as usage};
pub(crate) use users::{
    COLUMNS as USER_COLUMNS, row as user_row, show as show_user, show_removed as show_removed_user,
    show_stored as show_stored_user,
};
pub use users::{
    UsersInviteArguments, UsersPutArguments, UsersRemoveArguments, UsersRoleArguments,
    invite as users_invite, list as users_list, put as users_put, remove as users_remove,
    role as users_role,
};
pub use watch::{WatchArguments, run as watch};
pub use who_am_i::run as who_am_i;
